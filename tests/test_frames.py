"""Frames are the screen, pixel by pixel, whichever way they come; a guest that lies of them is refused."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import mmap
import os
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import six
import Xlib
from hypothesis import given, settings
from hypothesis import strategies as st
from lz4 import block

from sci_gym import codec
from sci_gym.client import VMAgentClient
from sci_gym.errors import ProtocolError
from sci_gym.frames import MAX_TILES, FrameStore, memory_bytes
from sci_gym.loader import load_app
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.specs import Action, Frame, Kind
from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.damage import disjoint, overlap, strips
from tests.processes import family

WIDTH, HEIGHT = 1280, 800
LOOK = pb.ObserveRequest(screenshot=True)

# Reads the whole screen through the X protocol alone, in a process of its own.
PLAIN_CAPTURE = f"""
import os, sys
sys.path.insert(0, os.path.expanduser("~/xlib.zip"))
from Xlib import X, display
root = display.Display().screen().root
sys.stdout.buffer.write(root.get_image(0, 0, {WIDTH}, {HEIGHT}, X.ZPixmap, 0xffffffff).data)
"""


def xlib() -> bytes:
    """python-xlib as one file, for a guest that has none."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        root = Path(Xlib.__file__).parent
        for path in root.rglob("*.py"):
            archive.write(path, path.relative_to(root.parent))
        archive.write(six.__file__, "six.py")
    return packed.getvalue()


@pytest.fixture(scope="module", params=["shared", "sent"])
def desktop(request: pytest.FixtureRequest) -> Iterator[VMAgentClient]:
    """KAlgebra on a desktop, seen through shared memory or through the socket."""
    machine = SandboxMachine(MachineSpec(width=WIDTH, height=HEIGHT))
    endpoint = machine.start()
    if request.param == "sent":
        endpoint = dataclasses.replace(endpoint, frame_memory=None)
    client = VMAgentClient(endpoint)
    client.put_file("xlib.zip", xlib())
    client.put_file("capture.py", PLAIN_CAPTURE.encode())
    (program,) = load_app("kalgebra").programs
    client.launch(
        program.name, program.argv, env=program.env, register_s=program.register_s, max_launches=3
    )  # fmt: skip
    yield client
    client.close()
    machine.stop()


def act(client: VMAgentClient, action: Action) -> pb.Observation:
    policy = pb.SettlePolicy(quiet_ms=100, deadline_ms=8000)
    return client.step(
        codec.pack_input(action, (0, 0), WIDTH, HEIGHT), policy, LOOK, pb.ProbeRequest()
    ).observation


def plain_capture(client: VMAgentClient) -> Frame:
    """The screen without the pointer, as another program sees it."""
    client.execute(["sh", "-c", "/usr/bin/python3 ~/capture.py > ~/screen"])
    pixels = np.frombuffer(client.get_file("screen"), np.uint8).reshape(HEIGHT, WIDTH, 4)
    return pixels[:, :, 2::-1].copy()


def blended(screen: Frame, pointer: pb.Pointer) -> Frame:
    """The screen with the pointer over it, one pixel after another."""
    place, expected = pointer.picture, screen.copy()
    for number in range(place.width_px * place.height_px):
        x, y = place.x_px + number % place.width_px, place.y_px + number // place.width_px
        if 0 <= x < WIDTH and 0 <= y < HEIGHT:
            blue, green, red, alpha = pointer.pixels[4 * number : 4 * number + 4]
            for channel, color in enumerate((red, green, blue)):
                expected[y, x, channel] = color + int(screen[y, x, channel]) * (255 - alpha) // 255
    return expected


def assert_exact(client: VMAgentClient) -> None:
    """The client's frame is what a plain capture gives, at a moment when nothing moves."""
    end = time.monotonic() + 60
    before = plain_capture(client)
    while time.monotonic() < end:
        pointer = client.observe(LOOK).pointer
        after = plain_capture(client)
        if np.array_equal(before, after):
            assert np.array_equal(client.frame, blended(after, pointer))
            return
        before = after
    pytest.fail("the screen did not come to rest")


MENU = Action.click(34, 30)
ACTIONS = [
    Action.type("2+3*4\n"),
    Action.type("x:=sin(0.5)\n"),
    MENU,
    Action.press("esc"),
    Action.hotkey("ctrl", "l"),  # a dialog opens
    Action.move_to(WIDTH // 2, HEIGHT // 2),
    Action.move_to(0, 0),
    Action.move_to(WIDTH - 1, HEIGHT - 1),
    Action.move_to(WIDTH - 1, 0),
]


def drag_window(client: VMAgentClient) -> None:
    """Drag the uppermost window by its title bar."""
    before = client.windows()[-1].extents
    act(client, Action.move_to(before.x_px + 60, before.y_px - 8))
    act(client, Action(Kind.MOUSE_DOWN))
    end = time.monotonic() + 20
    while client.windows()[-1].extents == before and time.monotonic() < end:
        act(client, Action.move_to(before.x_px - 30, before.y_px + 70))
        act(client, Action.move_to(before.x_px - 90, before.y_px + 90))
    assert client.windows()[-1].extents != before
    act(client, Action(Kind.MOUSE_UP))


def test_frames_are_exact_after_real_actions(desktop: VMAgentClient) -> None:
    act(desktop, Action.wait())
    assert_exact(desktop)
    for action in ACTIONS:
        act(desktop, action)
        assert_exact(desktop)
    drag_window(desktop)
    assert_exact(desktop)
    act(desktop, Action.press("esc"))
    assert_exact(desktop)


def test_only_what_changed_is_told(desktop: VMAgentClient) -> None:
    assert_exact(desktop)  # and at rest
    moved = act(desktop, Action.move_to(300, 300)).screenshot
    assert moved.base
    assert not moved.tiles, "the pointer is not in the image"
    opened = act(desktop, MENU).screenshot
    end = time.monotonic() + 20
    while not opened.tiles and time.monotonic() < end:
        opened = act(desktop, Action.wait()).screenshot
    area = sum(tile.place.width_px * tile.place.height_px for tile in opened.tiles)
    assert opened.base
    assert 0 < area < WIDTH * HEIGHT
    shared = opened.encoding == pb.Image.ENCODING_SHARED
    assert shared == (not any(tile.data for tile in opened.tiles))
    act(desktop, Action.press("esc"))


def test_an_unchanged_screen_is_the_same_frame(desktop: VMAgentClient) -> None:
    assert_exact(desktop)
    before = desktop.frame
    desktop.observe(LOOK)
    assert desktop.frame is before
    assert not before.flags.writeable


def test_images_that_were_lost_are_made_up_for(desktop: VMAgentClient) -> None:
    act(desktop, Action.wait())
    act(desktop, Action.type("7"))
    for text in ("8", "9"):
        lost = desktop._frames.request(LOOK)
        step = codec.pack_input(Action.type(text), (0, 0), WIDTH, HEIGHT)
        policy = pb.SettlePolicy(quiet_ms=100, deadline_ms=8000)
        desktop.step(step, policy, pb.ObserveRequest(), pb.ProbeRequest())
        assert desktop.send("Observe", lost).screenshot.base
    act(desktop, Action.wait())
    assert_exact(desktop)
    desktop.send("Observe", LOOK)  # and one over no image at all
    act(desktop, Action.press("backspace"))
    assert_exact(desktop)


def test_no_cell_sees_the_frames_memory(client: VMAgentClient) -> None:
    client.observe(LOOK)
    script = "ls -l /proc/[0-9]*/fd; cat /proc/[0-9]*/maps"
    result = client.execute(["sh", "-c", script], max_output_bytes=2**24)
    assert "pipe:" in result.stdout
    assert "memfd:sci-gym-frame" not in result.stdout


def test_only_the_daemon_and_its_x_server_hold_the_frames_memory(client: VMAgentClient) -> None:
    client.observe(LOOK)
    end = time.monotonic() + 20
    while len(holders()) > 2 and time.monotonic() < end:
        pass  # what the daemon starts is a copy of it until it has become its command
    assert "Xvfb" in holders()
    assert len(holders()) == 2, holders()


def holders() -> set[str]:
    """Names of the processes below this one that hold the frame's memory."""
    return {
        Path(f"/proc/{pid}/comm").read_text().strip()
        for pid in family(os.getpid()) - {os.getpid()}
        if any("memfd:sci-gym-frame" in held for held in held_by(pid))
    }


def held_by(pid: int) -> Iterator[str]:
    """Files that a process maps or has open; none when it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        yield Path(f"/proc/{pid}/maps").read_text()
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # the one that lists them is closed by then
                yield os.readlink(entry)


def test_nothing_is_left_of_the_memory() -> None:
    def play() -> None:
        machine = SandboxMachine(MachineSpec(width=640, height=480))
        client = VMAgentClient(machine.start())
        client.observe(LOOK)
        client.close()
        machine.stop()

    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), "".join(held_by(os.getpid())).count("memfd:sci-gym-frame")

    play()  # what gRPC and the starting thread open once
    before = held()
    play()
    end = time.monotonic() + 20
    while held() > before and time.monotonic() < end:
        pass
    assert held() <= before


def test_an_observation_is_the_callers_own(env: gym.Env[Any, Any]) -> None:
    env.reset(seed=3)
    first, *_ = env.step(Action.wait(0))
    kept = first["screenshot"].copy()
    first["screenshot"][:] = 7
    assert np.array_equal(env.unwrapped.last.screenshot, kept)  # type: ignore[attr-defined]
    second, *_ = env.step(Action.move_to(9, 9))
    assert (second["screenshot"][100:] == kept[100:]).mean() > 0.9


# --- a guest that lies ------------------------------------------------------------------------


def tile(x: int, y: int, width: int, height: int, data: bytes | None = None) -> pb.Tile:
    place = pb.Rect(x_px=x, y_px=y, width_px=width, height_px=height)
    return pb.Tile(place=place, data=bytes(abs(4 * width * height)) if data is None else data)


def image(*tiles: pb.Tile, base: int = 5, encoding: int = pb.Image.ENCODING_RAW, **fields: Any) -> pb.Image:
    sizes = {"width_px": 8, "height_px": 4, "generation": 6, **fields}
    return pb.Image(tiles=tiles, base=base, encoding=encoding, **sizes)  # type: ignore[arg-type]


def store(memory: mmap.mmap | None = None) -> FrameStore:
    """One that holds image 5, 8x4 pixels."""
    made = FrameStore(memory)
    pixels = bytes(range(128))
    made.apply(image(tile(0, 0, 8, 4, pixels), base=0, generation=5), pb.Pointer())
    return made


def bomb(size: int) -> bytes:
    return struct.pack("<I", size) + bytes(16)


LIES = {
    "another base": image(tile(0, 0, 1, 1), base=4),
    "tiles of no base": image(tile(0, 0, 1, 1), base=0),
    "another size": image(tile(0, 0, 1, 1), width_px=9),
    "no screen": image(width_px=0, base=0),
    "a huge screen": image(width_px=2**31, height_px=2**31, base=0),
    "a tile outside": image(tile(7, 0, 2, 1)),
    "a tile before": image(tile(-1, 0, 1, 1)),
    "a tile of nothing": image(tile(0, 0, 0, 1)),
    "a negative tile": image(tile(4, 3, -2, -2)),
    "too few bytes": image(tile(0, 0, 2, 2, b"abc")),
    "too many bytes": image(tile(0, 0, 1, 1, b"abcde")),
    "tiles that overlap": image(tile(0, 0, 8, 4), tile(0, 0, 1, 1)),
    "very many tiles": image(*[tile(0, 0, 1, 1)] * (MAX_TILES + 1)),
    "no encoding": image(tile(0, 0, 1, 1), encoding=pb.Image.ENCODING_NONE),
    "an unknown encoding": image(tile(0, 0, 1, 1), encoding=9),
    "no LZ4": image(tile(0, 0, 1, 1, b"\4\0\0\0\xff\xff"), encoding=pb.Image.ENCODING_LZ4),
    "LZ4 of another size": image(tile(0, 0, 1, 1, block.compress(bytes(8))), encoding=pb.Image.ENCODING_LZ4),
    "LZ4 that says less": image(tile(0, 0, 2, 1, bomb(4)), encoding=pb.Image.ENCODING_LZ4),
    "a bomb": image(tile(0, 0, 1, 1, bomb(2**30)), encoding=pb.Image.ENCODING_LZ4),
    "no memory": image(tile(0, 0, 1, 1, b""), encoding=pb.Image.ENCODING_SHARED),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_image_that_cannot_be_is_refused_and_changes_nothing(lie: str) -> None:
    held = store()
    before = held.frame.copy()
    with pytest.raises(ProtocolError, match="daemon: sent"):
        held.apply(LIES[lie], pb.Pointer())
    assert np.array_equal(held.frame, before)
    held.apply(image(tile(0, 0, 1, 1)), pb.Pointer())
    assert not held.frame[0, 0].any()


@pytest.mark.parametrize(
    "picture",
    [pb.Rect(width_px=2, height_px=2), pb.Rect(width_px=-1, height_px=-1), pb.Rect(width_px=2**30)],
)
def test_a_pointer_that_cannot_be_is_refused(picture: pb.Rect) -> None:
    with pytest.raises(ProtocolError, match="sent a pointer of 4 bytes"):
        store().apply(image(), pb.Pointer(picture=picture, pixels=b"abcd"))


def test_shared_pixels_are_refused_once_they_are_overwritten() -> None:
    memory = mmap.mmap(-1, memory_bytes(8, 4))
    held = store(memory)
    memory[:4] = b"\1\2\3\0"
    told = image(tile(0, 0, 1, 1, b""), encoding=pb.Image.ENCODING_SHARED)
    memory[-8:] = struct.pack("<Q", 7)
    with pytest.raises(ProtocolError, match="wrote image 7 over 6"):
        held.apply(told, pb.Pointer())
    memory[-8:] = struct.pack("<Q", 6)
    held.apply(told, pb.Pointer())
    assert list(held.frame[0, 0]) == [3, 2, 1]


def test_a_small_message_cannot_make_the_host_allocate_much() -> None:
    held = store()
    tracemalloc.start()
    try:
        for lie in LIES.values():
            with pytest.raises(ProtocolError):
                held.apply(lie, pb.Pointer())
        assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()


NUMBERS = st.one_of(st.integers(-2, 9), st.integers(-(2**31), 2**31 - 1))
TILES = st.builds(
    tile, NUMBERS, NUMBERS, st.integers(-2, 9), st.integers(-2, 9),
    st.one_of(st.none(), st.binary(max_size=64), st.binary(max_size=200).map(block.compress)),
)  # fmt: skip
IMAGES = st.builds(
    lambda tiles, **fields: image(*tiles, **fields),
    st.lists(TILES, max_size=5),
    base=st.sampled_from([0, 4, 5]),
    encoding=st.integers(0, 4),
    width_px=st.sampled_from([0, 8, 2**32 - 1]),
    height_px=st.sampled_from([0, 4, 2**32 - 1]),
    generation=st.integers(0, 2**64 - 1),
)
POINTERS = st.builds(
    lambda x, y, width, height, odd: pb.Pointer(
        picture=pb.Rect(x_px=x, y_px=y, width_px=width, height_px=height),
        pixels=bytes(4 * width * height + odd),
    ),
    NUMBERS, NUMBERS, st.integers(0, 9), st.integers(0, 9), st.sampled_from([0, 0, 0, 1]),
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(IMAGES, POINTERS, st.booleans())
def test_whatever_the_daemon_sends_is_a_frame_or_an_error_of_ours(
    told: pb.Image, pointer: pb.Pointer, shared: bool
) -> None:
    held = store(mmap.mmap(-1, memory_bytes(8, 4)) if shared else None)
    try:
        held.apply(told, pointer)
    except ProtocolError:
        assert held.frame.any()
    assert held.frame.shape == (4, 8, 3)


RECTANGLES = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 20), st.integers(0, 20)), max_size=90
)


@settings(deadline=None)
@given(RECTANGLES)
def test_changed_rectangles_cover_the_same_without_overlap(given_: list[tuple[int, int, int, int]]) -> None:
    def covered(rectangles: list[tuple[int, int, int, int]]) -> Frame:
        seen = np.zeros((80, 80), np.uint8)
        for x, y, width, height in rectangles:
            seen[y : y + height, x : x + width] += 1
        return seen

    kept = disjoint(given_)
    assert not any(overlap(one, other) for one in kept for other in kept if one is not other)
    assert (covered(kept) >= (covered(given_) > 0)).all()
    assert np.array_equal(covered(strips(kept, 30)), covered(kept))
