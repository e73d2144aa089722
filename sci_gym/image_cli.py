"""The command line's `sci-gym image build | add | daemon | list | show | rm`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sci_gym.console import Json, err, out, print_json
from sci_gym.errors import ConfigurationError
from sci_gym.images import Image, Recipe, add_image, build, image_named, images, write_daemon
from sci_gym.images.builder import STEPS
from sci_gym.images.recipe import BASE, PYTHON
from sci_gym.loader import app_names, load_app

image_app = typer.Typer(no_args_is_help=True, help="Guests of virtual machines.")

Key = Annotated[str, typer.Argument(help="Its key, or how that begins.")]


@image_app.command("build")
def image_build(
    apps: Annotated[
        list[str] | None, typer.Option("--app", help="Hold this app's programs; all by default.")
    ] = None,
    installers: Annotated[
        list[str] | None, typer.Option("--installer", help="NAME=FILE.deb, of no repository.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Build a guest from the distribution's packages; one that is there already is told at once."""
    chosen = [load_app(name) for name in apps or app_names()]
    packages = {one.package for app in chosen for one in app.requirements if one.package}
    files = dict(_installer(text) for text in installers or ())
    recipe = Recipe(tuple(sorted(packages)), files)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        bar = progress.add_task("looking for the image", total=len(STEPS))

        def tell(step: str) -> None:
            progress.update(bar, description=step, completed=STEPS.index(step))

        image = build(recipe, tell)
        progress.update(bar, description=f"image {image.key}", completed=len(STEPS))
    _tell(image, as_json)


@image_app.command("add")
def image_add(
    disk: Annotated[Path, typer.Argument(help="What qemu-img reads, such as a qcow2 file.")],
    apps: Annotated[
        list[str] | None, typer.Option("--app", help="It holds this app's programs; all by default.")
    ] = None,
    kernel: Annotated[Path | None, typer.Option(help="To boot; else the disk boots by itself.")] = None,
    initrd: Annotated[Path | None, typer.Option(help="The kernel's first file system.")] = None,
    append: Annotated[str, typer.Option(help="Arguments of the kernel, such as root=/dev/vda.")] = "",
    as_json: Json = False,
) -> None:
    """Add a guest of your own, on which the archive of `sci-gym image daemon` was unpacked."""
    chosen = [load_app(name) for name in apps or app_names()]
    packages = {one.package for app in chosen for one in app.requirements if one.package}
    _tell(add_image(disk, [*BASE, *packages], kernel, initrd, append), as_json)


@image_app.command("daemon")
def image_daemon(
    archive: Annotated[Path, typer.Argument(help="The tar file to write.")],
    python: Annotated[str, typer.Option(help="The guest's version of Python.")] = PYTHON,
    as_json: Json = False,
) -> None:
    """Write what a guest of your own needs: in it, run `tar -C / -xf ARCHIVE` as root."""
    write_daemon(archive, python)
    if as_json:
        print_json({"archive": str(archive), "packages": list(BASE)})
        return
    out.print(f"In the guest, with systemd and as root:\n  apt-get install {' '.join(BASE)}", highlight=False)
    out.print(f"  tar -C / -xf {archive.name}", highlight=False)


@image_app.command("list")
def image_list(as_json: Json = False) -> None:
    """List the images, the newest first."""
    known = images()
    if as_json:
        print_json({"images": [one.as_dict() for one in known]})
        return
    table = Table("key", "size (MiB)", "daemon", "built in (s)", "packages", title=f"{len(known)} images")
    for one in known:
        daemon = "this version's" if one.current else "[yellow]another version's"
        table.add_row(
            one.key, f"{one.size_bytes / 2**20:.0f}", daemon, f"{one.build_s:.0f}", ", ".join(one.packages)
        )
    out.print(table)


@image_app.command("show")
def image_show(key: Key, as_json: Json = False) -> None:
    """Tell all of one image."""
    _tell(image_named(key), as_json)


@image_app.command("rm")
def image_rm(key: Key, as_json: Json = False) -> None:
    """Delete an image, and the states of machines that are kept beside it."""
    image = image_named(key)
    freed = image.size_bytes
    image.remove()
    if as_json:
        print_json({"removed": image.key, "freed_bytes": freed})
    else:
        out.print(f"removed {image.key}, {freed / 2**20:.0f} MiB")


def _installer(text: str) -> tuple[str, Path]:
    name, _, path = text.partition("=")
    if not name.isidentifier() or not path.endswith(".deb"):
        raise ConfigurationError(f"installer: must be NAME=FILE.deb, not {text!r}")
    return name, Path(path)


def _tell(image: Image, as_json: bool) -> None:
    if as_json:
        print_json(image.as_dict())
        return
    for name, value in image.as_dict().items():
        shown = ", ".join(value) if isinstance(value, tuple) else value
        out.print(f"[bold]{name}[/] {shown}", highlight=False, soft_wrap=True)
