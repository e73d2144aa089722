"""GRPO on forked desktops: a virtual machine is forked in mid-task, and a group of rollouts goes on from it.

sci-gym image build --app kalgebra        (once, some minutes; see the README for the packages that it needs)
pip install 'sci-gym[dpo]' && python examples/grpo_fork.py [GROUPS SIZE]

TRL's GRPOTrainer samples SIZE rollouts for each of GROUPS states. What its environment factory makes begins
with a fork of the state that the group shares, so that only what the model does makes rewards differ. The
model is a tiny transformer, whose every tool call is one word.
"""

import json
import sys
from pathlib import Path

import gymnasium as gym
import matplotlib.pyplot as plt
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

import sci_gym  # noqa: F401  (registers the environments)
from sci_gym.oracle import resolve
from sci_gym.wrappers import ToolEnv

groups, size = map(int, sys.argv[1:] or (12, 8))
folder = Path("runs/grpo_fork")
task = Path(__file__).parent / "first_clicks" / "resolution.toml"
origin = gym.make("SciBoard-KAlgebra-v0", task=str(task), machine="libvirt", observation="a11y")
CHAT = (
    '{% for one in messages %}<{{ one.role }}> {{ one.content or "" }} {% for call in one.tool_calls or [] %}'
    '<call>{{ call.function | tojson(separators=(",", ":")) }}</call> {% endfor %}{% endfor %}'
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)
CALL = {"open": "<call>", "close_pattern": "</call>", "repeats": True, "content": "json"}
FUNCTION = {"transform": {"type": "function", "function": "{content}"}}
REPLY = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<assistant>",
    "fields": {"tool_calls": {**CALL, **FUNCTION}, "content": {"content": "text"}},
}


def lead(seed):
    """Bring the origin to a state in mid-task, one, two or three clicks before its end."""
    seen, info = origin.reset(seed=seed)
    for step in origin.unwrapped.task.oracle[: seed % 3]:
        seen, *_, info = origin.step(resolve(step, origin.unwrapped.last.showing))
    return seen, info


class Branch(ToolEnv):
    """A rollout's environment: a fork of the state that its group shares."""

    def reset(self, **row):
        """Take the group's next fork; the first of a group makes them all."""
        if not forks:
            shared[:] = lead(row["seed"])
            forks.extend(origin.unwrapped.fork(size))
        if self.env is not origin:
            self.env.close()
        self.env = forks.pop()
        return self._begin(*shared)


def call_of(name, **given):
    """A tool call as one word."""
    return f"<call>{json.dumps({'name': name, 'arguments': given}, separators=(',', ':'))}</call>"


forks, shared, made = [], [], []
calls = [*(call_of("click", mark=mark) for mark in range(1, 31)), call_of("done")]
shown = [lead(seed) for seed in range(3)]
texts = " ".join(f"{info['instruction']} {seen['a11y']} Fine. Poor." for seen, info in shown)
vocabulary = ["<unk>", "<eos>", "<user>", "<assistant>", "<tool>", *calls, *sorted(set(texts.split()))]
language = Tokenizer(models.WordLevel({word: place for place, word in enumerate(vocabulary)}, "<unk>"))
language.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=language, unk_token="<unk>", eos_token="<eos>", pad_token="<eos>"
)
tokenizer.chat_template, tokenizer.response_template = CHAT, REPLY
ids = tokenizer.convert_tokens_to_ids(calls)
others = sorted({*range(len(vocabulary))} - {*ids})
torch.manual_seed(0)
shape = {"n_layer": 2, "n_head": 4, "n_embd": 64, "n_positions": 4096}
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocabulary), **shape))
trainer = GRPOTrainer(
    model,
    args=GRPOConfig(
        str(folder / "model"), max_steps=groups, num_generations=size, per_device_train_batch_size=size,
        learning_rate=2e-3, max_completion_length=3000, max_tool_calling_iterations=3, logging_steps=1,
        generation_kwargs={"eos_token_id": ids, "suppress_tokens": others},
        save_strategy="no", report_to=[], bf16=False, use_cpu=not torch.cuda.is_available(),
    ),
    train_dataset=Dataset.from_list(
        [{"prompt": [{"role": "user", "content": ""}], "seed": seed} for seed in range(groups)]
    ),
    processing_class=tokenizer,
    environment_factory=lambda: made.append(Branch(origin)) or made[-1],
)  # fmt: skip
trainer.train()
for env in [*(one.env for one in made), origin]:
    env.close()
rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
plt.plot(rewards, marker="o"), plt.xlabel("groups"), plt.ylabel("mean reward of a group")
plt.savefig(folder / "curve.png")
print(f"mean rewards of {len(rewards)} groups: {[round(one, 2) for one in rewards]}; {folder / 'curve.png'}")
