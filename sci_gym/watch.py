"""Desktops that are worked on, live in a web browser, as many at a time as there are."""

from __future__ import annotations

import queue
from functools import partial
from typing import Any

import gymnasium as gym

from sci_gym.drawing import describe_action
from sci_gym.gallery import Gallery
from sci_gym.specs import Action
from sci_gym.templates import render
from sci_gym.web import LocalServer, Response, Route


class Wall:
    """A page with a place for each desktop; whoever on this machine has its URL can watch, and no more."""

    def __init__(self, title: str, places: int, pace_s: float = 0.0) -> None:
        """Start serving.

        Args:
            title: of the page.
            places: how many desktops there are at a time.
            pace_s: how long each step stays to be looked at.
        """
        self._title, self._places, self.pace_s = title, places, pace_s
        self.gallery = Gallery(places)
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for place in range(places):
            self._free.put(place)
        routes: dict[tuple[str, str], Route] = {
            ("GET", ""): self._page,
            ("GET", "events"): lambda _: self.gallery.events(),
        }
        for place in range(places):
            routes["GET", f"frame-{place}.png"] = partial(self._picture, place)
        self._server = LocalServer(routes)
        self.url = self._server.url

    def take(self) -> int:
        """A place that is free; there must be one."""
        return self._free.get_nowait()

    def give_back(self, place: int) -> None:
        """Let another desktop have a place."""
        self._free.put(place)

    def close(self) -> None:
        """Tell the pages, and stop serving."""
        self.gallery.close()
        self._server.close()

    def _page(self, _: bytes) -> Response:
        page = render("watch.html", title=self._title, places=self._places)
        return Response(200, "text/html; charset=utf-8", page.encode())

    def _picture(self, place: int, _: bytes) -> Response:
        return self.gallery.png(place)


class Watched(gym.Wrapper[Any, Any, Any, Any]):
    """A `SciEnv` that is seen on a wall; `reset(options={"check": WORDS})` says what it is reset for."""

    def __init__(self, env: gym.Env[Any, Any], wall: Wall) -> None:
        """Take a place on the wall, until it is closed."""
        super().__init__(env)
        self._wall = wall
        self._place = wall.take()
        shown: Any = env.unwrapped
        self._about: dict[str, Any] = {"place": self._place, "app": shown.app.title}
        self._steps = 0
        self._open = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset, and show the first frame."""
        check = (options or {}).get("check", "")
        self._about |= {"seed": seed, "check": check, "nodes": [], "coverage": 0.0}
        self._wall.gallery.show(None, {**self._about, "status": "a fresh desktop is made"}, self._place)
        observation, info = self.env.reset(seed=seed, options=options)
        self._steps = 0
        self._show(info, "ready")
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step, and show what came of it."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        words = describe_action(action) if isinstance(action, Action) else ""
        over = terminated or truncated
        end = f", {'success' if info['success'] else 'no success'}" if over else ""
        self._show(info, f"step {self._steps}: {words}{end}")
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Close the environment, and leave the place to another."""
        try:
            self.env.close()
        finally:
            if self._open:
                self._open = False
                self._wall.give_back(self._place)

    def _show(self, info: dict[str, Any], status: str) -> None:
        shown: Any = self.env.unwrapped
        self._about |= {
            "task": info["task"],
            "instruction": info["instruction"],
            "coverage": info["coverage_rate"],
            "nodes": [
                {"id": node.id, "goal": node.goal, "status": info["graph"][node.id]}
                for node in shown.task.graph.nodes
            ],
        }
        fault = info.get("infra_error")
        told = f"the machine failed: {fault['message']}" if fault else status
        self._wall.gallery.show(shown.last.screenshot, {**self._about, "status": told}, self._place)
        self._wall.gallery.dwell(self._wall.pace_s)
