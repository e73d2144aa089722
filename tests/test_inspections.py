"""Commands that read what is stored: the policy's code alters the data, and nothing else of them."""

from __future__ import annotations

import time

import pytest

from sci_gym import codec
from sci_gym.client import VMAgentClient
from sci_gym.errors import ConfigurationError
from sci_gym.specs import Inspected, Inspection
from sci_gym_protos import vm_agent_pb2 as pb

SHELL = ("/bin/sh", "-s")

# Runs in an inspection, and prints a line for each door that it found open.
LOOK_ROUND = r"""
touch "$OLD/new" 2>/dev/null && echo "OPEN home"
ls -A /tmp | grep . && echo "OPEN tmp"
env | grep -E 'DISPLAY|DBUS|AT_SPI|XDG|EVIL' && echo "OPEN env"
ls -A /run/user/1000 | grep . && echo "OPEN sockets"
pgrep -f sleeper && echo "OPEN processes"
ipcs -m | grep 0x && echo "OPEN shared memory"
grep -v 'lo:' /proc/net/dev | tail -n +3 | grep . && echo "OPEN network"
cat /proc/net/unix | tail -n +2 | grep . && echo "OPEN abstract sockets"
echo "$HOME $PWD $PATH"
"""

# Alters what a careless command would take for its own: its folders, start-up files and variables.
POISON = r"""
mkdir -p ~/bin ~/.config ~/.local/lib/python3.11/site-packages
echo 'print("EVIL")' > ~/.local/lib/python3.11/site-packages/usercustomize.py
for name in .bashrc .profile .pythonrc; do echo 'echo EVIL' > ~/$name; done
printf '#!/bin/sh\necho EVIL\n' > ~/bin/cat; chmod +x ~/bin/cat
export EVIL=1 PATH=~/bin:$PATH BASH_ENV=~/.bashrc ENV=~/.profile
echo planted > /tmp/planted
"""


def probe(
    client: VMAgentClient, *asked: Inspection, limit_s: float = 10.0, fresh: bool = False
) -> list[Inspected]:
    request = codec.probe_request((), 0, asked, limit_s, fresh=fresh)
    found = codec.unpack_inspections(client.probe(request).inspections)
    return [found[one.name] for one in asked]


def shell(script: str, *watches: str, name: str = "one", **env: str) -> Inspection:
    return Inspection(name, SHELL, script.encode(), env, watches)


def run(client: VMAgentClient, script: str) -> None:
    assert client.execute(["/bin/bash", "-s"], stdin=script.encode()).exit_code == 0


def test_an_inspection_reads_the_home_and_can_reach_nothing_else(client: VMAgentClient) -> None:
    client.launch("sleeper", ["/bin/sh", "-c", "sleep 300; : sleeper"])
    run(client, POISON)
    (found,) = probe(client, shell(LOOK_ROUND, OLD="/home/user"))
    assert found.stdout.decode().splitlines() == ["/tmp /tmp /usr/bin:/bin"], found
    assert found.whole


def test_what_the_policy_plants_in_the_home_does_not_run(client: VMAgentClient) -> None:
    run(client, POISON)
    client.put_file("data", b"42\n")
    scripts = [
        shell("cat /home/user/data", name="cat"),
        Inspection("bash", ("/bin/bash", "-l"), b"cat /home/user/data"),
        Inspection("python", ("/usr/bin/python3", "-"), b"print(open('/home/user/data').read(), end='')"),
    ]
    assert [one.stdout for one in probe(client, *scripts)] == [b"42\n"] * 3


def test_it_runs_again_only_when_what_it_watches_has_changed(client: VMAgentClient) -> None:
    """The output is a new one at each run."""
    client.put_file("kept/data", b"1")
    once = shell("cat /proc/sys/kernel/random/uuid", "kept", "absent")
    (first,), (second,) = probe(client, once), probe(client, once)
    assert first.stdout == second.stdout
    client.put_file("elsewhere", b"1")
    assert probe(client, once)[0].stdout == first.stdout
    # The same size, and times set back to what they were: the kernel's own record tells.
    run(client, "cd ~/kept; touch -r data ../times; printf 2 > data; touch -r ../times data")
    (third,) = probe(client, once)
    assert third.stdout != first.stdout
    client.put_file("absent", b"")
    (fourth,) = probe(client, once)
    assert fourth.stdout != third.stdout
    assert probe(client, once, fresh=True)[0].stdout != fourth.stdout


def test_it_comes_in_the_round_trip_of_the_step(client: VMAgentClient) -> None:
    client.put_file("data", b"seen")
    asked = codec.probe_request((), 0, [shell("cat /home/user/data", "data")], 5.0, fresh=False)
    reply = client.step(pb.Input(), pb.SettlePolicy(deadline_ms=2000), pb.ObserveRequest(), asked)
    assert codec.unpack_inspections(reply.probe.inspections)["one"].stdout == b"seen"


def test_one_that_fails_or_hangs_says_so_and_no_step_fails(client: VMAgentClient) -> None:
    start = time.monotonic()
    failed, missing, hung, flooded = probe(
        client,
        shell("echo no >&2; exit 3", name="failed"),
        Inspection("missing", ("/usr/bin/there-is-none",)),
        shell("echo begun; sleep 100", name="hung"),
        Inspection("flooded", ("/usr/bin/head", "-c", "300000", "/dev/zero"), max_output_bytes=100_000),
        limit_s=3.0,
    )
    assert (failed.exit_code, failed.stderr, failed.whole) == (3, b"no\n", False)
    assert missing.exit_code != 0
    assert (hung.stdout, hung.timed_out, hung.whole) == (b"begun\n", True, False)
    assert (flooded.truncated, flooded.whole) == (True, False)
    assert len(flooded.stdout) <= 100_000
    assert time.monotonic() - start < 30, "one deadline holds for all of them together"


def test_a_fifo_or_a_link_in_what_is_watched_hangs_nothing(client: VMAgentClient) -> None:
    run(client, "mkdir ~/kept; mkfifo ~/kept/pipe; ln -s /proc ~/kept/all; ln -s ~/kept ~/kept/again")
    assert probe(client, shell("echo fine", "kept"))[0].stdout == b"fine\n"


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"name": ""}, "name"),
        ({"argv": []}, "argv"),
        ({"watches": ["../x"]}, "path"),
        ({"watches": ["a"] * 17}, "watches"),
        ({"max_output_bytes": 2**30}, "output"),
    ],
)
def test_one_that_cannot_be_is_refused(client: VMAgentClient, asked: dict[str, object], field: str) -> None:
    good = {"name": "one", "argv": ["true"]}
    with pytest.raises(ConfigurationError, match=field):
        client.probe(pb.ProbeRequest(inspections=[pb.Inspection(**{**good, **asked})]))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="name"):
        client.probe(pb.ProbeRequest(inspections=[pb.Inspection(**good)] * 2))  # type: ignore[arg-type]
