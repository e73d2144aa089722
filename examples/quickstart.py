"""One episode by hand: a real KAlgebra, a task drawn from a seed, actions, rewards.

python examples/quickstart.py
"""

import gymnasium as gym

import sci_gym
from sci_gym import Action

env = gym.make("SciBoard-KAlgebra-v0", task="kinetic-energy", reward="graph")
observation, info = env.reset(seed=7)
print(info["instruction"])
print("screenshot", observation["screenshot"].shape, observation["screenshot"].dtype)
print("on screen:", *[node.name for node in info["nodes"] if node.role == "page tab"])

# What a policy would find out from the instruction; the parameters are in the task.
task = env.unwrapped.task
actions = [step.action for step in task.oracle if step.action.text]
for action in [*actions, Action.done()]:
    observation, reward, terminated, truncated, info = env.step(action)
    print(f"{action.kind:6} {action.text!r:34} reward {reward:+.2f}  coverage {info['coverage_rate']:.2f}")

print("success:", info["success"], "| sci_gym", sci_gym.__version__)
env.close()
