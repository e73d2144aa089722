"""PPO on the real KAlgebra, from scratch: which mark to click, which line to type, by what the words say.

pip install 'sci-gym[rl]' && python examples/ppo_marks.py [STEPS TRIALS]

A policy sees a small picture, and a row for each thing that it can do: click a mark on screen, type a line,
say DONE. One network scores all rows alike, so that what it learns of one mark holds for others. It is
trained twice, with the task graph's reward and with the sparse one, and judged by instructions that it has
never trained on. The tasks are in `first_clicks`.
"""

import re
import sys
import time
import zlib
from collections import Counter
from functools import partial
from pathlib import Path

import gymnasium as gym
import matplotlib.pyplot as plt
import numpy as np
import torch
from PIL import Image
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import SubprocVecEnv, VecMonitor
from torch import nn

from sci_gym.loader import load_app
from sci_gym.specs import State
from sci_gym.tasks import load_template
from sci_gym.wrappers import MarkActions

steps, trials = map(int, sys.argv[1:] or (20_000, 40))
folder, tasks, kalgebra = Path("runs/ppo_marks"), Path(__file__).parent / "first_clicks", load_app("kalgebra")
LINES = [*"23456789", *(f"ans+{n}" for n in range(2, 10)), "notes.kal", "work.kal", "sums.kal"]
MARKS, ROWS = 40, [*(("line", line) for line in LINES), ("stop", "DONE")]
BAG, FACTS, SMALL = 64, 12, (80, 60)
STATES = (State.CHECKED, State.SELECTED, State.FOCUSED)


def words_of(text):
    """A text as words of small letters, with + as a word."""
    return re.findall(r"\w+|\+", text.lower())


def bag_of(words):
    """Which words there are, hashed."""
    bag = np.zeros(BAG, np.float32)
    bag[[zlib.crc32(word.encode()) % BAG for word in words]] = 1
    return bag


class Rows(gym.Wrapper):
    """What a policy sees of each action; and tasks of which every fourth instruction is held out."""

    def __init__(self, env, held_out, graph):
        """Whether instructions are held-out ones, and whether success counts beside the reward."""
        super().__init__(env)
        self.held_out, self.graph = held_out, graph
        self.tasks = [load_template(path, kalgebra) for path in sorted(tasks.glob("*.toml"))]
        count = self.action_space.n
        self.observation_space = gym.spaces.Dict(
            picture=gym.spaces.Box(0, 255, (1, *SMALL[::-1]), np.uint8),
            rows=gym.spaces.Box(-np.inf, np.inf, (count, BAG + FACTS)),
            words=gym.spaces.Box(0, 1, (3 * BAG,)),
        )

    def reset(self, *, seed=None, options=None):
        """Draw tasks until one is of the right kind, and begin."""
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        template, held_out = self.rng.choice(self.tasks), None
        while held_out is not self.held_out:
            task = template.instantiate(self.rng)
            held_out = zlib.crc32(task.instruction.encode()) % 4 == 0
        seen, info = self.env.reset(seed=seed, options={"task": task})
        self.task, self.asked, self.done = template.id, words_of(task.instruction), []
        return self.look(seen, info), {}

    def step(self, number):
        """Act, remember what was acted at, and let success count beside the graph's reward."""
        self.done.append(self.rows[number][:2])
        seen, reward, terminated, truncated, info = self.env.step(number)
        reward += self.graph * info["success"]
        told = {"is_success": info["success"], "task": self.task}
        return self.look(seen, info), reward, terminated, truncated, told

    def look(self, seen, info):
        """The observation."""
        marks = [(mark.role, mark.name, mark) for mark in info["marks"][:MARKS]]
        self.rows = [*marks, *[("", "", None)] * (MARKS - len(marks)), *((*row, None) for row in ROWS)]
        picture = Image.fromarray(seen["screenshot"]).convert("L").resize(SMALL, Image.Resampling.BOX)
        return {
            "picture": np.asarray(picture)[None],
            "rows": np.array([self.row_of(*row) for row in self.rows], np.float32),
            "words": np.concatenate(
                [bag_of(self.asked), *map(bag_of, (self.said(self.done), self.said(self.done[-1:])))]
            ),
        }

    def said(self, done):
        """The words of what was acted at."""
        return [word for role, name in done for word in (role, *words_of(name))]

    def row_of(self, role, name, mark):
        """One action: its words, how they stand in the instruction, whether it was done, place and states."""
        words = words_of(name)
        common = [word for word in words if word in self.asked]
        done = {word for _, name in self.done for word in words_of(name)}
        facts = [
            bool(common) and len(common) == len(words),
            len(common) / 3,
            (self.asked.index(common[0]) + 1) / len(self.asked) if common else 0,
            len(set(common) - done) / 3,
            (role, name) in self.done,
            self.done[-1:] == [(role, name)],
            *((mark.box.center[0] / 800, mark.box.center[1] / 600) if mark else (0, 0)),
            *(mark is not None and mark.has(state) for state in STATES),
            len(done & set(self.asked)) / len(self.asked),
        ]
        return np.concatenate([bag_of([role, *words]), facts])


class Scores(BaseFeaturesExtractor):
    """A score for each row, by the same network, and what the value is told from."""

    def __init__(self, space, width=64):
        """For an observation space."""
        count, facts = space["rows"].shape
        super().__init__(space, count + 2 * width)
        self.look = nn.Sequential(
            nn.Conv2d(1, 8, 8, 4),
            nn.ReLU(),
            nn.Conv2d(8, 8, 4, 2),
            nn.ReLU(),
            nn.Flatten(),
            nn.LazyLinear(16),
        )
        self.look(torch.zeros(1, *space["picture"].shape))
        self.row = nn.Sequential(nn.Linear(facts, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.scene = nn.Sequential(nn.Linear(2 * width + 3 * BAG + 16, width), nn.ReLU())
        self.score = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, seen):
        """Scores `[batch, rows]` and the scene `[batch, 2 * width]`, side by side."""
        rows = self.row(seen["rows"])
        most = rows.amax(1)
        scene = self.scene(torch.cat([most, rows.mean(1), seen["words"], self.look(seen["picture"])], 1))
        each = torch.cat([rows, scene[:, None].expand(-1, rows.shape[1], -1)], 2)
        return torch.cat([self.score(each).squeeze(2), scene, most], 1)


class First(nn.Module):
    """The first so many numbers."""

    def __init__(self, count):
        """So many."""
        super().__init__()
        self.count = count

    def forward(self, features):
        """What stands in front."""
        return features[:, : self.count]


class Pointer(MaskableMultiInputActorCriticPolicy):
    """The scores are the logits of the actions."""

    def _build(self, lr_schedule):
        super()._build(lr_schedule)
        self.action_net = First(self.action_space.n)
        self.features_extractor.score[-1].weight.data.mul_(0.01)


class Judge(BaseCallback):
    """Plays held-out instructions before, during and after training."""

    def __init__(self, title, env, every):
        """Judge on an environment, each time that so many steps have passed."""
        super().__init__()
        self.title, self.env, self.every, self.curve = title, env, every, []

    def judge(self):
        """Note the share of held-out instructions that the policy solves, always taking its first choice."""
        played, solved = Counter(), Counter()

        def note(here, _):
            if here["done"]:
                played[here["info"]["task"]] += 1
                solved[here["info"]["task"]] += here["info"]["is_success"]

        evaluate_policy(self.model, self.env, trials, callback=note)
        self.curve.append((self.num_timesteps, solved.total() / played.total()))
        each = ", ".join(f"{task} {solved[task]}/{played[task]}" for task in sorted(played))
        told = f"{self.curve[-1][1]:.2f} of held-out instructions ({each})"
        print(f"{self.title}, {self.num_timesteps} steps: {told}", flush=True)

    def _on_training_start(self):
        self.judge()

    def _on_rollout_end(self):
        if self.num_timesteps - self.curve[-1][0] >= self.every:
            self.judge()

    def _on_training_end(self):
        self.judge()

    def _on_step(self):
        return True


def make(held_out, reward):
    """An environment, with one desktop ready beside it."""
    look = {"resolution": (800, 600), "observation": "screenshot", "spares": 1}
    env = gym.make(kalgebra.env_id, reward=reward, max_episode_steps=10, **look)
    return Rows(MarkActions(env, MARKS, [f"{line}\n" for line in LINES]), held_out, graph=reward == "graph")


def vector(held_out, reward, seed):
    """Two desktops, each stepped by a process of its own."""
    envs = VecMonitor(SubprocVecEnv([partial(make, held_out, reward)] * 2))
    envs.seed(seed)
    return envs


def learn(reward):
    """Train a policy from scratch; success on held-out instructions by steps."""
    envs, judge = vector(False, reward, 0), Judge(reward, vector(True, "sparse", 10_000), steps // 6)
    model = MaskablePPO(
        Pointer, envs, seed=0, n_steps=min(64, steps // 2), batch_size=64, n_epochs=10, learning_rate=1e-3,
        gamma=0.9, ent_coef=0.01, policy_kwargs={"net_arch": [], "features_extractor_class": Scores},
    )  # fmt: skip
    model.learn(steps, judge, progress_bar=True)
    model.save(folder / reward)
    envs.close(), judge.env.close()
    return judge.curve


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    for reward in ("graph", "sparse"):
        begun, curve = time.monotonic(), learn(reward)
        minutes = (time.monotonic() - begun) / 60
        rates = f"{curve[0][1]:.2f} before, {curve[-1][1]:.2f} after"
        told = f"{reward} reward: {rates} {steps} steps, {minutes:.0f} minutes"
        print(f"success on held-out instructions, {told}")
        plt.plot(*zip(*curve, strict=True), marker="o", label=told)
        plt.legend(loc="lower left", bbox_to_anchor=(0, 1)), plt.ylim(-0.02, 1.02)
        plt.xlabel("steps"), plt.ylabel("success on held-out instructions")
        plt.savefig(folder / "curve.png", bbox_inches="tight")
