"""What is installed here, what each app and machine needs, and the command that gets it."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gymnasium as gym

from sci_gym.app import App
from sci_gym.errors import ConfigurationError, MissingDependencyError, SciGymError, install_command
from sci_gym.installation import BroughtApp
from sci_gym.loader import app_names, load_app
from sci_gym.machines import Machine, MachineSpec, SandboxMachine, load_machine, machine_names
from sci_gym.specs import Action

_PACKAGES = ("sci-gym", "gymnasium", "grpcio", "protobuf", "numpy")
_TRIAL_STEPS = 3
_UNPREPARED = "left out: the first of all boots a machine that is kept, which can take minutes"
_EXTRAS = {"rl": "stable-baselines3", "ray": "ray", "libvirt": "libvirt-python"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        subject: an app, a machine, or "python".
        what: a command, a package, a trial.
        ok: whether it is there and works.
        detail: its version or place, or what is wrong.
        fix: the command that gets it, "" when nothing is to be done.
        needed: whether sci_gym's default use needs it; what users bring is not.
        stats: of a trial episode, see `SciEnv.stats`.
    """

    subject: str
    what: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = True
    stats: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def examine(trial: bool = True) -> list[Finding]:
    """Look at everything.

    Args:
        trial: also start each machine whose parts are there and whose start is quick, play a few steps of an
            app on those that do not emulate, and time both.
    """
    findings = [_python(), *(_package(name, needed=True) for name in _PACKAGES)]
    findings += [_package(name, needed=False, extra=extra) for extra, name in _EXTRAS.items()]
    for name in machine_names():
        findings += _machine(name, trial)
    for name in app_names():
        findings += _app(load_app(name))
    return findings


def missing_packages(apps: Sequence[str] = ()) -> list[str]:
    """The Debian packages that the default machine and apps lack here: all apps, or those that are named."""
    packages = set(SandboxMachine.missing().values())
    for name in apps or app_names():
        packages |= {one.package for one in load_app(name).requirements if one.found is None and one.package}
    return sorted(packages)


def _python() -> Finding:
    return Finding("python", "interpreter", True, f"{platform.python_version()} at {sys.executable}")


def _package(name: str, *, needed: bool, extra: str = "") -> Finding:
    try:
        return Finding("python", name, True, version(name), needed=needed)
    except PackageNotFoundError:
        fix = f"pip install 'sci-gym[{extra}]'" if extra else f"pip install {name}"
        return Finding("python", name, False, "not installed", fix, needed)


def _machine(name: str, trial: bool) -> list[Finding]:
    machine = load_machine(name)
    needed = machine is SandboxMachine
    lacking = machine.missing()
    findings = [
        Finding(name, command, False, f"not found (package {package})", install_command([package]), needed)
        for command, package in lacking.items()
    ]
    if lacking or not trial:
        return findings or [Finding(name, "commands", True, "all found")]
    try:
        desktop = machine(MachineSpec(start_s=30))
        if not desktop.prepared():
            left_out = Finding(name, "trial start", True, _UNPREPARED, needed=needed)
            return [left_out, *_facts(name, desktop, needed)]
    except (ConfigurationError, MissingDependencyError) as error:
        return [Finding(name, "options", False, str(error), needed=needed)]
    return _trial(name, desktop, needed)


def _trial(name: str, desktop: Machine, needed: bool) -> list[Finding]:
    """A start, and an episode where that is quick."""
    start = time.perf_counter()
    try:
        desktop.start()
        took = f"a desktop in {time.perf_counter() - start:.2f} s"
        started = [Finding(name, "trial start", True, took, needed=needed), *_facts(name, desktop, needed)]
    except SciGymError as error:
        failed = Finding(name, "trial start", False, str(error), _namespace_fix(str(error)), needed)
        return [failed, *_facts(name, desktop, needed)]
    finally:
        desktop.stop()
    if desktop.slowness > 1:
        return started
    whole = [app for app in map(load_app, app_names()) if all(one.found for one in app.requirements)]
    return [*started, *(_episode(name, app, needed) for app in whole[:1])]


def _facts(name: str, desktop: Machine, needed: bool) -> list[Finding]:
    return [Finding(name, what, True, detail, needed=needed) for what, detail in desktop.facts().items()]


def _episode(machine: str, app: App, needed: bool) -> Finding:
    """A reset and a few steps that do nothing."""
    env = gym.make(app.env_id, machine=machine, disable_env_checker=True)
    fault = ""
    try:
        env.reset(seed=0)
        for _ in range(_TRIAL_STEPS):
            *_, info = env.step(Action.wait(0))
            if "infra_error" in info:
                fault = info["infra_error"]["message"]
                break
    except SciGymError as error:
        fault = str(error)
    finally:
        env.close()
    stats: dict[str, Any] = env.unwrapped.stats()  # type: ignore[attr-defined]
    return Finding(
        machine, "trial episode", not fault, fault or _describe(app, stats), needed=needed, stats=stats
    )


def _describe(app: App, stats: Mapping[str, Any]) -> str:
    phases, counters = stats["phases_ms"], stats["counters"]

    def median(*names: str) -> str:
        return ", ".join(f"{name} {phases[name]['median']:.0f}" for name in names)

    return (
        f"{app.title}: {median('reset')} ms ({median('machine', 'launch', 'ready', 'observe')}), "
        f"{median('step')} ms ({median('settle', 'capture', 'tree')}); {counters['reset_faults']} restarts, "
        f"{counters['relaunches']} relaunches, {counters['deadlines_met']} deadlines met"
    )


def _namespace_fix(message: str) -> str:
    """What to do when the kernel refuses user namespaces to ordinary users, as some distributions set it."""
    if "namespace" not in message and "uid map" not in message:
        return ""
    return (
        "sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 "
        "(as root; whichever of the two exists)"
    )


def _app(app: App) -> list[Finding]:
    findings = []
    for one in app.requirements:
        fix = "" if one.found else one.advice or install_command([one.package])
        detail = one.found or f"missing: {one.why}"
        if one.found and one.shown and isinstance(app, BroughtApp):
            detail = f"{app.version} at {one.shown}"
        needed = not one.advice
        findings.append(Finding(app.name, one.command, one.found is not None, detail, fix, needed))
    return findings


if __name__ == "__main__":
    sys.stdout.write(" ".join(missing_packages(sys.argv[1:])) + "\n")
