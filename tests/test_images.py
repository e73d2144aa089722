"""Images: keys, the store, the initrd; and that a build which fails leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sci_gym.chaos.stage import wait_until
from sci_gym.claims import remove_orphans
from sci_gym.cli import app
from sci_gym.errors import ConfigurationError, LaunchError, MissingDependencyError, UnknownNameError
from sci_gym.images import Image, Recipe, build, builder, find_image, image_named, images, missing
from sci_gym.images import recipe as recipes
from sci_gym.images.initrd import make_initrd
from sci_gym.images.recipe import daemon_digest
from sci_gym.images.store import cache_folder, save_manifest
from tests.processes import named
from tests.test_cli import SCI_GYM

_BEGUN_S, _GONE_S = 60.0, 60.0


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "sci_gym" / "images"


def put(key: str, packages: tuple[str, ...] = ("kalgebra",), made_s: float = 1.0, daemon: str = "") -> Image:
    folder = cache_folder() / key
    folder.mkdir()
    image = Image(key, folder, packages, (), daemon or daemon_digest(), made_s, 10.0)
    save_manifest(image, folder)
    (image.disk).write_bytes(b"x" * 4096)
    return image


def test_a_key_tells_what_is_inside(tmp_path: Path) -> None:
    installer = tmp_path / "one.deb"
    installer.write_bytes(b"1")
    recipe = Recipe(("kalgebra", "tcc"))
    with_installer = replace(recipe, installers={"one": installer})
    key = with_installer.key
    assert recipe.key == Recipe(("tcc", "kalgebra")).key
    assert len({recipe.key, Recipe(("tcc",)).key, key}) == 3
    installer.write_bytes(b"2")
    assert with_installer.key != key


def test_the_newest_image_that_holds_the_packages_is_found() -> None:
    put("aa11", ("kalgebra", "tcc"), made_s=1.0)
    put("bb22", ("tcc",), made_s=2.0)
    put("cc33", ("kalgebra", "tcc"), made_s=3.0, daemon="another")
    assert find_image(["kalgebra"]).key == "aa11"
    assert find_image(()).key == "bb22"
    assert [one.key for one in images()] == ["cc33", "bb22", "aa11"]
    with pytest.raises(MissingDependencyError, match="sci-gym image build"):
        find_image(["texstudio"])


def test_what_is_no_whole_image_is_none(cache: Path) -> None:
    put("aa11")
    (cache_folder() / ".draft-zz").mkdir()
    (cache_folder() / "bb22").mkdir()
    (cache_folder() / "bb22" / "image.json").write_text("{}")
    assert [one.key for one in images()] == ["aa11"]


def test_an_image_is_named_by_how_its_key_begins() -> None:
    put("aa11")
    put("aa22")
    assert image_named("aa1").key == "aa11"
    for name in ("aa", "b", ""):
        with pytest.raises(UnknownNameError):
            image_named(name)


def test_the_command_line_lists_shows_and_removes(cache: Path) -> None:
    image = put("aa11")
    run = CliRunner().invoke
    (listed,) = json.loads(run(app, ["image", "list", "--json"]).stdout)["images"]
    assert (listed["key"], listed["current"]) == ("aa11", True)
    assert json.loads(run(app, ["image", "show", "aa", "--json"]).stdout)["packages"] == ["kalgebra"]
    assert json.loads(run(app, ["image", "rm", "aa11", "--json"]).stdout)["removed"] == "aa11"
    assert not image.folder.exists()
    assert not any(cache.iterdir())


def test_an_image_that_is_there_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe(("kalgebra",))
    put(recipe.key)
    monkeypatch.setattr(builder, "run_command", lambda *_: pytest.fail("it was built"))
    assert build(recipe).key == recipe.key


def test_a_build_that_fails_tells_why_and_leaves_nothing(
    cache: Path, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing():
        pytest.skip(f"needs {', '.join(missing())}")
    monkeypatch.setattr(builder, "collect_daemon", lambda *_: None)
    recipe = Recipe(("no-such-package-anywhere",))
    monkeypatch.setattr(recipes, "SUITE", "no-such-suite")
    with pytest.raises(LaunchError, match="mmdebstrap ended with"):
        build(recipe)
    assert [path.suffix for path in cache.iterdir()] == [".lock"]
    assert not list(folders.glob("sci-gym-image-*"))
    assert images() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.timeout(300)
def test_a_build_that_is_interrupted_leaves_nothing(
    cache: Path, tmp_path: Path, folders: Path, number: int
) -> None:
    if missing():
        pytest.skip(f"needs {', '.join(missing())}")
    command = [str(SCI_GYM), "image", "build", "--app", "kalgebra"]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(folders)}
    build = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert wait_until(lambda: [*folders.glob("*/mmdebstrap.*/var/lib/dpkg")], _BEGUN_S)
        build.send_signal(number)
        assert build.wait(_GONE_S) != 0
    finally:
        build.kill()
        build.wait()
    assert wait_until(lambda: not named(str(folders)), _GONE_S), named(str(folders))
    remove_orphans("sci-gym-image-", folders)
    remove_orphans(".draft-", cache)
    assert not list(folders.iterdir())
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_an_installer_must_be_there() -> None:
    with pytest.raises(ConfigurationError, match="no file"):
        build(Recipe((), {"chimerax": Path("/nowhere.deb")}))


def test_an_initrd_loads_drivers_after_what_they_need(tmp_path: Path) -> None:
    modules = tmp_path / "lib" / "modules" / "6.1"
    modules.mkdir(parents=True)
    (modules / "modules.builtin").write_text("kernel/fs/ext4/ext4.ko\nkernel/crc32c_generic.ko\n")
    needs = {"virtio_pci": "virtio", "virtio_blk": "virtio", "virtio_net": "", "virtio-rng": "", "virtio": ""}
    for name, other in needs.items():
        (modules / f"{name}.ko").write_bytes(b"ELF\0depends=" + other.encode() + b"\0")
    busybox = tmp_path / "busybox"
    busybox.write_bytes(b"box")
    archive = make_initrd(tmp_path, busybox, busybox)
    order = b"virtio.ko\nvirtio_pci.ko\nvirtio_blk.ko\nvirtio_net.ko\nvirtio-rng.ko\n"
    assert order in archive
    assert archive.startswith(b"070701")
    assert b"TRAILER!!!" in archive
    assert len(archive) % 4 == 0


def test_an_initrd_without_a_driver_is_refused(tmp_path: Path) -> None:
    modules = tmp_path / "lib" / "modules" / "6.1"
    modules.mkdir(parents=True)
    (modules / "modules.builtin").write_text("")
    with pytest.raises(ConfigurationError, match="virtio_pci"):
        make_initrd(tmp_path, modules / "modules.builtin", modules / "modules.builtin")
