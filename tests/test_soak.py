"""The soak on the real program: a short one holds, and it can fail."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import Any

import gymnasium as gym

from sci_gym.client import VMAgentClient
from sci_gym.soak import Report, soak
from sci_gym.soak.compare import compare_trees, differences
from sci_gym.stage import Timing
from sci_gym_protos import vm_agent_pb2 as pb
from tests.test_cli import run

TIMING = Timing(code_s=5.0)


class Littering(gym.Wrapper[Any, Any, Any, Any]):
    """Leaves a folder and a socket behind at each reset, and has one observation outside its space."""

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**options)
        self.folder = tempfile.mkdtemp(prefix="sci-gym-")
        self.socket = socket.socketpair()
        return {**observation, "instruction": 7}, info


def make() -> gym.Env[Any, Any]:
    return gym.make(
        "SciBoard-KAlgebra-v0", resolution=(1280, 800), interface="hybrid", timing=TIMING,
        disable_env_checker=True,
    )  # fmt: skip


def test_a_short_soak_holds() -> None:
    status, report = run("soak", "--resets", "2", "--steps", "20", "--compare-every", "5", timeout=290)
    assert status == 0, report
    assert report["misses"] == 0
    assert report["resets"] >= 2
    assert report["steps"] == 20
    assert report["comparisons"] >= 1
    assert set(report["memory_mib"]) == {"host", "daemon"}


def test_ctrl_c_ends_a_soak_with_what_it_met() -> None:
    def interrupt(so_far: Report) -> None:
        raise KeyboardInterrupt

    report = soak(make, resets=10, steps=30, tell=interrupt)
    assert report.interrupted
    assert (report.resets, report.steps) == (1, 3)
    assert report.misses == []


def test_the_soak_finds_what_is_left_behind() -> None:
    made: list[Littering] = []

    def litter() -> gym.Env[Any, Any]:
        made.append(Littering(make()))
        return made[-1]

    report = soak(litter, resets=1, steps=1)
    Path(made[0].folder).rmdir()
    Path(made[1].folder).rmdir()
    assert any("outside its space" in fault for fault in report.faults), report
    assert [leak for leak in report.leaks if made[1].folder in leak], report
    assert [leak for leak in report.leaks if leak.startswith("sockets: ")], report


def test_a_stale_tree_is_found(kalgebra: VMAgentClient) -> None:
    assert compare_trees(kalgebra) == []
    stale = kalgebra.tree.showing
    kalgebra.step(
        pb.Input(kind=pb.Input.KIND_TYPE, text="12"),
        pb.SettlePolicy(quiet_ms=80, deadline_ms=5000),
        pb.ObserveRequest(tree=pb.ObserveRequest.TREE_ALL),
        pb.ProbeRequest(),
    )
    assert any("fresh only" in one for one in differences(stale, kalgebra.tree.showing))
    assert compare_trees(kalgebra) == []
