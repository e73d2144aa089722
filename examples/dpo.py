"""DPO on desktops: rollouts give pairs of a better and a worse action; a tiny transformer learns to prefer.

pip install 'sci-gym[dpo]' && python examples/dpo.py [SEEDS TRIALS]
"""

import copy
import re
import sys
from collections import Counter
from pathlib import Path

import gymnasium as gym
import matplotlib.pyplot as plt
import torch
from datasets import Dataset
from rich.progress import track
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer

from sci_gym.data import DIALECTS, DataSet, Recorder
from sci_gym.data.collect import collect
from sci_gym.data.exports import Pictures, Writer, find_pairs
from sci_gym.loader import load_app
from sci_gym.oracle import play
from sci_gym.specs import Action
from sci_gym.wrappers import PyAutoGuiText

seeds, trials = map(int, sys.argv[1:] or (10, 18))
folder, kalgebra = Path("runs/dpo"), load_app("kalgebra")
tasks = ["graph-settings", "hide-plot", "remove-plot"]
desktop = {"resolution": (1280, 800), "observation": "a11y"}
writer = Writer(DIALECTS["pyautogui"], Pictures(folder / "pairs"))


def prompt_of(instruction, done):
    """What the model knows: the instruction and what it has done so far."""
    return " ".join([*re.findall(r"\w+", instruction.lower()), "after", *done, ":"])


def line_of(words):
    """An action as one word of the model's language."""
    return words.replace(" ", "")


def done_before(choice):
    """What was done before a choice."""
    steps = choice.episode.steps[1 : choice.before.step + 1]
    return [line_of(writer.dialect.write(step.action, desktop["resolution"])) for step in steps]


def draw(instruction, done, greedy):
    """The model's next action: its most likely one, or one drawn."""
    inputs = tokenizer(prompt_of(instruction, done), return_tensors="pt")
    with torch.no_grad():
        scores = model(**inputs).logits[0, -1, ids]
    return lines[int(scores.argmax() if greedy else torch.multinomial(scores.softmax(0), 1))]


def success_rate(title):
    """Let the model play seeds that it has not learned from."""
    solved = 0
    for trial in track(range(trials), title):
        _, info = player.reset(seed=trial, options={"task": tasks[trial % len(tasks)]})
        done, over = [], False
        while not over:
            done.append(draw(info["instruction"], done, greedy=True))
            *_, terminated, truncated, info = player.step(done[-1])
            over = terminated or truncated
        solved += info["success"]
    return solved / trials


def wander(task, seed, place):
    """Follow the oracle to a step, let the model go on from there, and give up."""
    _, info = recorder.reset(seed=seed, options={"task": task})
    walk = play(recorder, recorder.unwrapped.task.oracle)
    done = [line_of(writer.dialect.write(next(walk)[0], desktop["resolution"])) for _ in range(place)]
    *_, terminated, _, info = player.step(draw(info["instruction"], done, greedy=False))
    if not terminated:
        recorder.step(Action.fail())


made = collect(kalgebra, tasks, folder, episodes=seeds * len(tasks), seed=1000, **desktop)
list(track(made, "recording oracles", seeds * len(tasks)))
oracles = list(DataSet(folder).choose(tasks=tasks, results=["success"]))
lines = sorted({line_of(words) for one in oracles for *_, words in writer.replies(one)})
texts = [prompt_of(one.meta.instruction, []) for one in oracles]
vocabulary = ["<unk>", "<eos>", *sorted({word for text in [*texts, *lines] for word in text.split()})]
language = Tokenizer(models.WordLevel({word: place for place, word in enumerate(vocabulary)}, "<unk>"))
language.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=language, unk_token="<unk>", eos_token="<eos>", pad_token="<eos>"
)
ids = torch.tensor([tokenizer.convert_tokens_to_ids(line) for line in lines])
torch.manual_seed(0)
size = {"n_layer": 2, "n_head": 4, "n_embd": 64, "n_positions": 128}
ends = {name: tokenizer.eos_token_id for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocabulary), **size, **ends)).eval()

recorder = Recorder(gym.make(kalgebra.env_id, **desktop), folder, {"policy": "wander"})
player = PyAutoGuiText(recorder.env)
rates = [success_rate("untrained, held-out seeds")]
player = PyAutoGuiText(recorder)
there = Counter(
    (one.meta.task, one.meta.seed) for one in DataSet(folder) if "wander" in one.meta.notes.values()
)
jobs = [
    (one.meta.task, one.meta.seed, place)
    for one in oracles
    for place in range(there[one.meta.task, one.meta.seed], len(one.steps) - 1)
]
for job in track(jobs, "rollouts"):
    wander(*job)
pairs = [
    {
        "prompt": prompt_of(better.episode.meta.instruction, done_before(better)) + " ",
        "chosen": line_of(better.words),
        "rejected": line_of(worse.words),
    }
    for better, worse in find_pairs(DataSet(folder).choose(tasks=tasks), writer)
]
print(f"{len(pairs)} pairs")
trainer = DPOTrainer(
    model,
    copy.deepcopy(model),
    args=DPOConfig(
        str(folder / "model"), num_train_epochs=25, learning_rate=2e-3, per_device_train_batch_size=16,
        loss_type=["sigmoid", "sft"], loss_weights=[1.0, 1.0],
        logging_steps=5, save_strategy="no", report_to=[], bf16=False,
        use_cpu=not torch.cuda.is_available(),
    ),
    train_dataset=Dataset.from_list(pairs),
    processing_class=tokenizer,
)  # fmt: skip
trainer.train()
model = trainer.model.cpu().eval()
player = PyAutoGuiText(recorder.env)
rates.append(success_rate("trained, held-out seeds"))
recorder.close()
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
told = "success on held-out seeds: {:.2f} before, {:.2f} after".format(*rates)
plt.plot(losses), plt.title(told), plt.xlabel("logged updates"), plt.ylabel("DPO loss")
plt.savefig(folder / "curve.png")
print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}; {told}; {folder / 'curve.png'}")
