"""Environments whose desktops run on the nodes of a Ray cluster (`pip install 'sci-gym[ray]'`).

A slot of `SciVectorEnv` is then a `ClusterEnv`: it holds no desktop itself, but an actor, a process that Ray
places on a node with enough free cores and memory, and that ends with this process. All nodes need sci_gym
and the programs, at the same versions and paths.
"""

from __future__ import annotations

import contextlib
import copy
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from sci_gym.errors import (
    ConfigurationError,
    DeadlineError,
    DisconnectedError,
    InfrastructureError,
    LaunchError,
    MissingDependencyError,
)

AUTO = "auto"
_LIFE = "life"
_connecting = threading.Lock()
MakeEnv = Callable[[], gym.Env[Any, Any]]
Step = tuple[Any, float, bool, bool, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Which Ray cluster to use, and what each desktop takes of it.

    Attributes:
        address: "HOST:PORT" of the head node; "auto": the cluster that this process is connected to, else the
            one of the variable RAY_ADDRESS, else the one that runs on this machine.
        cpus: cores that a node must have free for a desktop.
        memory_bytes: memory that a node must have free for a desktop with its spares. Ray counts it, and
            holds nobody to it; the desktop's own limit is `MachineSpec.memory_bytes`.
        place_s: how long a reset waits for a node with so much free, and for the actor to come up there.
        answer_s: an actor without a sign of life for so long counts as lost, however long its step takes.
    """

    address: str = AUTO
    cpus: float = 1.0
    memory_bytes: int = 2**30
    place_s: float = 60.0
    answer_s: float = 30.0

    def __post_init__(self) -> None:
        """Raise ConfigurationError for what cannot be."""
        for name in ("cpus", "memory_bytes"):
            if getattr(self, name) < 0:
                raise ConfigurationError(f"cluster.{name}: must be 0 or more, not {getattr(self, name)}")
        for name in ("place_s", "answer_s"):
            if getattr(self, name) <= 0:
                raise ConfigurationError(f"cluster.{name}: must be above 0, not {getattr(self, name)}")


class ClusterEnv(gym.Env[Any, Any]):
    """An environment that lives in an actor on some node of a cluster; nothing runs there before `reset`.

    The loss of the node or the actor ends the episode: its step is truncated, with the last observation and
    `infra_error` (part "node") in its info; a reset raises. The next reset takes a node that is left. Without
    a seed of its own its choices follow from the last seed given, but differ from the lost actor's.

    Observations are this process's own, to be written to.
    """

    def __init__(self, make_env: MakeEnv, cluster: Cluster) -> None:
        """Plan it.

        Args:
            make_env: makes the environment: here for its spaces, and in each actor, to which it is pickled.
            cluster: where it may run.

        Raises:
            MissingDependencyError: Ray is not installed.
            ConfigurationError: there is no such cluster.
        """
        self._ray = _connect(cluster.address)
        self._make_env, self._cluster = make_env, cluster
        with contextlib.closing(make_env()) as alike:
            self.observation_space, self.action_space = alike.observation_space, alike.action_space
            self.metadata, self.render_mode = alike.metadata, alike.render_mode
        self._actor: Any = None
        self._job = ""  # as which this process is known to the actor's cluster
        self._place: dict[str, Any] = {}
        self._last: tuple[Any, dict[str, Any]] | None = None  # while an episode goes on

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode, in a new actor where there is none; see `SciEnv.reset`.

        Raises:
            LaunchError: no node had room in time, or the desktop did not come up.
            DeadlineError, DisconnectedError: the node or the actor was lost.
        """
        super().reset(seed=seed)
        self._last = None
        if self._actor is None:
            self._begin()
            seed = int(self.np_random.integers(2**31)) if seed is None else seed
        self._last = self._ask("reset", seed=seed, options=options)
        return copy.deepcopy(self._last[0]), dict(self._last[1])

    def step(self, action: Any) -> Step:
        """Act once; see `SciEnv.step`."""
        if self._last is None:
            raise gym.error.ResetNeeded("the episode is over (or none has begun); call reset first")
        try:
            observation, reward, terminated, truncated, info = self._ask("step", action)
        except InfrastructureError as fault:
            (observation, info), self._last = self._last, None
            told = {"part": fault.part, "message": str(fault), "error": type(fault).__name__}
            return copy.deepcopy(observation), 0.0, False, True, {**info, "infra_error": told}
        self._last = None if terminated or truncated else (observation, info)
        return copy.deepcopy(observation), reward, terminated, truncated, dict(info)

    def render(self) -> Any:
        """What the environment itself renders; None without an actor."""
        return self._ask("render") if self._actor else None

    def stats(self) -> dict[str, Any]:
        """See `SciEnv.stats`: since the actor began; empty without one."""
        return dict(self._ask("stats")) if self._actor else {}

    @property
    def place(self) -> dict[str, Any]:
        """Where the actor is: `node` (Ray's id), `host` (an address) and `pid`; empty without one."""
        return dict(self._place)

    def close(self) -> None:
        """End the desktop, then the actor; more than once is fine."""
        if self._actor is not None:
            with contextlib.suppress(InfrastructureError):
                self._ask("close")
        self._drop()

    def _begin(self) -> None:
        """Have an actor with the environment on a node with room, however often its node is lost meanwhile.

        Raises:
            LaunchError: there is none, or the actor did not come up in time.
        """
        end = time.monotonic() + self._cluster.place_s
        while self._actor is None:
            try:
                self._start(end - time.monotonic())
            except DisconnectedError as lost:  # such as one that Ray does not know to be lost yet
                if time.monotonic() > end:
                    raise LaunchError("cluster", str(lost)) from lost

    def _start(self, timeout_s: float) -> None:
        """Have an actor with the environment; DisconnectedError when its node is lost meanwhile."""
        ray, cluster = _connect(self._cluster.address), self._cluster
        actor_class = ray.remote(
            num_cpus=cluster.cpus,
            memory=cluster.memory_bytes,
            scheduling_strategy="SPREAD",  # a lost node costs as few desktops as can be
            concurrency_groups={_LIFE: 1},  # it gives signs of life while it is busy
        )(_Desktop)
        self._actor, self._job = actor_class.remote(), ray.get_runtime_context().get_job_id()
        try:
            made = self._actor.make.remote(self._make_env)
            if not ray.wait([made], timeout=max(timeout_s, 0))[0]:
                room = f"{cluster.cpus:g} cores and {cluster.memory_bytes / 2**30:.1f} GiB free"
                late = f"no node with {room} took a desktop within {cluster.place_s:g} s; {_free(ray)}"
                raise LaunchError("cluster", late)
            self._place = self._receive(made)
        except BaseException:
            self._drop()
            raise

    def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the environment, however long it takes while the actor gives signs of life.

        Raises:
            DisconnectedError: the node or the actor is lost.
            DeadlineError: the actor is silent, and given up.
            Exception: what the method itself raises.
        """
        if not self._connected:
            self._drop()
            raise DisconnectedError("node", f"{self._where} ended when this process left the cluster")
        pause_s = self._cluster.answer_s / 2
        asked = self._actor.call.remote(name, *args, **kwargs)
        while not self._ray.wait([asked], timeout=pause_s)[0]:
            life = self._actor.live.options(concurrency_group=_LIFE).remote()
            if not self._ray.wait([asked, life], timeout=pause_s)[0]:
                silent = f"{self._where} gave no sign of life for {self._cluster.answer_s:g} s"
                self._drop()
                raise DeadlineError("node", silent)
        return self._receive(asked)

    def _receive(self, answer: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(answer)
        except errors.RayTaskError as error:
            if isinstance(error.cause, errors.RayError):
                missing = str(error.cause).splitlines()[0]
                raise ConfigurationError(
                    f"cluster: a node cannot take what it was sent: {missing}"
                ) from error
            raise error.cause from error
        except errors.RayError as error:
            lost = f"{self._where} is lost: {error}"
            self._drop()
            raise DisconnectedError("node", lost) from error

    @property
    def _where(self) -> str:
        place = self._place or {"pid": "that is to make a desktop", "host": "a node"}
        return "the process {pid} on {host}".format(**place)

    @property
    def _connected(self) -> bool:
        """Whether this process is still in the cluster where the actor is; who leaves ends his actors."""
        ray = self._ray
        return bool(ray.is_initialized() and ray.get_runtime_context().get_job_id() == self._job)

    def _drop(self) -> None:
        actor, self._actor, self._place = self._actor, None, {}
        if actor is not None and self._connected:
            self._ray.kill(actor)


class _Desktop:
    """What the actor runs: the environment itself."""

    def make(self, make_env: MakeEnv) -> dict[str, Any]:
        """Make it, and tell where this is."""
        import ray.util

        self._env = make_env()
        node = ray.get_runtime_context().get_node_id()
        host = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call, unused-ignore]
        return {"node": node, "host": host, "pid": os.getpid()}

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of it."""
        return self._env.get_wrapper_attr(name)(*args, **kwargs)

    def live(self) -> None:
        """Answer, while a call goes on in another thread."""


def _connect(address: str) -> Any:
    """Ray, with this process connected to the cluster.

    Raises:
        MissingDependencyError: it is not installed.
        ConfigurationError: there is no such cluster, or this process is connected to another one.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingDependencyError(
            "a cluster needs Ray; install it here and on every node with: pip install 'sci-gym[ray]'"
        ) from error
    with _connecting:
        if not ray.is_initialized():
            _join(ray, address)
        joined = ray.get_runtime_context().gcs_address
    if address not in (AUTO, joined):
        raise ConfigurationError(f"cluster.address: this process is connected to {joined}, not to {address}")
    return ray


def _join(ray: Any, address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False)
    except (ConnectionError, ValueError) as error:
        raise ConfigurationError(
            f"cluster.address: no Ray cluster at {address!r} ({error}); start one with: ray start --head"
        ) from error


def _free(ray: Any) -> str:
    """What the whole cluster has left."""
    free, held = ray.available_resources(), ray.cluster_resources()
    cores = f"{free.get('CPU', 0):g} of {held.get('CPU', 0):g} cores"
    gib = [one.get("memory", 0) / 2**30 for one in (free, held)]
    return f"all nodes together have {cores} and {gib[0]:.1f} of {gib[1]:.1f} GiB free"
