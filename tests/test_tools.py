"""An environment as a model's tools: what they do and tell, and TRL's trainer that hands them out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.errors import ActionError
from sci_gym.wrappers import ToolEnv

ID = "SciBoard-KAlgebra-v0"
LOOK: dict[str, Any] = {"observation": "a11y", "resolution": (1280, 800), "disable_env_checker": True}
TEMPLATE = (
    "{% for one in messages %}{{ '<' + one.role + '> ' }}{{ (one.content or '') + ' ' }}"
    "{% for call in one.tool_calls or [] %}"
    "{{ '<call>' + call.function | tojson(separators=(',', ':')) + '</call> ' }}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<assistant> ' }}{% endif %}"
)
REPLIES = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<assistant>",
    "fields": {
        "tool_calls": {
            "open": "<call>",
            "close_pattern": "</call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"content": "text"},
    },
}


@pytest.fixture(scope="module")
def tools() -> Iterator[ToolEnv]:
    """KAlgebra's tools."""
    made = ToolEnv(gym.make(ID, **LOOK))
    yield made
    made.env.close()


def mark_of(told: str, name: str) -> int:
    """The tag of the first line that tells of a name."""
    lines = [line.split("\t") for line in told.splitlines()]
    return next(int(line[0]) for line in lines if line[0].isdigit() and line[2] == name)


def test_a_task_is_solved_by_tools_alone(tools: ToolEnv) -> None:
    told = tools.reset(task="graph-settings", seed=0, prompt="left alone")
    assert told.startswith(tools.env.unwrapped.task.instruction)  # type: ignore[attr-defined]
    level = tools.env.unwrapped.task.parameters["level"]  # type: ignore[attr-defined]
    told = tools.click(mark_of(told, "2D Graph"))
    for name in ("Grid", level):
        menu = [line for line in told.splitlines() if "\tmenu item\t2D Graph" in line]
        told = tools.click(int(menu[0].split("\t")[0]))
        told = tools.click(mark_of(told, name))
    assert tools.get_reward() == 1
    assert tools.done() == tools.click(1) == "The episode is over."
    assert tools.get_reward() == 1


def test_keys_and_text_reach_the_program(tools: ToolEnv) -> None:
    tools.reset(task="product-odd", seed=0)
    tools.type_text("1+2")
    tools.press_keys("ctrl+a")
    assert "\t42" in tools.type_text("6*7\n")


def test_what_cannot_be_is_told(tools: ToolEnv) -> None:
    tools.reset(task="product-odd", seed=0)
    with pytest.raises(ActionError, match="mark 500"):
        tools.click(500)
    with pytest.raises(ActionError, match="CODE"):
        tools.run_code("ls", "shell")


def test_a_fault_of_the_machine_is_no_reward(tools: ToolEnv) -> None:
    tools.reset(task="product-odd", seed=0)
    faulty = gym.Wrapper(tools.env)
    faulty.step = lambda action: ({}, 0.0, False, True, {"infra_error": {}, "marks": (), "output": ""})  # type: ignore[method-assign]
    tools.env, kept = faulty, tools.env
    try:
        assert tools.done() == "The episode is over."
        assert tools.get_reward() is None
    finally:
        tools.env = kept


def test_trl_trains_with_these_tools(tools: ToolEnv, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="needs the extra dpo")
    transformers, datasets = pytest.importorskip("transformers"), pytest.importorskip("datasets")
    called = [("click", {"mark": 1}), ("type_text", {"text": "3\n"}), ("click", {"mark": 500}), ("done", {})]
    calls = [
        f"<call>{json.dumps({'name': name, 'arguments': given}, separators=(',', ':'))}</call>"
        for name, given in called
    ]
    tokenizer = _word_tokenizer(["<user>", "<assistant>", "<tool>", *calls])
    ids = tokenizer.convert_tokens_to_ids(calls)
    size = {"n_layer": 1, "n_head": 2, "n_embd": 16, "n_positions": 4096}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=len(tokenizer), **size))
    others = [number for number in range(len(tokenizer)) if number not in ids]
    config = trl.GRPOConfig(
        str(tmp_path), max_steps=2, num_generations=2, per_device_train_batch_size=2, use_cpu=True,
        bf16=False, max_completion_length=3000, max_tool_calling_iterations=3, report_to=[],
        save_strategy="no", logging_steps=1,
        generation_kwargs={"eos_token_id": ids, "suppress_tokens": others},
    )  # fmt: skip
    rows = [
        {"prompt": [{"role": "user", "content": ""}], "task": "product-odd", "seed": seed} for seed in (0, 1)
    ]
    made: list[ToolEnv] = []

    def make() -> ToolEnv:
        made.append(ToolEnv(gym.make(ID, **LOOK)))
        return made[-1]

    trainer = trl.GRPOTrainer(
        model, args=config, train_dataset=datasets.Dataset.from_list(rows), processing_class=tokenizer,
        environment_factory=make,
    )  # fmt: skip
    trainer.train()
    for one in made:
        one.env.close()
    logged: list[dict[str, Any]] = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert len(logged) == 2
    assert all(entry["tools/call_frequency"] > 0 and 0 <= entry["reward"] <= 1 for entry in logged)


def _word_tokenizer(words: list[str]) -> Any:
    """Each word is a token; others are one."""
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    known = {word: place for place, word in enumerate(["<unk>", "<eos>", *words])}
    language = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, "<unk>"))
    language.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=language, unk_token="<unk>", eos_token="<eos>", pad_token="<eos>"
    )
    tokenizer.chat_template, tokenizer.response_template = TEMPLATE, REPLIES
    return tokenizer
