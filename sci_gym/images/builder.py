"""Building an image, without root and without a hand: mmdebstrap, mke2fs, dpkg-deb, qemu-img.

All of it happens in folders that are removed whatever happens; the last act renames the whole image into its
place.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from sci_gym.claims import draft, locked
from sci_gym.errors import ConfigurationError, LaunchError, MissingDependencyError
from sci_gym.images import recipe as recipes
from sci_gym.images.initrd import make_initrd
from sci_gym.images.recipe import Recipe
from sci_gym.images.store import Image, cache_folder, images, save_manifest

STEPS = (
    "collecting the daemon's packages",
    "installing Debian packages and making the disk",
    "making the initrd",
    "packing the disk",
)
_COMMANDS = {
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "dpkg-deb": "dpkg",
    "qemu-img": "qemu-utils",
    "setpriv": "util-linux",
}
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_PREFIX = "sci-gym-image-"
LONGEST_S = 3600.0
_MINDER = Path(__file__).with_name("_minder.py")
_LEFT_OUT = ("man", "doc", "locale", "info", "lintian", "help")


def missing() -> dict[str, str]:
    """What a build needs and this host lacks: command to Debian package."""
    needed = _COMMANDS if os.geteuid() == 0 else {**_COMMANDS, "newuidmap": "uidmap"}
    lacking = {command: package for command, package in needed.items() if not _found(command)}
    if not _KEYRING.exists():
        lacking[str(_KEYRING)] = "debian-archive-keyring"
    return lacking


def build(recipe: Recipe, tell: Callable[[str], None] = lambda step: None) -> Image:
    """The image of a recipe: the one that is there, or a new one, which takes minutes.

    Args:
        recipe: what it holds.
        tell: called with each of `STEPS` as it begins.

    Raises:
        MissingDependencyError: a command is not installed; the message says how to get it.
        ConfigurationError: an installer's file is not there, or this user has no ids for the guest's users.
        LaunchError: a command failed; the message ends with what it said.
    """
    for name, path in recipe.installers.items():
        if not path.is_file():
            raise ConfigurationError(f"installer {name}: there is no file {path}")
    key = recipe.key
    with locked(cache_folder() / f"{key}.lock", LONGEST_S):
        known = next((one for one in images() if one.key == key), None)
        return known or _build(recipe, key, tell)


def _build(recipe: Recipe, key: str, tell: Callable[[str], None]) -> Image:
    lacking = missing()
    if lacking:
        raise MissingDependencyError.of("building an image", lacking)
    _check_ids()
    start_s = time.monotonic()
    with _drafts() as (work, out), draft(cache_folder(), ".draft-") as kept:
        image = kept / key
        image.mkdir()
        tell(STEPS[0])
        with tarfile.open(work / "daemon.tar", "w") as archive:
            collect_daemon(work, archive, "", recipes.PYTHON)
        tell(STEPS[1])
        _install(recipe, work, out)
        tell(STEPS[2])
        _take_kernel(work, out, image)
        tell(STEPS[3])
        pack_disk(out / "disk.raw", image, work)
        made = Image(
            key, cache_folder() / key, recipe.all_packages, tuple(recipe.installers),
            recipes.daemon_digest(), time.time(), time.monotonic() - start_s,
        )  # fmt: skip
        save_manifest(made, image)
        image.rename(made.folder)
    return made


def _check_ids() -> None:
    """Check that an ordinary user has ids to give to the guest's users."""
    user = pwd.getpwuid(os.geteuid()).pw_name if os.geteuid() else ""
    for path in (Path("/etc/subuid"), Path("/etc/subgid")):
        owners = {line.split(":")[0] for line in path.read_text().splitlines()} if path.exists() else set()
        if user and not owners & {user, str(os.geteuid())}:
            raise ConfigurationError(
                f"building an image: {path} gives {user} no ids for the guest's users; give some with: sudo "
                f"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}"
            )


@contextlib.contextmanager
def _drafts() -> Iterator[tuple[Path, Path]]:
    """A folder of ours, and one in it that the guest's root, another user here, can write to.

    Nobody else can list the outer one, and the inner one's name cannot be guessed.
    """
    with draft(Path(tempfile.gettempdir()), _PREFIX) as work:
        work.chmod(0o711)
        out = work / secrets.token_hex(16)
        out.mkdir()
        out.chmod(0o777)
        yield work, out


def pack_disk(disk: Path, image: Path, work: Path) -> None:
    """Put a disk into the folder of an image."""
    run_command(["qemu-img", "convert", "-O", "qcow2", str(disk), str(image / "disk.qcow2")], work)


def collect_daemon(work: Path, archive: tarfile.TarFile, prefix: str, python: str) -> None:
    """Put the daemon and what it imports into an archive that root owns.

    Args:
        work: an empty folder for pip.
        archive: to add to.
        prefix: of the names in it.
        python: the guest's version of Python.
    """
    target = work / "packages"
    major, minor = recipes.GLIBC
    platforms = [f"manylinux_{major}_{old}_x86_64" for old in range(minor, 16, -1)]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    command += ["--only-binary=:all:", "--python-version", python, "--target", str(target)]
    for platform in (*platforms, "manylinux2014_x86_64", "any"):
        command += ["--platform", platform]
    run_command([*command, *recipes.python_packages()], work)
    archive.add(target, f"{prefix}sci-gym/packages", filter=owned_by_root)
    for name, path in recipes.daemon_files():
        archive.add(path, f"{prefix}sci-gym/{name}", filter=owned_by_root)


def owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Have an entry belong to root, and everyone read it."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mode |= 0o755 if entry.isdir() else 0o644
    return entry


def _install(recipe: Recipe, work: Path, out: Path) -> None:
    """Make the guest's disk."""
    script = out / "finish.sh"
    shutil.copy(recipes.GUEST / "finish.sh", script)
    script.chmod(0o755)
    command = ["mmdebstrap", "--variant=apt", "--aptopt=APT::Install-Recommends false"]
    command += [f"--include={','.join(recipe.all_packages)}"]
    command += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _LEFT_OUT]
    command += [f"--customize-hook=tar-in {work / 'daemon.tar'} /opt"]
    if recipe.installers:
        (work / "installers").mkdir()
        for name, path in recipe.installers.items():
            shutil.copy(path, work / "installers" / f"{name}.deb")
        command += [f"--customize-hook=copy-in {work / 'installers'} /opt"]
    command += [f"--customize-hook={script}", recipes.SUITE, "/dev/null"]
    run_command(command, work, {"OUT": str(out), "KERNEL": recipes.KERNEL, "SIZE": recipes.DISK})


def _take_kernel(work: Path, out: Path, image: Path) -> None:
    kernel = work / "kernel"
    run_command(["dpkg-deb", "-x", str(out / "kernel.deb"), str(kernel)], work)
    (boot,) = (kernel / "boot").glob("vmlinuz-*")
    shutil.copy(boot, image / "vmlinuz")
    (image / "initrd").write_bytes(make_initrd(kernel, out / "busybox", recipes.GUEST / "init.sh"))


def run_command(command: Sequence[str], work: Path, env: Mapping[str, str] | None = None) -> None:
    """Run a command of the build; what it says is told only when it fails.

    It ends with all that it started when this process ends in any way, and cleans up after itself then.
    """
    minded = [sys.executable, "-IS", str(_MINDER), *command]
    variables = {**os.environ, "PATH": _path(), "TMPDIR": str(work), **(env or {})}
    with (work / "log").open("w+b") as log:
        process = subprocess.Popen(
            minded, stdin=subprocess.PIPE, stdout=log, stderr=log, env=variables, start_new_session=True
        )
        try:
            process.wait(LONGEST_S)
        except subprocess.TimeoutExpired as error:
            raise LaunchError("image", f"{command[0]} was not done within {LONGEST_S:.0f} s") from error
        finally:
            assert process.stdin is not None  # it is piped
            process.stdin.close()
            process.wait()
        if process.returncode:
            log.seek(0)
            said = log.read().decode(errors="replace")[-2000:]
            raise LaunchError("image", f"{command[0]} ended with {process.returncode}; its log ends: {said}")


def _found(command: str) -> bool:
    return shutil.which(command, path=_path()) is not None


def _path() -> str:
    """Where commands are; an ordinary user's PATH may lack those of the system."""
    return f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
