"""Behaviour cloning: oracles are recorded on KAlgebra, a small network learns from them, new seeds judge it.

pip install 'sci-gym[rl]' && python examples/behaviour_cloning.py [EPISODES TRIALS]
"""

import contextlib
import re
import sys
from pathlib import Path

import gymnasium as gym
import matplotlib.pyplot as plt
import torch
from rich.progress import track

from sci_gym.data import DataSet
from sci_gym.data.collect import collect
from sci_gym.loader import load_app
from sci_gym.oracle import TargetNotFoundError, resolve
from sci_gym.specs import POINT_KINDS, Action, OracleStep

episodes, trials = map(int, sys.argv[1:] or (30, 12))
folder, kalgebra = Path("runs/behaviour_cloning"), load_app("kalgebra")
tasks = ["graph-settings", "hide-plot", "remove-plot"]
desktop = {"resolution": (1280, 800), "observation": "a11y"}


def words_of(instruction, tree, before):
    """What the policy knows: the instruction, what is on screen, what it did last."""
    shown = {f"{one.role} {one.name} {one.states}" for one in tree}
    return {*re.findall(r"\w+", instruction), *shown, f"after {before}"}


def label_of(action, tree):
    """An action without its place: what is clicked has a role and a name."""
    if action.kind not in POINT_KINDS:
        return OracleStep(action)
    *_, node = (one for one in tree if one.box and one.box.center == (action.x, action.y))
    return OracleStep(Action(action.kind), node.role, node.name)


def success_rate(title):
    """Let the network play seeds that it has not learned from, at each step the best label that is there."""
    solved = 0
    for trial in track(range(trials), title):
        _, info = env.reset(seed=trial, options={"task": tasks[trial % len(tasks)]})
        terminated = truncated = label = None
        while not (terminated or truncated):
            tree = env.unwrapped.last.showing
            for place in net(encode(words_of(info["instruction"], tree, label))).argsort(descending=True):
                label = labels[place]
                with contextlib.suppress(TargetNotFoundError):
                    *_, terminated, truncated, info = env.step(resolve(label, tree))
                    break
        solved += info["success"]
    return solved / trials


made = collect(kalgebra, tasks, folder, episodes=episodes, seed=1000, **desktop)
seen, done, _ = [], [], list(track(made, "recording oracles", episodes))
for episode in DataSet(folder).choose(tasks=tasks, results=["success"]):
    for number, (shown, step) in enumerate(episode.transitions()):
        tree = episode.tree(shown)
        seen.append(words_of(episode.meta.instruction, tree, done[-1] if number else None))
        done.append(label_of(step.action, tree))
words, labels = sorted(set().union(*seen)), sorted(set(done), key=str)
encode = lambda known: torch.tensor([float(word in known) for word in words])  # noqa: E731
inputs, wanted = torch.stack([encode(one) for one in seen]), torch.tensor([labels.index(one) for one in done])
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(len(words), 64), torch.nn.ReLU(), torch.nn.Linear(64, len(labels)))
optimizer, losses, env = torch.optim.Adam(net.parameters(), 3e-3), [], gym.make(kalgebra.env_id, **desktop)
rates = [success_rate("untrained, held-out seeds")]
for _ in track(range(300), "learning"):
    loss = torch.nn.functional.cross_entropy(net(inputs), wanted)
    optimizer.zero_grad(), loss.backward(), optimizer.step(), losses.append(loss.item())
rates.append(success_rate("trained, held-out seeds")), env.close()
told = "success on held-out seeds: {:.2f} before, {:.2f} after".format(*rates)
plt.semilogy(losses), plt.title(told), plt.xlabel("updates"), plt.savefig(folder / "curve.png")
print(f"{told}; {folder / 'curve.png'}")
