"""A policy that proves theorems with Lean, tactic by tactic, and reads the goals that are left.

python examples/prove_by_tactics.py
python examples/prove_by_tactics.py --task swap-sides --seed 3

It knows a few tactics and tries them in turn, as far as Lean accepts them. Easy theorems are in its reach;
of harder ones it proves a part, which Coverage Rate shows.
"""

import argparse

import gymnasium as gym

from sci_gym import Action

TACTICS = [
    "rfl",
    "assumption",
    "intro h",
    "subst h",
    "exact h₃ (h₂ (h₁ h))",
    "exact ⟨h.right, h.left⟩",
    "cases h with\n| inl h => exact Or.inr h\n| inr h => exact Or.inl h",
]

parser = argparse.ArgumentParser()
parser.add_argument("--task", default="substitute-number")
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

env = gym.make("SciBoard-Lean-v0", task=options.task)
observation, info = env.reset(seed=options.seed)
print(observation["instruction"], observation["text"], sep="\n\n")
kept = True
while kept and info["coverage_rate"] < 1:
    for tactic in TACTICS:
        observation, _, terminated, truncated, info = env.step(Action.code(tactic, "app"))
        kept = not info["output"].startswith("not kept")
        print(f"{tactic!r}: {info['output']}")
        if kept or truncated:
            break
    kept = kept and not truncated
if not truncated:
    observation, _, _, _, info = env.step(Action.done())
print(observation["text"], f"success: {info['success']}", sep="\n\n")
env.close()
