"""Set-up verbs: requests that the program's hook reads, see `guest/hook.lua`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Literal

from sci_gym.app import Desktop
from sci_gym.envs.celestia.state import observed
from sci_gym.errors import ConfigurationError

REQUEST = ".celestia/request"


def time(desktop: Desktop, *, utc: str) -> None:
    """Set the simulation's time, such as "2026-08-12 17:30:00" (UTC)."""
    try:
        when = datetime.fromisoformat(utc)
    except ValueError as error:
        raise ConfigurationError(f"celestia.time: {utc!r} is no date and time ({error})") from error
    _request(desktop, "time", *when.timetuple()[:6])


def rate(desktop: Desktop, *, scale: float) -> None:
    """Let simulated time flow so many times as fast as real time."""
    _request(desktop, "rate", scale)


def paused(desktop: Desktop, *, yes: bool) -> None:
    """Stop the simulation's time, or let it flow."""
    _request(desktop, "paused", int(yes))


def select(desktop: Desktop, *, path: str) -> None:
    """Select an object, such as "Sol/Earth/Moon" or "Vega"."""
    _request(desktop, "select", path)


def go(
    desktop: Desktop, *, path: str, distance: float, longitude: float = 0.0, latitude: float = 0.0
) -> None:
    """Go to an object: kilometres from its middle, over a longitude and latitude in degrees."""
    _request(desktop, "go", path, distance, longitude, latitude)


def shown(desktop: Desktop, *, what: Literal["render", "label", "orbit"], flag: str, yes: bool) -> None:
    """Show something or not, by Celestia's own name for it, such as "constellations"."""
    _request(desktop, what, flag, int(yes))


def faintest(desktop: Desktop, *, magnitude: float) -> None:
    """Show stars down to a magnitude."""
    _request(desktop, "faintest", magnitude)


def watch(desktop: Desktop, *, kind: Literal["star", "body", "deep sky"], name: str) -> None:
    """Have the program tell of an object by name; of planets, moons and the like those of the Sun."""
    _request(desktop, "watch", kind, name)


def file(desktop: Desktop, *, path: str, text: str) -> None:
    """Write a text file below the guest's home."""
    desktop.put_file(path, text.encode())


def _request(desktop: Desktop, verb: str, *arguments: object) -> None:
    """Ask the hook for something, and wait until it is done.

    Raises:
        ConfigurationError: the program refuses; the message holds what it says.
    """
    number = observed(desktop.observe())["done"] + 1
    line = "\t".join([verb, *map(str, arguments)])
    if "\n" in line:
        raise ConfigurationError(f"celestia.{verb}: a line break in {line!r}")
    desktop.put_file(REQUEST, f"{number}\n{line}\nend\n".encode())
    seen = desktop.wait_for(f"Celestia: {verb} is done", lambda seen: observed(seen)["done"] == number)
    if refused := observed(seen)["refused"]:
        raise ConfigurationError(f"celestia.{verb}: {line!r}: {refused}")


VERBS: Mapping[str, Callable[..., None]] = {
    verb.__name__: verb for verb in (time, rate, paused, select, go, shown, faintest, watch, file)
}
"""By name, as task files call them after `celestia.`."""
