"""How long is a reset: a fresh desktop with KAlgebra ready, and the first observation?

Beside it: the program's own start, from its launch on a desktop that stands until its input line can be used,
which no reset that starts the program can beat. ScienceBoard's reset sleeps at least 20 s, Windows Agent
Arena's 75 s, OSWorld's 60 s (their sources).

    python benchmarks/reset.py [--times N] [--json]
"""

from __future__ import annotations

import gymnasium as gym
from harness import arguments, report, row, timed

import sci_gym  # noqa: F401  (registers the environments)


def main() -> None:
    """Measure and print."""
    options = arguments("reset timings", times=10)
    env = gym.make("SciBoard-KAlgebra-v0", disable_env_checker=True)
    ours, machine, program = [], [], []
    try:
        env.reset(seed=0)
        for _ in range(options.times):
            ours += timed(lambda: env.reset(seed=0), 1)
            phases = env.unwrapped.stats()["phases_ms"]
            machine.append(phases["machine"]["last"])
            program.append(phases["launch"]["last"] + phases["ready"]["last"])
        rows = [
            row("reset", "ms", ours, {"the program's own start": program}),
            row("a fresh desktop (X server, buses, window manager, daemon)", "ms", machine, {}),
        ]
    finally:
        env.close()
    report(rows, options.json)


if __name__ == "__main__":
    main()
