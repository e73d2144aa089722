"""Start-up modules in Python: loaded into a program as it is, reporting over the channel of those in C."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from sci_gym.client import VMAgentClient
from sci_gym.errors import ConfigurationError
from sci_gym.loader import load_app
from sci_gym_protos import vm_agent_pb2 as pb

MODULE = """
import json, os, sys
descriptor = os.environ.pop("SCI_GYM_STATE_FD", None)
if descriptor is not None:
    def report(**values):
        os.write(int(descriptor), (json.dumps(values) + "\\n").encode())
    report(what="start", before_main=not hasattr(sys.modules["__main__"], "done"))
    report(what="path", path=[one for one in sys.path if "preloads" in one][:1])
    import builtins
    builtins.report = report
"""
WITNESS = "memfd:sci-gym-witness"
PROGRAM = """
import subprocess, sys, time
done = True
report(what="main", saw=sys.argv[1:])
child = "import usercustomize, builtins; assert not hasattr(builtins, 'report')"
subprocess.run([sys.executable, "-c", child], check=True)
report(what="main", saw=["a child"])
time.sleep(300)
"""
TRUNCATING = """
import os, time
try:
    os.ftruncate(int(os.environ["SCI_GYM_WITNESS_FD"]), 0)
    report(what="main", saw="")
except OSError as error:
    report(what="main", saw=type(error).__name__)
time.sleep(300)
"""


def state(client: VMAgentClient) -> list[str]:
    return [line for one in client.probe(pb.ProbeRequest()).programs for line in one.state]


def test_a_python_module_is_loaded_first_and_reports(client: VMAgentClient) -> None:
    client.launch("program", ["/usr/bin/python3", "-c", PROGRAM, "a"], preload_py=MODULE)
    wanted = '{"what": "main", "saw": ["a child"]}'
    for _ in range(200):
        if wanted in (lines := state(client)):
            break
        client.step(
            pb.Input(), pb.SettlePolicy(deadline_ms=500, change_ms=50), pb.ObserveRequest(), pb.ProbeRequest()
        )
    assert lines[0] == '{"what": "start", "before_main": true}'
    assert "preloads" in lines[1]
    assert lines[2:] == [wanted], "a line replaces the earlier one that starts with the same member"


def test_no_other_program_loads_it(client: VMAgentClient) -> None:
    client.launch("program", ["/usr/bin/python3", "-c", "input()"], preload_py=MODULE)
    result = client.execute(["/usr/bin/python3", "-c", "import sys; print('usercustomize' in sys.modules)"])
    assert result.stdout == "False\n"


@pytest.mark.parametrize("app", ["kalgebra", "texstudio"])
def test_a_qt_program_counts_the_changes_of_its_items(client: VMAgentClient, app: str) -> None:
    """It has the memory mapped to count in, which nothing that it starts can write to."""
    (program,) = load_app(app).programs
    client.launch(
        program.name, program.argv, env=program.env, **program.module, register_s=program.register_s,
        max_launches=3,
    )  # fmt: skip
    told = [one for one in psutil.Process().children(recursive=True) if WITNESS in maps_of(one)]
    assert [one.name() for one in told if app in one.name()]
    assert not [one for one in told if app in one.name() and WITNESS in descriptors_of(one)]


def test_another_program_is_left_as_it_is(client: VMAgentClient) -> None:
    client.launch("program", ["/usr/bin/python3", "-c", "input()"])
    others = [one for one in psutil.Process().children(recursive=True) if one.cmdline()[-1:] == ["input()"]]
    assert others
    assert not [one for one in others if WITNESS in maps_of(one)]


def test_what_inherits_the_count_cannot_take_its_memory_away(client: VMAgentClient) -> None:
    """The daemon would die of it, and an episode with it that the policy does not like."""
    client.launch("program", ["/usr/bin/python3", "-c", TRUNCATING], preload_py=MODULE)
    wanted = '{"what": "main", "saw": "PermissionError"}'
    for _ in range(200):
        if wanted in (lines := state(client)):
            break
        client.step(
            pb.Input(), pb.SettlePolicy(deadline_ms=500, change_ms=50), pb.ObserveRequest(), pb.ProbeRequest()
        )
    assert wanted in lines
    client.observe(pb.ObserveRequest(tree=pb.ObserveRequest.TREE_ALL))


@pytest.mark.parametrize("app", ["kalgebra", "texstudio", "grass_gis"])
def test_what_a_program_starts_cannot_report_in_its_name(client: VMAgentClient, app: str) -> None:
    """It inherits no channel: neither a compiler that TeXstudio runs, nor a command in GRASS's console."""
    (program,) = load_app(app).programs
    client.launch(
        program.name, program.argv, env=program.env, **program.module, register_s=program.register_s,
        max_launches=3,
    )  # fmt: skip
    told = [one for one in psutil.Process().children(recursive=True) if channel_of(one)]
    assert told
    for one in told:
        info = Path(f"/proc/{one.pid}/fdinfo/{channel_of(one)}").read_text()
        assert int(info.partition("flags:")[2].split()[0], 8) & os.O_CLOEXEC


def maps_of(process: psutil.Process) -> str:
    return Path(f"/proc/{process.pid}/maps").read_text()


def descriptors_of(process: psutil.Process) -> str:
    folder = Path(f"/proc/{process.pid}/fd")
    return " ".join(os.readlink(one) for one in folder.iterdir())


def channel_of(process: psutil.Process) -> str:
    try:
        return process.environ().get("SCI_GYM_STATE_FD", "")
    except psutil.Error:
        return ""


@pytest.mark.parametrize("source", ["def f(:", "x" * (2**20 + 1)])
def test_what_is_no_python_is_refused(client: VMAgentClient, source: str) -> None:
    with pytest.raises(ConfigurationError, match="preload_py"):
        client.launch("program", ["/usr/bin/python3"], preload_py=source)
    with pytest.raises(ConfigurationError, match="preload_py"):
        client.launch("program", ["/usr/bin/python3"], preload_py="x = 1", preload_c="int x;")
