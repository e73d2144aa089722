"""Many environments stepped at once from one process (`gymnasium.vector.VectorEnv`).

A step waits for a program far longer than it computes, so a thread for each environment is enough: no frame
is pickled or sent to another process, each thread writes its own part of one block of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, NamedTuple, TypeVar

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, create_empty_array, iterate

from sci_gym.errors import ConfigurationError, DeadlineError, InfrastructureError

MakeEnv = Callable[[], gym.Env[Any, Any]]
Curriculum = Callable[[int, int, Mapping[str, Any]], Any]
"""Slot, number of its coming episode from 0, the last `info` of the one before (empty at first): what
`options["task"]` of `SciEnv.reset` takes for the coming one."""
Block = Any
T = TypeVar("T")


class Outcome(NamedTuple):
    """What came of a step or a reset of one slot; a reset gives reward 0 and neither end."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @property
    def over(self) -> bool:
        """Whether the slot's episode has ended."""
        return self.terminated or self.truncated


class SciVectorEnv(VectorEnv[Any, Any, npt.NDArray[Any]]):
    """Environments of one kind, each in a slot with a thread of its own.

    `step` takes a batch of the action space, or a sequence with an action for each slot; what it returns is
    laid out as `gymnasium.vector.SyncVectorEnv` lays it out.

    A fault of a slot's machine ends that slot's episode alone: its step is truncated with `infra_error` in
    its info, and its next reset mends it. One that cannot be mended yet gives an observation of zeros,
    truncated with `infra_error` again, and is tried again at its next step. Leave such steps out of what is
    learned from.
    """

    def __init__(
        self,
        make_envs: Sequence[MakeEnv],
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        curriculum: Curriculum | None = None,
        copy: bool = True,
    ) -> None:
        """Make the environments; no desktop starts before `reset`.

        Args:
            make_envs: makes the environment of each slot.
            autoreset_mode: when a slot that ended starts anew (Gymnasium, `AutoresetMode`).
            curriculum: which task a slot gets next; see `Curriculum`.
            copy: give each step's observations in memory of their own; else the next step writes over them.

        Raises:
            ConfigurationError: there is no slot, or their spaces differ.
        """
        if not make_envs:
            raise ConfigurationError("num_envs: must be 1 or more, not 0")
        self._slots = [_Slot(number, make, curriculum) for number, make in enumerate(make_envs)]
        self.num_envs = len(self._slots)
        first = self._slots[0].env
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        for slot in self._slots[1:]:
            slot.check_spaces(first)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._autoreset = AutoresetMode(autoreset_mode)
        self.metadata = {**first.metadata, "autoreset_mode": self._autoreset}
        self.render_mode = first.render_mode
        self._copy = copy
        self._block = _make_block(self.single_observation_space, self.num_envs)
        self._under_way: dict[int, Future[Outcome]] = {}

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every slot, or in those of `options["reset_mask"]` (bool `[num_envs]`).

        Args:
            seed: of slot 0, and one more for each further slot; or one for each.
            options: passed to each environment, but for the mask.
        """
        options = dict(options or {})
        chosen = _read_mask(options.pop("reset_mask", None), self.num_envs)
        seeds = _share_seed(seed, self.num_envs)
        jobs = {number: partial(self._slots[number].reset, seeds[number], options) for number in chosen}
        outcomes = self._run(jobs)
        return self._observations(), self._infos(outcomes)

    def step(
        self, actions: Any
    ) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Act in every slot at once.

        Args:
            actions: a batch of the action space, or a sequence with what each environment's `step` takes.

        Returns:
            observations; rewards, float64 `[num_envs]`; terminated and truncated, bool `[num_envs]`; infos.

        Raises:
            ActionError: an action is outside its space; the other slots have acted.
        """
        listed = list(iterate(self.action_space, actions) if isinstance(actions, Mapping) else actions)
        if len(listed) != self.num_envs:
            raise ConfigurationError(f"actions: must be {self.num_envs}, one a slot, not {len(listed)}")
        outcomes = self._run(
            {slot.number: partial(self._act, slot, listed[slot.number]) for slot in self._slots}
        )
        ordered = [outcomes[number] for number in range(self.num_envs)]
        return (
            self._observations(),
            np.array([one.reward for one in ordered], np.float64),
            np.array([one.terminated for one in ordered], np.bool_),
            np.array([one.truncated for one in ordered], np.bool_),
            self._infos(outcomes),
        )

    def async_step(self, actions: Mapping[int, Any]) -> None:
        """Begin to act in some slots, for policies that answer for one slot at a time; see `as_completed`.

        A slot whose episode has ended starts its next one instead, whatever the action.

        Args:
            actions: by slot.

        Raises:
            ConfigurationError: a slot is under way, and `as_completed` has not given it yet.
        """
        for number in actions:
            if number in self._under_way:
                raise ConfigurationError(
                    f"async_step: slot {number} is under way; take it from as_completed first"
                )
        for number, action in actions.items():
            slot = self._slots[number]
            self._under_way[number] = slot.begin(partial(self._act, slot, action))

    def as_completed(self, timeout_s: float | None = None) -> Iterator[tuple[int, Outcome]]:
        """The slots that `async_step` began, as they are done, with the environment's own outcome of each.

        More may be begun while this goes on; it ends when none is under way.

        Args:
            timeout_s: how long to wait for the next one; None: as long as a step's own deadlines allow.

        Raises:
            DeadlineError: none was done in time; they stay under way.
        """
        while self._under_way:
            done, _ = wait(self._under_way.values(), timeout_s, FIRST_COMPLETED)
            if not done:
                raise DeadlineError(
                    "vector", f"no slot of {sorted(self._under_way)} was done within {timeout_s} s"
                )
            for number in [number for number, future in self._under_way.items() if future in done]:
                yield number, self._under_way.pop(number).result()

    def render(self) -> tuple[Any, ...]:
        """The frame of every slot."""
        return self.call("render")

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every environment, or get an attribute of it."""
        found = [getattr(slot.env, name) for slot in self._slots]
        return tuple(one(*args, **kwargs) if callable(one) else one for one in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of every environment."""
        return self.call(name)

    def close_extras(self, **kwargs: Any) -> None:
        """End every environment."""
        for future in [slot.begin(slot.close) for slot in self._slots]:
            future.result()
        for slot in self._slots:
            slot.shutdown()

    def _run(self, jobs: Mapping[int, Callable[[], Outcome]]) -> dict[int, Outcome]:
        """Do what each slot has to do, all at once, and put their observations into the block."""
        if self._under_way:
            raise ConfigurationError(
                f"vector: slots {sorted(self._under_way)} are under way; see as_completed"
            )

        def do(number: int, job: Callable[[], Outcome]) -> Outcome:
            outcome = job()
            _write(self._block, number, outcome.observation)
            return outcome

        futures = {
            number: self._slots[number].begin(partial(do, number, job)) for number, job in jobs.items()
        }
        wait(futures.values())
        return {number: future.result() for number, future in futures.items()}

    def _act(self, slot: _Slot, action: Any) -> Outcome:
        if slot.over and self._autoreset is not AutoresetMode.DISABLED:
            return slot.reset(None, {})
        outcome = slot.step(action)
        if not outcome.over or self._autoreset is not AutoresetMode.SAME_STEP:
            return outcome
        fresh = slot.reset(None, {})
        final = {"final_obs": outcome.observation, "final_info": outcome.info}
        return outcome._replace(observation=fresh.observation, info={**fresh.info, **final})

    def _observations(self) -> Any:
        return _read(self._block, self._copy)

    def _infos(self, outcomes: Mapping[int, Outcome]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for number, outcome in outcomes.items():
            infos = self._add_info(infos, outcome.info, number)
        return infos


class _Slot:
    """One environment, the thread that it is used from, and how its episode stands."""

    def __init__(self, number: int, make_env: MakeEnv, curriculum: Curriculum | None) -> None:
        self.number, self._curriculum = number, curriculum
        self.env = make_env()
        self.over = True
        self._episodes = 0
        self._info: dict[str, Any] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"sci-gym-slot-{number}")

    def begin(self, job: Callable[[], T]) -> Future[T]:
        """Do something in the slot's thread."""
        return self._thread.submit(job)

    def check_spaces(self, other: gym.Env[Any, Any]) -> None:
        """Raise ConfigurationError unless the environment has the spaces of another one."""
        for name in ("observation_space", "action_space"):
            if getattr(self.env, name) != getattr(other, name):
                raise ConfigurationError(f"slot {self.number}: its {name} differs from slot 0's")

    def reset(self, seed: int | None, options: dict[str, Any]) -> Outcome:
        """Start an episode, on a new machine where the old one cannot be brought back."""
        if self._curriculum is not None:
            options = {"task": self._curriculum(self.number, self._episodes, self._info), **options}
        try:
            observation, info = self.env.reset(seed=seed, options=options)
        except InfrastructureError as fault:
            self.env.close()  # all of it; the next reset begins with a new machine
            return self._note(self._nothing(fault))
        self._episodes += 1
        return self._note(Outcome(observation, 0.0, False, False, info))

    def step(self, action: Any) -> Outcome:
        """Act."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._note(Outcome(observation, float(reward), terminated, truncated, info))

    def close(self) -> None:
        """End the environment."""
        self.env.close()

    def shutdown(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    def _note(self, outcome: Outcome) -> Outcome:
        self.over, self._info = outcome.over, outcome.info
        return outcome

    def _nothing(self, fault: InfrastructureError) -> Outcome:
        told = {"part": fault.part, "message": str(fault), "error": type(fault).__name__}
        empty = create_empty_array(self.env.observation_space, n=1, fn=np.zeros)
        observation = next(iter(iterate(batch_space(self.env.observation_space, 1), empty)))
        return Outcome(observation, 0.0, False, True, {"infra_error": told})


def _read_mask(mask: Any, count: int) -> list[int]:
    """The slots that a mask chooses; all without one."""
    if mask is None:
        return list(range(count))
    right = isinstance(mask, np.ndarray) and mask.shape == (count,) and mask.dtype == np.bool_
    if not right or not mask.any():
        raise ConfigurationError(
            f"options['reset_mask']: must be a bool array [{count}] with a True, not {mask!r}"
        )
    return [int(number) for number in np.flatnonzero(mask)]


def _share_seed(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    if seed is None:
        return [None] * count
    if isinstance(seed, int):
        return [seed + number for number in range(count)]
    if len(seed) != count:
        raise ConfigurationError(f"seed: must be {count} seeds, one a slot, not {len(seed)}")
    return list(seed)


def _make_block(space: gym.Space[Any], count: int) -> Block:
    """Memory for a batch of observations: arrays, and lists for what is no array."""
    if isinstance(space, gym.spaces.Dict):
        return {key: _make_block(part, count) for key, part in space.spaces.items()}
    empty = create_empty_array(space, n=count, fn=np.zeros)
    return empty if isinstance(empty, np.ndarray) else [None] * count


def _write(block: Block, number: int, observation: Any) -> None:
    if isinstance(block, dict):
        for key, part in block.items():
            _write(part, number, observation[key])
    else:
        block[number] = observation


def _read(block: Block, copy: bool) -> Any:
    if isinstance(block, dict):
        return {key: _read(part, copy) for key, part in block.items()}
    if isinstance(block, np.ndarray):
        return block.copy() if copy else block
    return tuple(block)
