"""What is shipped, and who may import whom."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "sci_gym": ROOT / "sci_gym",
    "sci_gym.benchmarks": ROOT / "benchmarks",
    "sci_gym.envs": ROOT / "envs",
    "sci_gym.wrappers": ROOT / "wrappers",
    "sci_gym_protos": ROOT / "protos",
    "sci_gym_vm_agent": ROOT / "vm_agent",
}
# Lower layers first; a module may import its own layer and those before it.
LAYERS = [
    {"sci_gym_protos"},
    {
        "sci_gym.errors",
        "sci_gym.specs",
        "sci_gym.web",
        "sci_gym.templates",
        "sci_gym.stats",
        "sci_gym.claims",
    },
    {
        "sci_gym.app",
        "sci_gym.composition",
        "sci_gym.installation",
        "sci_gym.bounds",
        "sci_gym.images",
        "sci_gym.codec",
        "sci_gym.frames",
        "sci_gym.trees",
        "sci_gym.pixels",
        "sci_gym.evaluation",
        "sci_gym.observation",
        "sci_gym.machines.base",
        "sci_gym.drawing",
        "sci_gym.gallery",
    },
    {
        "sci_gym.client",
        "sci_gym.tasks",
        "sci_gym.spaces",
        "sci_gym.viewer",
        "sci_gym.watch",
        "sci_gym.layout",
    },
    {"sci_gym.guest_api", "sci_gym.machines", "sci_gym.scienceboard"},
    {"sci_gym.stage"},
    {"sci_gym.spares"},
    {"sci_gym.coordinator", "sci_gym.episode"},
    {"sci_gym.env"},
    {"sci_gym.cluster", "sci_gym.vector"},
    {"sci_gym.loader", "sci_gym.registration", "sci_gym.oracle"},
    {
        "sci_gym.data",
        "sci_gym.replay",
        "sci_gym.play",
        "sci_gym.verify",
        "sci_gym.doctor",
        "sci_gym.testing",
        "sci_gym.soak",
        "sci_gym.chaos",
        "sci_gym.console",
    },
    {"sci_gym.demo", "sci_gym.benchmarks"},
    {
        "sci_gym.data_cli",
        "sci_gym.image_cli",
        "sci_gym.import_cli",
        "sci_gym.tasks_cli",
        "sci_gym.verify_cli",
    },
    {"sci_gym.cli"},
]
APP_MAY = {
    "sci_gym.errors",
    "sci_gym.specs",
    "sci_gym.app",
    "sci_gym.composition",
    "sci_gym.installation",
    "sci_gym.evaluation",
    "sci_gym.scienceboard",
}
WRAPPER_MAY = {"sci_gym.errors", "sci_gym.specs"}


def modules() -> Iterator[tuple[str, Path]]:
    for package, folder in FOLDERS.items():
        for path in folder.rglob("*.py"):
            if "_pb2" not in path.name:
                parts = path.relative_to(folder).with_suffix("").parts
                yield ".".join([package, *parts]).removesuffix(".__init__"), path


def imports(path: Path) -> Iterator[str]:
    """What a module imports of ours, wherever it stands in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            known = {name for name, _ in modules()}
            yield from (names & known) or {node.module}
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def layer(module: str) -> int | None:
    for number, members in enumerate(LAYERS):
        if any(module == member or module.startswith(f"{member}.") for member in members):
            return number
    return None


def test_imports_point_down_only() -> None:
    wrong = []
    for module, path in modules():
        own = layer(module)
        for imported in imports(path):
            theirs = layer(imported)
            if own is not None and theirs is not None and theirs > own:
                wrong.append(f"{module} imports {imported}")
    assert not wrong


def test_every_module_of_the_host_has_a_layer() -> None:
    others = {"sci_gym", "sci_gym.envs", "sci_gym.wrappers"}
    homeless = [
        name
        for name, _ in modules()
        if name.startswith("sci_gym.") and layer(name) is None and ".".join(name.split(".")[:2]) not in others
    ]
    assert not homeless


def test_apps_and_wrappers_import_only_what_they_may() -> None:
    wrong = []
    for module, path in modules():
        parts = module.split(".")
        if parts[:2] == ["sci_gym", "envs"] and len(parts) > 2:
            allowed = {*APP_MAY, ".".join(parts[:3])}
        elif parts[:2] == ["sci_gym", "wrappers"]:
            allowed = {*WRAPPER_MAY, "sci_gym.wrappers"}
        else:
            continue
        for imported in imports(path):
            ours = imported.startswith("sci_gym")
            if ours and not any(imported == one or imported.startswith(f"{one}.") for one in allowed):
                wrong.append(f"{module} imports {imported}")
    assert not wrong


def test_the_daemon_imports_only_the_wire_and_the_platform() -> None:
    allowed = {"sci_gym_protos", "sci_gym_vm_agent", "grpc", "Xlib", "google", "lz4"}
    for module, path in modules():
        if module.startswith("sci_gym_vm_agent"):
            tops = {name.split(".")[0] for name in imports(path)} - {"__future__"}
            assert tops <= allowed | set(sys.stdlib_module_names), module


def test_the_daemon_is_written_for_an_older_python() -> None:
    for folder in (ROOT / "vm_agent", ROOT / "protos"):
        for path in folder.glob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 9))


def test_importing_sci_gym_loads_nothing_heavy() -> None:
    heavy = {"torch", "ray", "libvirt", "grpc", "mpmath", "rich", "PIL"}
    script = f"import sys, sci_gym; print(*sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == ""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True, timeout=200)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path).namelist()


def test_the_wheel_has_the_four_names_and_no_other(wheel: list[str]) -> None:
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "sci_gym",
        "sci_gym_protos",
        "sci_gym_vm_agent",
    }
    assert len(tops) == 4


def test_the_wheel_has_all_modules_and_data(wheel: list[str]) -> None:
    shipped = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in wheel}
    assert {name for name, _ in modules()} <= shipped
    pages = ("replay.html", "viewer.html", "watch.html", "data.html", "page.html", "colours.css", "task.toml")
    templates = [f"templates/{name}" for name in pages]
    for data in (
        "py.typed",
        "envs/kalgebra/guest/plots.c",
        "images/guest/finish.sh",
        "images/guest/sci-gym.service",
        *templates,
    ):
        assert f"sci_gym/{data}" in wheel
    assert "sci_gym_protos/vm_agent.proto" in wheel
    assert sum(name.startswith("sci_gym/envs/kalgebra/tasks/") for name in wheel) >= 15
