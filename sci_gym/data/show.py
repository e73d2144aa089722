"""A data set in a web browser: its episodes to filter, each to play."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sci_gym.data.episodes import DataSet, Episode
from sci_gym.data.objects import ObjectStore, encode_png, unpack_frame
from sci_gym.data.recorder import OBJECTS
from sci_gym.errors import ConfigurationError
from sci_gym.replay import render_episode
from sci_gym.templates import render
from sci_gym.web import LocalServer, Response, Route

_HTML = "text/html; charset=utf-8"


class Show:
    """Serves a data set, as it grows, to whoever on this machine has the URL."""

    def __init__(self, data: DataSet) -> None:
        """Start serving."""
        self._server = LocalServer(_Pages(data))
        self.url = self._server.url

    def close(self) -> None:
        """Stop serving."""
        self._server.close()


class _Pages(Mapping[tuple[str, str], Route]):
    """Routes: "" lists, "episode/NAME" plays, "frame/NAME.png" is a screen."""

    def __init__(self, data: DataSet) -> None:
        self._data = data
        self._objects = ObjectStore(data.folder / OBJECTS)
        self._kinds: Mapping[str, Callable[[str], Response]] = {"episode": self._play, "frame": self._frame}

    def __getitem__(self, key: tuple[str, str]) -> Route:
        method, place = key
        kind, _, name = place.partition("/")
        if method != "GET" or (place and kind not in self._kinds):
            raise KeyError(key)
        return lambda _: self._answer(kind, name)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return (("GET", kind) for kind in ("", *self._kinds))

    def __len__(self) -> int:
        return 1 + len(self._kinds)

    def _answer(self, kind: str, name: str) -> Response:
        try:
            return self._kinds[kind](name) if kind else self._list()
        except ConfigurationError as error:
            return Response.text(404, str(error))

    def _list(self) -> Response:
        rows = [_row(episode) for episode in self._data]
        page = render("data.html", title=self._data.folder.name, folder=str(self._data.folder), rows=rows)
        return Response(200, _HTML, page.encode())

    def _play(self, name: str) -> Response:
        episode = next((one for one in self._data if one.name == name), None)
        if episode is None:
            raise ConfigurationError(f"{self._data.folder}: there is no episode {name!r}")
        page = render_episode(episode, lambda step: f"../frame/{step.frame}.png", back="../")
        return Response(200, _HTML, page.encode())

    def _frame(self, name: str) -> Response:
        frame = unpack_frame(self._objects.get(name.removesuffix(".png")))
        return Response(200, "image/png", encode_png(frame))


def _row(episode: Episode) -> dict[str, Any]:
    """What the list shows; an episode that cannot be read is told as such."""
    try:
        meta, last = episode.meta, episode.last
    except ConfigurationError as error:
        return {"name": episode.name, "result": "broken", "problem": str(error)}
    return {
        "name": episode.name,
        "result": episode.result,
        "task": meta.task,
        "app": meta.app,
        "difficulty": meta.difficulty,
        "policy": str(meta.notes.get("policy", "")),
        "instruction": meta.instruction,
        "seed": meta.seed,
        "coverage": last.coverage_rate,
        "reward": episode.total_reward,
        "steps": last.step,
        "seconds": last.time_s,
        "frame": last.frame,
    }
