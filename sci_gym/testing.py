"""Conformance suites for pytest that a third party runs on its own app, machine or environment.

Inherit from a suite, and override its fixture:

    from sci_gym.testing import EnvSuite

    class TestMyEnv(EnvSuite):
        @pytest.fixture(scope="class")
        @classmethod
        def env(cls):
            env = gym.make("MyProgram-v0")
            yield env
            env.close()

Every assertion's message is the contract that it holds. The suites need `pytest`, and run over a real socket.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from sci_gym.app import App
from sci_gym.client import VMAgentClient
from sci_gym.errors import ActionError, ConfigurationError, ProtocolError, SciGymError
from sci_gym.evaluation import PredicateSet, validate_graph
from sci_gym.machines import Endpoint, Machine
from sci_gym.specs import STOP_KINDS, A11yTree, Action, Kind, Observation
from sci_gym.tasks import load_templates
from sci_gym_protos import PROTOCOL_VERSION
from sci_gym_protos import vm_agent_pb2 as pb

_SEEDS = range(5)


class EnvSuite:
    """What every environment keeps. Override `env`: one of a feasible task, closed by the fixture."""

    @pytest.fixture(scope="class")
    @classmethod
    def env(cls) -> Iterator[gym.Env[Any, Any]]:
        """The environment under test."""
        raise NotImplementedError("override the fixture `env`")

    def test_gymnasium_accepts_it(self, env: gym.Env[Any, Any]) -> None:
        """`check_env` passes without a warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env.unwrapped, skip_render_check=True)

    def test_reset_is_decided_by_its_seed(self, env: gym.Env[Any, Any]) -> None:
        """The same seed gives the same task, instruction and pixels."""
        first, first_info = env.reset(seed=11)
        second, second_info = env.reset(seed=11)
        assert first_info["task"] == second_info["task"], "one seed must draw one task"
        assert first["instruction"] == second["instruction"], "one seed must draw one set of parameters"
        for key, value in first.items():
            same = (
                np.array_equal(value, second[key]) if isinstance(value, np.ndarray) else value == second[key]
            )
            assert same, f"one seed must give one first observation, and {key} differs"

    def test_untouched_state_earns_nothing(self, env: gym.Env[Any, Any]) -> None:
        """The first observation has Coverage Rate 0, and DONE at once is no success."""
        _, info = env.reset(seed=3)
        assert info["coverage_rate"] == 0, "nothing is done before the policy acts"
        _, reward, terminated, truncated, info = env.step(Action.done())
        assert (terminated, truncated) == (True, False), "DONE terminates"
        assert (reward, info["success"]) == (0, False), "DONE at once scores 0"

    def test_stepping_after_the_end_is_refused(self, env: gym.Env[Any, Any]) -> None:
        """An episode that is over takes no more steps."""
        env.reset(seed=3)
        env.step(Action.done())
        with pytest.raises(gym.error.ResetNeeded):
            env.step(Action.wait(0))

    def test_an_action_off_screen_is_an_error_and_does_nothing(self, env: gym.Env[Any, Any]) -> None:
        """The message names the point and the screen; the episode goes on."""
        _need(env, Kind.CLICK)
        env.reset(seed=3)
        width: int = env.unwrapped.width  # type: ignore[attr-defined]
        with pytest.raises(ActionError, match=f"{width}.*outside the screen"):
            env.step(Action.click(width, 0))
        _, _, terminated, truncated, _ = env.step(Action.wait(0))
        assert (terminated, truncated) == (False, False), "a refused action must not end the episode"

    @pytest.mark.parametrize("text", ["a\0b", "\ud800"])
    def test_text_that_no_desktop_takes_is_an_error(self, env: gym.Env[Any, Any], text: str) -> None:
        """NUL and lone surrogates are refused with their place."""
        env.reset(seed=3)
        action = Action.type(text) if Kind.TYPE in env.unwrapped.kinds else Action.code(text)  # type: ignore[attr-defined]
        with pytest.raises(ActionError, match=r"U\+"):
            env.step(action)

    def test_the_pointer_goes_where_it_is_told(self, env: gym.Env[Any, Any]) -> None:
        """Acting changes the real desktop, and the next observation shows it."""
        _need(env, Kind.MOVE_TO)
        before, _ = env.reset(seed=3)
        after, *_ = env.step(Action.move_to(40, 30))
        assert env.unwrapped.last.cursor == (40, 30), "moveTo moves the pointer"  # type: ignore[attr-defined]
        if "screenshot" in before:
            assert not np.array_equal(before["screenshot"], after["screenshot"]), "the pointer is drawn"

    def test_evaluation_changes_nothing(self, env: gym.Env[Any, Any]) -> None:
        """Looking twice gives the same verdict."""
        _, info = env.reset(seed=3)
        _, _, _, _, again = env.step(Action.wait(0))
        assert again["graph"] == info["graph"], "evaluation is idempotent"


def _need(env: gym.Env[Any, Any], kind: Kind) -> None:
    if kind not in env.unwrapped.kinds:  # type: ignore[attr-defined]
        pytest.skip(f"its interface has no {kind}")


class MachineSuite:
    """What every machine keeps. Override `machine`: not started; the fixture stops it."""

    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls) -> Iterator[Machine]:
        """The machine under test."""
        raise NotImplementedError("override the fixture `machine`")

    @pytest.fixture(scope="class")
    @classmethod
    def endpoint(cls, machine: Machine) -> Endpoint:
        """The started machine's endpoint."""
        return machine.start()

    @pytest.fixture
    def client(self, endpoint: Endpoint) -> Iterator[VMAgentClient]:
        """A client of the started machine."""
        client = VMAgentClient(endpoint, call_s=20)
        yield client
        client.close()

    def test_the_daemon_speaks_our_version(self, client: VMAgentClient) -> None:
        """Hello tells protocol and screen."""
        assert client.hello().protocol_version == PROTOCOL_VERSION, "host and daemon speak one version"

    def test_the_screen_has_the_size_that_was_asked_for(
        self, machine: Machine, client: VMAgentClient
    ) -> None:
        """Screen and screenshot agree with the machine's spec."""
        size = (machine.spec.width, machine.spec.height)
        assert client.screen_size() == size, "the screen has the size of the spec"
        client.observe(pb.ObserveRequest(screenshot=True))
        assert client.frame.shape == (size[1], size[0], 3), "a screenshot covers the screen"

    @pytest.mark.parametrize("token", ["", "wrong" * 10])
    def test_a_call_without_the_token_is_refused(self, endpoint: Endpoint, token: str) -> None:
        """Every kind of call wants the token."""
        stranger = VMAgentClient(dataclasses.replace(endpoint, token=token), call_s=10)
        try:
            with pytest.raises(ProtocolError, match="token"):
                stranger.hello()
            with pytest.raises(ProtocolError, match="token"):
                stranger.execute(["true"])
            with pytest.raises(ProtocolError, match="token"):
                stranger.put_file("a", b"a")
        finally:
            stranger.close()

    def test_a_step_acts_once_however_often_it_is_sent(self, client: VMAgentClient) -> None:
        """A step id that was answered is answered again without acting; an older one is refused."""
        request = pb.StepRequest(
            step_id=2**40,
            input=pb.Input(kind=pb.Input.KIND_MOVE_TO, x_px=7, y_px=8),
            settle=pb.SettlePolicy(),
        )
        reply = client.send("Step", request)
        assert client.cursor() == (7, 8), "a step acts"
        assert client.send("Step", request) == reply, "a retried step must not act again"
        request.input.x_px = 99
        with pytest.raises(ProtocolError, match="step_id"):
            client.send("Step", request)
        request.step_id -= 1
        with pytest.raises(ProtocolError, match="step_id"):
            client.send("Step", request)

    def test_files_travel_unchanged(self, client: VMAgentClient) -> None:
        """What is put can be got, in any size."""
        data = np.random.default_rng(0).bytes(3 * 2**20 + 1)
        client.put_file("folder/data.bin", data)
        assert client.get_file("folder/data.bin") == data, "a file must travel unchanged"

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ""])
    def test_a_path_out_of_the_home_is_refused(self, client: VMAgentClient, path: str) -> None:
        """File calls reach the guest's home only."""
        with pytest.raises(ConfigurationError, match="path"):
            client.get_file(path)

    def test_code_runs_within_its_limits(self, client: VMAgentClient) -> None:
        """Output, exit code, time and size are as asked."""
        result = client.execute(["sh", "-c", "echo out; echo err >&2; exit 3"])
        assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3), "Exec reports all"
        assert client.execute(["sleep", "60"], timeout_s=0.2).timed_out, "Exec ends at its time limit"
        flood = client.execute(["sh", "-c", "yes | head -c 3000000"], max_output_bytes=1000)
        assert flood.truncated, "Exec drops output beyond its limit, and says so"
        assert len(flood.stdout) <= 1000, "Exec bounds its output"

    def test_code_has_no_network(self, client: VMAgentClient) -> None:
        """The guest sees no interface but loopback."""
        result = client.execute(["sh", "-c", "cat /proc/net/dev"])
        names = [line.split(":")[0].strip() for line in result.stdout.splitlines()[2:]]
        assert names == ["lo"], "the guest must have no network"

    def test_the_clipboard_keeps_any_text(self, client: VMAgentClient) -> None:
        """Text outside ASCII survives."""
        client.set_clipboard("π ≈ 3.14 — 漢字")
        assert client.get_clipboard() == "π ≈ 3.14 — 漢字", "the clipboard must keep its text"

    def test_every_part_is_healthy(self, client: VMAgentClient) -> None:
        """Health names the parts and finds nothing wrong."""
        assert set(client.health().values()) == {""}, "every part of a started machine is healthy"

    def test_restore_forgets_and_stop_ends(self, machine: Machine, endpoint: Endpoint) -> None:
        """Nothing of an episode reaches the next; stop is final, and may be repeated."""
        client = VMAgentClient(endpoint)
        client.put_file("left-over", b"x")
        client.close()
        fresh = VMAgentClient(machine.restore())
        try:
            with pytest.raises(ConfigurationError, match="left-over"):
                fresh.get_file("left-over")
            machine.stop()
            machine.stop()
            assert not machine.running, "stop ends the machine"
            with pytest.raises(SciGymError):
                fresh.hello()
        finally:
            fresh.close()


class AppSuite:
    """What every app keeps, without its program. Override `app`."""

    @pytest.fixture(scope="class")
    @classmethod
    def app(cls) -> App:
        """The app under test."""
        raise NotImplementedError("override the fixture `app`")

    def test_its_id_makes_an_environment(self, app: App) -> None:
        """The id is registered, and making starts nothing."""
        env = gym.make(app.env_id, disable_env_checker=True)
        env.close()

    def test_state_of_nothing_is_a_state(self, app: App) -> None:
        """`read_state` is total: a program that is gone gives a state, not an error."""
        nothing = Observation(np.zeros((1, 1, 3), np.uint8), A11yTree(), (0, 0), (), (), {}, True, True)
        assert isinstance(app.read_state(nothing), dict), "read_state must be total"
        assert not (app.programs and app.ready(nothing)), "a program that is gone is not ready"

    def test_every_task_fills_in_for_any_seed(self, app: App) -> None:
        """Instruction, graph, checks and oracle are whole for any draw."""
        predicates = PredicateSet.of(app)
        for template in load_templates(app).values():
            for seed in _SEEDS:
                task = template.instantiate(np.random.default_rng(seed))
                validate_graph(task.graph)
                for node in task.graph.nodes:
                    for check in node.checks:
                        predicates.validate(check)
                assert task.oracle, f"{task.id} must have an oracle"
                for name, oracle in task.oracles.items():
                    assert oracle[-1].action.kind in STOP_KINDS, (
                        f"the oracle {name!r} of {task.id} must end the episode"
                    )
                    assert len(oracle) <= task.max_steps, (
                        f"the oracle {name!r} of {task.id} must fit into its step limit"
                    )
                assert "{" not in task.instruction, f"the instruction of {task.id} must be filled in"
