"""A guest that lies is met with an error that names the daemon, or with bounded data; never with more."""

from __future__ import annotations

import itertools
import resource
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import gymnasium as gym
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sci_gym import codec
from sci_gym.bounds import MAX_NODES, MAX_STATE_LINES, MAX_TEXT_CHARS, MAX_WINDOWS, clean
from sci_gym.client import VMAgentClient
from sci_gym.errors import InfrastructureError, LaunchError, ProtocolError, SciGymError
from sci_gym.specs import Action
from sci_gym_protos import vm_agent_pb2 as pb
from tests.lying_guest import (
    HEIGHT,
    WIDTH,
    LyingGuest,
    LyingMachine,
    field,
    image,
    lying,
    node,
    observation,
    ready_tree,
    reply,
)
from tests.lying_guest import probe as probed
from tests.messages import messages

MIB = 2**20
ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m<script>alert(1)</script>[red]\u202e\r"


def big(*path: int, unit: bytes, size: int = 60 * MIB) -> bytes:
    """A reply of one tiny part again and again, inside the fields of `path`."""
    data = unit * (size // len(unit))
    for number in reversed(path):
        data = field(number, data)
    return data


def tree(parents: list[int], nodes: list[bytes]) -> pb.StepReply:
    return reply(tree=pb.Tree(generation=1, parents=parents, nodes=nodes))


LIES: dict[str, Callable[[], Any]] = {
    "no observation": lambda: pb.StepReply(settled=True),
    "not a message": lambda: b"\xff" * 99,
    "nothing": lambda: b"",
    "a name that is not UTF-8": lambda: field(4, field(4, field(2, b"\xff\xfe"))),
    "an image of another size": lambda: reply(screenshot=image(64, 64)),
    "an image without its bytes": lambda: reply(screenshot=pb.Image(encoding=1, width_px=9, height_px=9)),
    "an image of 2^31 pixels a side": lambda: reply(
        screenshot=pb.Image(encoding=1, width_px=2**31, height_px=2**31, tiles=[pb.Tile()])
    ),
    "a parent that comes later": lambda: tree([-1, 2, 1], [node("a")] * 3),
    "a node that is its own parent": lambda: tree([-1, 1], [node("a")] * 2),
    "a parent below -1": lambda: tree([-2], [node("a")]),
    "more nodes than parents": lambda: tree([-1], [node("a")] * 9),
    "a node that is none": lambda: tree([-1], [b"\xff"]),
    "a node whose name is not UTF-8": lambda: tree([-1], [field(3, b"\xff")]),
    "a million nodes": lambda: tree([-1] * 10**6, [b""] * 10**6),
    "one node too many": lambda: tree([-1] * (MAX_NODES + 1), [b""] * (MAX_NODES + 1)),
    "a chain of 100,000 nodes": lambda: tree(list(range(-1, 99_999)), [b""] * 100_000),
    "a text too long": lambda: tree([-1], [node("a", text="x" * (MAX_TEXT_CHARS + 1))]),
    "much text in all": lambda: tree([-1] * 400, [node("a", text="x" * MAX_TEXT_CHARS)] * 400),
    "windows without end": lambda: reply(windows=[pb.Window()] * (MAX_WINDOWS + 1)),
    "a title too long": lambda: reply(windows=[pb.Window(title="x" * (MAX_TEXT_CHARS + 1))]),
    "two programs of one id": lambda: reply(pb.ProbeReply(programs=[pb.Program(id=1)] * 2)),
    "programs without end": lambda: reply(pb.ProbeReply(programs=[pb.Program(id=n) for n in range(999)])),
    "state without end": lambda: reply(probed(state=["{}"] * (MAX_STATE_LINES + 1))),
    "a state line too long": lambda: reply(probed(state=["x" * (MAX_TEXT_CHARS + 1)])),
    "a bomb of windows": lambda: big(4, unit=b"\x22\x00"),
    "a bomb of tiles": lambda: big(4, 1, unit=b"\x32\x00"),
    "a bomb of nodes": lambda: big(4, 2, unit=b"\x22\x00"),
    "a bomb of programs": lambda: big(5, unit=b"\x0a\x00"),
    "a bomb of state lines": lambda: big(5, 1, unit=b"\x3a\x00"),
    "a bomb of unknown fields": lambda: big(unit=b"\x78\x00"),
    "a message beyond the limit": lambda: big(15, unit=b"x", size=70 * MIB),
}  # fmt: skip


@pytest.fixture(scope="module")
def guest() -> Iterator[tuple[LyingGuest, LyingMachine]]:
    with lying() as made:
        yield made


@pytest.fixture
def client(guest: tuple[LyingGuest, LyingMachine]) -> Iterator[VMAgentClient]:
    liar, machine = guest
    liar.lies.clear()
    made = VMAgentClient(machine.start(), call_s=5)
    yield made
    made.close()


@pytest.fixture(scope="module")
def env() -> Iterator[tuple[gym.Env[Any, Any], LyingGuest]]:
    with lying() as (liar, machine):
        made = gym.make(
            "SciBoard-KAlgebra-v0", machine=machine, resolution=(WIDTH, HEIGHT), disable_env_checker=True
        )
        yield made, liar
        made.close()


def step(client: VMAgentClient) -> pb.StepReply:
    return client.step(pb.Input(), pb.SettlePolicy(), codec.observe_request(), pb.ProbeRequest())


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_truncates_the_step(env: tuple[gym.Env[Any, Any], LyingGuest], lie: str) -> None:
    playing, liar = env
    liar.lies.clear()
    playing.reset(seed=1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = LIES[lie]()
    liar.lies["Step"] = lambda context: told
    _, reward, terminated, truncated, info = playing.step(Action.click(5, 5))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["infra_error"]["part"] == "daemon"
    assert info["infra_error"]["message"].isprintable()
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 2**20, f"{grown_kib} KiB"


@pytest.mark.parametrize(
    "lie", ["no observation", "a million nodes", "two programs of one id", "not a message"]
)
def test_a_lie_ends_a_reset(env: tuple[gym.Env[Any, Any], LyingGuest], lie: str) -> None:
    playing, liar = env
    told = LIES[lie]()
    liar.lies["Step"] = lambda context: told
    with pytest.raises(LaunchError, match="daemon"):
        playing.reset(seed=1)


def test_what_could_be_is_bounded_data(env: tuple[gym.Env[Any, Any], LyingGuest]) -> None:
    playing, liar = env
    liar.lies.clear()
    playing.reset(seed=1)
    odd = [
        node("table cell", is_cell=True, row=2**32 - 1, column=2**32 - 1, has_value=True, value=float("nan")),
        node("push button", name=ESCAPE, states=2**64 - 1, has_value=True, value=float("inf")),
        node("text", extents=pb.Rect(x_px=-(2**31), y_px=2**31 - 1, width_px=2**31 - 1, height_px=-5)),
    ]
    told = reply(
        probed(stderr_tail=ESCAPE, state=[ESCAPE, "[" * 60_000]),
        tree=ready_tree(odd),
        windows=[pb.Window(title=ESCAPE)],
    )
    liar.lies["Step"] = lambda context: told
    seen, _, _, truncated, info = playing.step(Action.click(5, 5))
    assert not truncated
    assert "infra_error" not in info
    assert playing.observation_space.contains(seen)
    last = playing.unwrapped.last  # type: ignore[attr-defined]
    shown = [one.name for one in last.tree] + [last.windows[0].title, last.programs[0].stderr_tail]
    assert not any(set(text) & {"\x1b", "\x07", "\x9b", "\r"} for text in shown)
    assert all(one.value is None for one in last.tree)


@pytest.mark.parametrize(
    "code",
    [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK],
    ids=lambda code: str(code.name),
)
def test_any_status_is_an_error_of_ours(
    client: VMAgentClient, guest: tuple[LyingGuest, Any], code: Any
) -> None:
    def refuse(context: grpc.ServicerContext) -> None:
        context.set_trailing_metadata((("odd", "1"),))
        context.abort(code, ESCAPE + "x" * 5000)

    for name, call in CALLS.items():
        guest[0].lies = {name: refuse}
        with pytest.raises(SciGymError) as caught:
            call(client)
        assert "\x1b" not in str(caught.value)
        assert len(str(caught.value)) < 3000


CALLS: dict[str, Callable[[VMAgentClient], Any]] = {
    "Hello": lambda client: client.hello(),
    "Step": step,
    "Observe": lambda client: client.observe(pb.ObserveRequest()),
    "Probe": lambda client: client.probe(pb.ProbeRequest()),
    "Exec": lambda client: client.execute(["true"], timeout_s=1, max_output_bytes=1000),
    "GetFile": lambda client: client.get_file("a", max_bytes=1000),
    "PutFile": lambda client: client.put_file("a", b"x"),
    "Launch": lambda client: client.launch("a", ["a"]),
    "Close": lambda client: client.end_program(1),
    "ListPrograms": lambda client: client.programs(),
    "ListWindows": lambda client: client.windows(),
    "GetClipboard": lambda client: client.get_clipboard(),
    "GetCursor": lambda client: client.cursor(),
    "GetScreenSize": lambda client: client.screen_size(),
    "Health": lambda client: client.health(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_reply_that_is_no_message_is_named(
    client: VMAgentClient, guest: tuple[LyingGuest, Any], name: str
) -> None:
    streamed = name in ("Exec", "GetFile")
    guest[0].lies = {name: lambda context: iter([b"\xff" * 9]) if streamed else b"\xff" * 9}
    with pytest.raises(ProtocolError, match="daemon"):
        CALLS[name](client)


@pytest.mark.parametrize("name", CALLS)
def test_a_reply_that_never_comes_ends_at_the_deadline(
    guest: tuple[LyingGuest, LyingMachine], name: str
) -> None:
    liar, machine = guest
    over = threading.Event()

    def never(context: grpc.ServicerContext) -> Any:
        context.add_callback(over.set)
        over.wait(60)
        return iter(())

    liar.lies = {name: never}
    client = VMAgentClient(machine.start(), call_s=0.3)
    try:
        with pytest.raises(InfrastructureError, match="daemon"):
            CALLS[name](client)
    finally:
        client.close()
        over.set()


@pytest.mark.parametrize(
    ("name", "chunk"),
    [("GetFile", pb.FileChunk(data=b"x" * 99)), ("Exec", pb.ExecChunk(stdout=b"x" * 99)),
     ("GetFile", pb.FileChunk()), ("Exec", pb.ExecChunk(stderr=b""))],
    ids=["file", "output", "empty file", "empty output"],
)  # fmt: skip
def test_an_endless_stream_ends(guest: tuple[LyingGuest, LyingMachine], name: str, chunk: Any) -> None:
    liar, machine = guest
    liar.lies = {
        name: lambda context: itertools.takewhile(lambda _: context.is_active(), itertools.repeat(chunk))
    }
    client = VMAgentClient(machine.start(), call_s=1)
    try:
        with pytest.raises(InfrastructureError, match="daemon"):
            CALLS[name](client)
        liar.lies.clear()
        assert client.get_file("a") == b"data"
    finally:
        client.close()


def test_a_stream_that_ends_too_soon_is_no_success(
    client: VMAgentClient, guest: tuple[LyingGuest, Any]
) -> None:
    guest[0].lies["Exec"] = lambda context: iter([pb.ExecChunk(stdout=b"part")])
    with pytest.raises(ProtocolError, match="result"):
        client.execute(["true"])


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    messages(
        pb.Observation,
        {"nodes": st.lists(messages(pb.Node).map(lambda one: one.SerializeToString()), max_size=4)},
    ),
    messages(pb.ProbeReply),
)
def test_wild_replies(
    env: tuple[gym.Env[Any, Any], LyingGuest], wild: pb.Observation, probe: pb.ProbeReply
) -> None:
    playing, liar = env
    liar.lies.clear()
    if not hasattr(test_wild_replies, "begun") or playing.unwrapped._episode.over:  # type: ignore[attr-defined]
        playing.reset(seed=1)
        test_wild_replies.begun = True  # type: ignore[attr-defined]
    wild.screenshot.CopyFrom(image())
    wild.ClearField("pointer")
    told = pb.StepReply(observation=wild, probe=probe)
    liar.lies["Step"] = lambda context: told
    seen, _, _, _, info = playing.step(Action.click(5, 5))
    assert playing.observation_space.contains(seen)
    if "infra_error" in info:
        crashed = [clean(one.name) for one in probe.programs if one.exit_code < 0]
        assert info["infra_error"]["part"] in ("daemon", *crashed)


def test_the_honest_guest_is_believed(env: tuple[gym.Env[Any, Any], LyingGuest]) -> None:
    playing, liar = env
    liar.lies.clear()
    playing.reset(seed=1)
    assert "infra_error" not in playing.step(Action.click(5, 5))[4]
    assert observation().HasField("screenshot")
