"""How ScienceBoard's tasks for TeXstudio are played: their calls as verbs and checks of the stock program.

What is read in place of their machine's answers stands in `ADAPTER.sources`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from sci_gym.app import Desktop
from sci_gym.envs.texstudio import verbs
from sci_gym.envs.texstudio.state import BUILD
from sci_gym.errors import MissingDependencyError
from sci_gym.scienceboard import (
    Adapter,
    CannotError,
    Judged,
    Pattern,
    PatternRefusedError,
    Source,
    TaskFile,
    command_words,
    home_path,
)
from sci_gym.specs import Action, Check, Evidence, Inspection, Verb

PROGRAM = "texstudio"
_SCRIPT = Path(__file__).with_name("guest") / "build.py"
_STYLES = re.compile(r"\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{([^}]*)\}")
_GRAPHIC = re.compile(r"\\includegraphics\s*(?:\[[^\]]*\])?\s*\{([^}]*)\}")
_NAME = re.compile(r"\w[\w.-]*")
_COMMENT = re.compile(r"(?<!\\)%.*")
_HOLDS_STYLES = "texlive-latex-extra, texlive-fonts-extra or texlive-science"


def launch(task: TaskFile, *, command: str | list[str], shell: bool = False) -> list[Verb]:
    """TeXstudio, which runs already, with documents that the task has written; the last one is in front."""
    program, *paths = command_words(command)
    if posixpath.basename(program) != PROGRAM:
        raise CannotError(
            f"launches {posixpath.basename(program)!r}, which SciBoard-TeXstudio-v0 does not start."
        )
    written = dict(_written(task))
    opened = [home_path(path) for path in paths]
    for path in opened:
        if path not in written:
            raise CannotError(f"opens {path!r}, which it does not write: it was in ScienceBoard's own image.")
    made = [Verb("scienceboard_graphic", {"path": path}) for path in _graphics(task)]
    needed = [Verb("scienceboard_styles", {"names": _styles(task)})]
    return [*needed, *made, *(Verb("scienceboard_open", {"path": path}) for path in opened)]


def file(task: TaskFile, *, path: str, source: str | None = None, target: str | None = None) -> Judged:
    """A file is as it was written, but for a text that is replaced wherever it stands."""
    place = home_path(path)
    text = dict(_written(task)).get(place)
    if text is None:
        raise CannotError(f"{path!r} is not written by the task, so that it could never be compared.")
    if source is not None and target is not None:
        text = text.replace(source, target)
    return Judged((Check("texstudio.scienceboard_file", {"path": place, "text": text}),), files=(place,))


def include(task: TaskFile, *, path: str, pattern: str) -> Judged:
    """A file holds what a regular expression matches."""
    try:
        Pattern(pattern)
    except PatternRefusedError as exc:
        raise CannotError(str(exc)) from exc
    place = home_path(path)
    check = Check("texstudio.scienceboard_include", {"path": place, "pattern": pattern})
    return Judged((check,), files=(place,))


def compile(task: TaskFile, *, path: str, file: str) -> Judged:
    """A document can be built, its references with it where the task has written some."""
    folder = home_path(path)
    if not _NAME.fullmatch(file):
        raise CannotError(f"file {file!r} is no name of a document.")
    bibtex = ("bibtex",) if any(name.endswith(".bib") for name, _ in _written(task)) else ()
    inspection = Inspection(
        name=f"{BUILD}{folder}/{file}",
        argv=("/usr/bin/python3", "-I", "-", folder, file, *bibtex),
        stdin=_SCRIPT.read_bytes(),
        watches=(folder,),
    )
    check = Check("texstudio.scienceboard_compile", {"path": f"{folder}/{file}"})
    return Judged((check,), inspections=(inspection,))


def require_styles(desktop: Desktop, *, names: list[str]) -> None:
    """Hold that TeX has the packages that a task's documents use.

    Raises:
        MissingDependencyError: it lacks some.
    """
    if not names:
        return
    files = " ".join(f"{name}.sty" for name in names)
    found = {posixpath.basename(line) for line in desktop.act(_looked_up(files)).output.splitlines()}
    lacking = [name for name in names if f"{name}.sty" not in found]
    if lacking:
        raise MissingDependencyError(
            f"this task's documents need the LaTeX packages {', '.join(lacking)}; install those of "
            f"{_HOLDS_STYLES} that hold them"
        )


def _looked_up(files: str) -> Action:
    return Action.code(f"kpsewhich {files}", "shell")


def put_graphic(desktop: Desktop, *, path: str) -> None:
    """Write a PDF of one page with a frame on it."""
    desktop.put_file(path, _framed_page())


def open_document(desktop: Desktop, *, path: str) -> None:
    """Open a document that is there."""
    verbs.open_document(desktop, path)


def scienceboard_file(evidence: Evidence, *, path: str, text: str) -> bool:
    """A file on disk holds a text and nothing else."""
    return evidence.files.get(path) == text.encode()


def scienceboard_include(evidence: Evidence, *, path: str, pattern: str) -> bool:
    """A file on disk holds what a pattern matches."""
    data = evidence.files.get(path)
    return data is not None and Pattern(pattern).found_in(data.decode("utf-8", "replace"))


def scienceboard_compile(evidence: Evidence, *, path: str) -> bool:
    """TeX builds the document at a path, which lacks its ".tex"."""
    return bool(evidence.state.get(PROGRAM, {}).get("builds", {}).get(path) is True)


ADAPTER = Adapter(
    program="TeXstudio",
    executables=frozenset({PROGRAM}),
    setup={"launch": launch},
    checks={"file": file, "include": include, "compile": compile},
    verbs={
        "scienceboard_styles": require_styles,
        "scienceboard_graphic": put_graphic,
        "scienceboard_open": open_document,
    },
    predicates={
        check.__name__: check for check in (scienceboard_file, scienceboard_include, scienceboard_compile)
    },
    sources=(
        Source("launch texstudio FILE...", "each opened by TeXstudio's own dialog, in their order", True),
        Source("file", "the file on disk, byte for byte", True),
        Source("include", "the file on disk, searched by an engine of our own", True,
               "a form of expression that needs memory or a look around is refused"),
        Source("POST /tex/check", "pdflatex, and bibtex where a .bib is written, on a copy of the folder",
               False, "TeX Live in place of MiKTeX, which fetches missing packages while it runs; without "
               "shell escape and without files outside the folder"),
        Source("figures of their image", "a PDF page with a frame, for each graphic that the documents name "
               "once the task is done", False, "theirs show plots; no check looks at them"),
    ),
)  # fmt: skip


def _written(task: TaskFile) -> Iterator[tuple[str, str]]:
    """Path and text of each file that the task writes, paths relative to the home."""
    for item in task.document.initialize:
        path, text = item.fields.get("path"), item.fields.get("text")
        if item.func == "touch" and isinstance(path, str) and isinstance(text, str):
            yield home_path(path), text


def _documents(task: TaskFile) -> Iterator[tuple[str, str]]:
    """The LaTeX sources, as they have to be in the end, comments left out."""
    for path, text in _written(task):
        if path.endswith(".tex"):
            for item in task.document.evaluate:
                source, target = item.fields.get("source"), item.fields.get("target")
                if isinstance(source, str) and isinstance(target, str):
                    text = text.replace(source, target)
            yield path, _COMMENT.sub("", text)


def _styles(task: TaskFile) -> list[str]:
    """The LaTeX packages that the documents load."""
    listed = [names for _, text in _documents(task) for names in _STYLES.findall(text)]
    found = {name.strip() for names in listed for name in names.split(",")}
    return sorted(name for name in found if _NAME.fullmatch(name))


def _graphics(task: TaskFile) -> list[str]:
    """The files that the documents draw, relative to the home, but for those that the task writes."""
    written = dict(_written(task))
    found = set()
    for path, text in _documents(task):
        for name in _GRAPHIC.findall(text):
            place = home_path(f"~/{posixpath.join(posixpath.dirname(path), name.strip())}")
            stem, suffix = posixpath.splitext(place)
            if suffix not in ("", ".pdf"):
                raise CannotError(f"draws {name!r}, which was in ScienceBoard's own image.")
            found.add(f"{stem}.pdf")
    return sorted(found - set(written))


def _framed_page() -> bytes:
    """A PDF of a page of 240 by 160 points with a frame."""
    drawn = b"10 10 220 140 re S"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 240 160]/Contents 4 0 R/Resources<<>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
    )
    text, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 5\n0000000000 65535 f \n"
    return text + head + table + b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(text)
