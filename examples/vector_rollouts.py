"""Random policies on several desktops at once, through Gymnasium's own vectors.

python examples/vector_rollouts.py [--desktops 2] [--steps 20]
"""

import argparse

import gymnasium as gym
import numpy as np
from rich.progress import track

import sci_gym  # noqa: F401  (registers the environments)

parser = argparse.ArgumentParser()
parser.add_argument("--desktops", type=int, default=2)
parser.add_argument("--steps", type=int, default=20)
options = parser.parse_args()

envs = gym.make_vec(
    "SciBoard-KAlgebra-v0",
    num_envs=options.desktops,
    vectorization_mode="async",
    resolution=(1280, 800),
    observation="screenshot",
)
observations, infos = envs.reset(seed=0)
for instruction in infos["instruction"]:
    print(instruction)

envs.action_space.seed(0)
rewards = np.zeros(options.desktops)
for _ in track(range(options.steps), "random steps"):
    observations, reward, terminated, truncated, infos = envs.step(envs.action_space.sample())
    rewards += reward
print("rewards:", rewards, "screens:", observations["screenshot"].shape)
envs.close()
