"""What models are trained on: chats, pairs of a better and a worse reply, rows of GUI actions.

A step teaches its action on the screen before it. Steps whose machine failed, and those that a dialect has no
words for, are left out. Pictures are PNG files beside the text, each once.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sci_gym.data.dialects import Dialect
from sci_gym.data.episodes import Episode, Step
from sci_gym.data.objects import encode_png
from sci_gym.observation import describe_tree

Line = dict[str, Any]
IMAGES = "images"
_DISCOUNT = 0.99


class Pictures:
    """The folder of pictures of an export; each distinct screen is written once."""

    def __init__(self, folder: Path) -> None:
        """Take the export's folder."""
        self._folder = folder
        self._written: set[str] = set()

    def of(self, episode: Episode, step: Step) -> str:
        """The path of a step's screen in the export, written if it is new."""
        name = f"{IMAGES}/{step.frame}.png"
        if name not in self._written:
            (self._folder / IMAGES).mkdir(parents=True, exist_ok=True)
            (self._folder / name).write_bytes(encode_png(episode.frame(step)))
            self._written.add(name)
        return name


@dataclass(frozen=True)
class Writer:
    """How steps become lines.

    Attributes:
        dialect: the words of actions.
        pictures: where screens go.
        with_tree: also show the accessibility tree, as text.
    """

    dialect: Dialect
    pictures: Pictures
    with_tree: bool = False

    def replies(self, episode: Episode) -> Iterator[tuple[Step, Step, str]]:
        """The step before, the step, and its action in words."""
        size = episode.meta.options["width"], episode.meta.options["height"]
        for before, step in episode.transitions():
            words = self.dialect.write(step.action, size) if step.action else None
            if words is not None:
                yield before, step, words

    def system(self, episode: Episode) -> Line:
        """The message that a chat begins with."""
        text = f"{self.dialect.system}\n\nTask: {episode.meta.instruction}"
        return {"role": "system", "content": [{"type": "text", "text": text}]}

    def user(self, episode: Episode, seen: Step) -> Line:
        """The message that shows a screen."""
        said = [f"Output:\n{seen.output}"] if seen.output else []
        if self.with_tree:
            tree = episode.tree(seen)
            said.append(f"Accessibility tree:\n{describe_tree(tree, episode.marks(seen, tree))}")
        text = "\n\n".join(said) or "The screen now."
        return {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": text}]}


def assistant(words: str) -> Line:
    """The message that is learned."""
    return {"role": "assistant", "content": [{"type": "text", "text": words}]}


def export_sft(episodes: Iterable[Episode], writer: Writer) -> Iterator[Line]:
    """A chat for each episode: `messages`, and `images` in the order of their places in them."""
    for episode in episodes:
        messages, images = [writer.system(episode)], []
        for before, _, words in writer.replies(episode):
            images.append(writer.pictures.of(episode, before))
            messages += [writer.user(episode, before), assistant(words)]
        if images:
            yield {"messages": messages, "images": images, **_about(episode)}


def export_actions(episodes: Iterable[Episode], writer: Writer) -> Iterator[Line]:
    """A row for each step, as GUI action models take them: screen, instruction, what was done, the action."""
    for episode in episodes:
        history: list[str] = []
        for before, step, words in writer.replies(episode):
            yield {
                "image": writer.pictures.of(episode, before),
                "system": writer.dialect.system,
                "instruction": episode.meta.instruction,
                "history": list(history),
                "action": words,
                "step": step.step,
                **_about(episode),
            }
            history.append(words)


@dataclass(frozen=True)
class Choice:
    """An action on a state.

    Attributes:
        value: success, and discounted Coverage Rate gained, of its episode from there on.
        words: the action.
        episode: where it was chosen.
        before: the step that the state is after.
    """

    value: tuple[bool, float]
    words: str
    episode: Episode
    before: Step


def find_pairs(episodes: Iterable[Episode], writer: Writer) -> Iterator[tuple[Choice, Choice]]:
    """A better and a worse action on the same state: task, parameters, subtasks, accessibility tree.

    Pixels do not count: programs draw blinking cursors, and plots in colours of their choice.

    An action's value is what its episode came to from there on: success first, then Coverage Rate gained,
    sooner being better. Of each action on a state its best value counts; the best is paired with each worse,
    unless one episode took both: what changes nothing that shows, such as copying, may still be needed.
    """
    states: dict[str, dict[str, Choice]] = defaultdict(dict)
    for episode in episodes:
        for before, step, words in writer.replies(episode):
            choices = states[_state(episode, before)]
            choice = Choice(_value(episode, step), words, episode, before)
            if words not in choices or choices[words].value < choice.value:
                choices[words] = choice
    for choices in states.values():
        best, *others = sorted(choices.values(), key=lambda choice: choice.value, reverse=True)
        yield from ((best, worse) for worse in others if worse.value < best.value and _apart(best, worse))


def export_dpo(episodes: Iterable[Episode], writer: Writer) -> Iterator[Line]:
    """Pairs as preference trainers take them, see `find_pairs`: `prompt`, `chosen`, `rejected`, `images`."""
    for best, worse in find_pairs(episodes, writer):
        episode, seen = best.episode, best.before
        yield {
            "prompt": [writer.system(episode), writer.user(episode, seen)],
            "chosen": [assistant(best.words)],
            "rejected": [assistant(worse.words)],
            "images": [writer.pictures.of(episode, seen)],
            "chosen_value": list(best.value),
            "rejected_value": list(worse.value),
            "rejected_episode": worse.episode.name,
            **_about(episode),
        }


def _state(episode: Episode, step: Step) -> str:
    meta = episode.meta
    key = (meta.task, meta.instruction, meta.parameters, step.tree, step.graph)
    return json.dumps(key, sort_keys=True)


def _value(episode: Episode, step: Step) -> tuple[bool, float]:
    rest = (one for one in episode.steps[step.step :] if not one.infra_error)
    gained = [one.coverage_rate - episode.steps[one.step - 1].coverage_rate for one in rest]
    return episode.result == "success", round(sum(_DISCOUNT**at * gain for at, gain in enumerate(gained)), 6)


def _apart(one: Choice, other: Choice) -> bool:
    """Whether neither episode took the other's action as well; forks share their first steps."""
    return not any(
        place < min(len(one.episode.steps), len(other.episode.steps))
        and one.episode.steps[place] == other.episode.steps[place]
        for place in (one.before.step + 1, other.before.step + 1)
    )


def _about(episode: Episode) -> Line:
    return {"task": episode.meta.task, "seed": episode.meta.seed, "episode": episode.name}


Export = Callable[[Iterable[Episode], Writer], Iterator[Line]]
EXPORTS: Mapping[str, Export] = {"sft": export_sft, "dpo": export_dpo, "actions": export_actions}
"""Kinds of text exports by name."""


def write_lines(lines: Iterable[Line], path: Path) -> int:
    """Write lines of JSON; returns how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        return sum(bool(file.write(json.dumps(line, ensure_ascii=False) + "\n")) for line in lines)
