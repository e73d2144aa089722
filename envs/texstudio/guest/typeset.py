"""Typesets a LaTeX document of the home in private, and prints as JSON what stands on its pages.

Run in the guest, by the distribution's Python, with the home read only and a /tmp of its own. Its arguments
are paths in the home: the document, and files beside it that it needs, or PDFs to look at. What is printed:

    {"source": sha256 of the document, "error": "" or what TeX complains of first,
     "aux": TeX's own notes of sections, captions, labels and citations,
     "graphics": names of the files that were drawn,
     "pages": [{"words": [[text, left, top, right, bottom], ...], "drawn": 123}],
     "exports": {"paper.pdf": [page, ...]}}

or {} when there is no such document. Words come in reading order with their places in points from the
page's top left corner; one without contrast to what it stands on is left out: white on white, covered, too
small to see, off the page. `drawn` counts the dark pixels, at 72 an inch, that belong to no word.
"""

import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOME = Path("/home/user")
MAX_FILE_BYTES, MAX_PAGES, MAX_WORDS = 2**20, 8, 3000
MAX_AUX_CHARS = 30_000
RUN_S = 3
CONTRAST, DARK = 60, 128
TEX = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error"]
ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "TEXMFVAR": "/tmp/texmf",
    "SOURCE_DATE_EPOCH": "0",
    "max_print_line": "1000",
    "openin_any": "p",  # nothing outside the folder is read or written by name
    "openout_any": "p",
}
WORD = re.compile(rb'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>')
ERROR = re.compile(r"^(?:! (.*)|\S+?:\d+: (.*))$", re.MULTILINE)


def run(command: "list[str]", folder: Path) -> "tuple[int, bytes]":
    """Run a command; its exit code and output. One that runs out of time counts as failed."""
    try:
        done = subprocess.run(
            command, cwd=str(folder), env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=RUN_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, ("! " + str(error)).encode()
    return done.returncode, done.stdout


def copy(home: Path, names: "Sequence[str]", folder: Path) -> None:
    """Copy regular files of the home, none of them large."""
    for name in names:
        path = home / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(path), str(folder / name))


def read(path: Path) -> str:
    """A file's text, empty when there is none."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def typeset(folder: Path, name: str) -> "tuple[str, str]":
    """Run TeX until its notes stay as they are; returns the first complaint, and the last run's log."""
    aux, stem = folder / (name[:-4] + ".aux"), name[:-4]
    before, log = None, ""
    for _ in range(4):
        code, output = run([*TEX, name], folder)
        log = output.decode("utf-8", "replace")
        if code:
            found = ERROR.search(log)
            return (found[1] or found[2]) if found else "TeX failed", log
        notes = read(aux)
        if notes == before:
            break
        if before is None and "\\bibdata" in notes:
            run(["bibtex", stem], folder)
        before = notes
    return "", log


def pages(folder: Path, name: str) -> "list[dict[str, Any]]":
    """What is to be seen on each page of a PDF."""
    _, boxes = run(["pdftotext", "-raw", "-bbox", "-l", str(MAX_PAGES), name, "-"], folder)
    run(["pdftoppm", "-gray", "-r", "72", "-l", str(MAX_PAGES), name, "page"], folder)
    images = sorted(folder.glob("page-*.pgm"))
    found = [page(text, image.read_bytes()) for text, image in zip(boxes.split(b"<page ")[1:], images)]
    for image in images:
        image.unlink()
    return found


def page(boxes: bytes, image: bytes) -> "dict[str, Any]":
    """What is to be seen on one page."""
    header = re.match(rb"P5\s+(\d+)\s+(\d+)\s+\d+\s", image)
    if header is None:
        return {"words": [], "drawn": 0}
    width, height, data = int(header[1]), int(header[2]), bytearray(image[header.end() :])
    words: list[Any] = []
    for found in WORD.finditer(boxes):
        left, top, right, bottom = (float(number) for number in found.groups()[:4])
        rows = [
            slice(y * width + max(int(left), 0), y * width + min(int(right) + 1, width))
            for y in range(max(int(top), 0), min(int(bottom) + 1, height))
        ]
        text = html.unescape(found[5].decode("utf-8", "replace"))
        if is_seen(text, data, rows) and len(words) < MAX_WORDS:
            words.append([text, round(left, 1), round(top, 1), round(right, 1), round(bottom, 1), rows])
    for word in words:
        for row in word.pop():
            data[row] = b"\xff" * (row.stop - row.start)
    return {"words": words, "drawn": sum(1 for value in data if value < DARK)}


def is_seen(text: str, data: bytearray, rows: "list[slice]") -> bool:
    """Whether a word stands out from its ground: somewhere across its middle, dark and light take turns.

    Frames and lines drawn over, under or beside it do not.
    """
    edge = 1 if any(letter.isalnum() for letter in text) else 0
    for row in rows[len(rows) // 4 : len(rows) - len(rows) // 4]:
        seen = data[row.start + edge : row.stop - edge]
        if seen and max(seen) - min(seen) >= CONTRAST:
            return True
    return False


def document(folder: Path, name: str) -> "dict[str, Any]":
    """One document, as the module's docstring says."""
    error, log = typeset(folder, name)
    stem = name[:-4]
    return {
        "source": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
        "error": error,
        "aux": read(folder / (stem + ".aux"))[:MAX_AUX_CHARS],
        "graphics": sorted(set(re.findall(r"<(?:\./)?([^\s<>,]+\.(?:png|jpe?g|pdf))[\s>]", log))),
        "pages": [] if error else pages(folder, stem + ".pdf"),
    }


def main(home: Path, name: str, *others: str) -> None:
    """Print what becomes of a document."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        copy(home, others, folder)
        exports = {
            path: pages(folder, path)
            for path in others
            if path.endswith(".pdf") and (folder / path).is_file()
        }
        for path in exports:
            (folder / path).unlink()
        copy(home, [name], folder)
        made = document(folder, name) if (folder / name).is_file() else {}
    json.dump({**made, "exports": exports} if made else {}, sys.stdout)


main(HOME, *sys.argv[1:])
