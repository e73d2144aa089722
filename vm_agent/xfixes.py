"""Requests of XFixes 2 that python-xlib lacks, or whose replies it takes apart number by number."""

from __future__ import annotations

import struct
from typing import Any

from Xlib.ext import xfixes
from Xlib.protocol import rq, structs

_RECTANGLE = struct.Struct("=hhHH")


class _GetCursorImage(rq.ReplyRequest):  # type: ignore[misc]
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(4), rq.RequestLength())
    _reply = rq.Struct(
        rq.ReplyCode(), rq.Pad(1), rq.Card16("sequence_number"), rq.ReplyLength(),
        rq.Int16("x"), rq.Int16("y"), rq.Card16("width"), rq.Card16("height"),
        rq.Card16("xhot"), rq.Card16("yhot"), rq.Card32("serial"), rq.Pad(8), rq.Binary("pixels"),
    )  # fmt: skip


class _CreateRegion(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(
        rq.Card8("opcode"), rq.Opcode(5), rq.RequestLength(),
        rq.Card32("region"), rq.List("rectangles", structs.Rectangle),
    )  # fmt: skip


class _FetchRegion(rq.ReplyRequest):  # type: ignore[misc]
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(19), rq.RequestLength(), rq.Card32("region"))
    _reply = rq.Struct(
        rq.ReplyCode(), rq.Pad(1), rq.Card16("sequence_number"), rq.ReplyLength(),
        rq.Pad(24), rq.Binary("rectangles"),
    )  # fmt: skip


def cursor_image(display: Any) -> Any:
    """The pointer's x, y, width, height, xhot, yhot, and pixels (bytes: BGRA, premultiplied by alpha)."""
    wire = display.display
    return _GetCursorImage(display=wire, opcode=wire.get_extension_major(xfixes.extname))


def create_region(display: Any) -> int:
    """The id of a new region, which is empty."""
    wire = display.display
    region = int(wire.allocate_resource_id())
    _CreateRegion(display=wire, opcode=wire.get_extension_major(xfixes.extname), region=region, rectangles=[])
    return region


def fetch_region(display: Any, region: int) -> list[tuple[int, int, int, int]]:
    """The rectangles (x, y, width, height) of a region, which do not overlap."""
    wire = display.display
    reply = _FetchRegion(display=wire, opcode=wire.get_extension_major(xfixes.extname), region=region)
    return list(_RECTANGLE.iter_unpack(reply.rectangles))
