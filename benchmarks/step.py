"""How long is a step: click, settle, screenshot and whole accessibility tree, on KAlgebra at 1920x1080?

Beside it: the same click and tree as OSWorld's and ScienceBoard's servers do them, one process per action
that clicks and then walks the tree with pyatspi, one call after the other (no screenshot, no settling: in the
peer's favour). And the screenshot alone.

    python benchmarks/step.py [--times N] [--json]
"""

from __future__ import annotations

import gymnasium as gym
from harness import arguments, report, row, timed

import sci_gym
from sci_gym_protos import vm_agent_pb2 as pb

PLAIN = r"""
import sys
import pyatspi

def walk(node):
    count = 1
    for child in node:
        if child is None: continue
        node.getRoleName(), node.name, node.getState().getStates()
        try: node.queryComponent().getExtents(0)
        except NotImplementedError: pass
        try: node.queryText().getText(0, -1)
        except NotImplementedError: pass
        count += walk(child)
    return count

pyatspi.Registry.generateMouseEvent(int(sys.argv[1]), int(sys.argv[2]), "b1c")
print(sum(walk(application) for application in pyatspi.Registry.getDesktop(0)))
"""


def main() -> None:
    """Measure and print."""
    options = arguments("step timings", times=20)
    env = gym.make("SciBoard-KAlgebra-v0", disable_env_checker=True)
    try:
        env.reset(seed=0)
        client = env.unwrapped._coordinator._stage.client
        client.put_file("plain.py", PLAIN.encode())
        place = (900, 1030)
        plain = ["/usr/bin/python3", "/home/user/plain.py", *map(str, place)]
        # Warm both up, then take turns, so that the machine's moods fall on both.
        env.step(sci_gym.Action.click(*place))
        client.execute(plain)
        ours: list[float] = []
        peer: list[float] = []
        for _ in range(options.times):
            ours += timed(lambda: env.unwrapped._coordinator.act(sci_gym.Action.click(*place)), 1)
            peer += timed(lambda: client.execute(plain, timeout_s=120), 1)
        shot = timed(lambda: client.observe(pb.ObserveRequest(screenshot=True)), options.times)
        rows = [
            row(
                "step: click, settle, screenshot, tree",
                "ms",
                ours,
                {"process per action, pyatspi walk": peer},
            ),
            row("screenshot at the policy's side", "ms", shot, {}),
        ]
    finally:
        env.close()
    report(rows, options.json)


if __name__ == "__main__":
    main()
