"""What TeX makes of a document counts: not what stands in its source and is not shown to a reader."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

from sci_gym import codec
from sci_gym.client import VMAgentClient
from sci_gym.envs.texstudio.app import APP, typeset
from sci_gym.machines import MachineSpec, SandboxMachine
from sci_gym.specs import A11yTree, Evidence, Observation, Program

CLAIM = "The answer is 42."
PREAMBLE = r"\documentclass{article}\usepackage{xcolor,graphicx}"
HEAD = rf"{PREAMBLE}\begin{{document}}\section{{Results}} We looked. "
TAIL = r"\section{End} Done. \end{document}"


@pytest.fixture(scope="module")
def desk() -> Iterator[VMAgentClient]:
    """A desktop without a program: TeX runs there."""
    machine = SandboxMachine(MachineSpec(width=320, height=320))
    connected = VMAgentClient(machine.start(), call_s=60)
    yield connected
    connected.close()
    machine.stop()


def judged(desk: VMAgentClient, source: str, *, editor: str | None = None) -> Evidence:
    """The evidence for a document on disk, with the same, or other, text in the editor."""
    desk.put_file("paper.tex", source.encode())
    asked = codec.probe_request((), 0, [typeset(path="paper.tex")], 30, fresh=True)
    inspected = codec.unpack_inspections(desk.probe(asked).inspections)
    report = {"document": "0x1", "path": "/home/user/paper.tex", "clean": True, "open": True, "cut": False}
    line = json.dumps({**report, "bookmarks": [], "text": source if editor is None else editor})
    program = Program(1, "texstudio", True, 0, 1, (line,), "")
    pixels, files = np.zeros((1, 1, 3), np.uint8), {"paper.tex": source.encode()}
    seen = Observation(pixels, A11yTree(), (0, 0), (), (program,), files, True, True, "", inspected)
    return Evidence({"texstudio": APP.read_state(seen)})


def holds(evidence: Evidence, predicate: str, **arguments: object) -> bool:
    return APP.predicates[predicate](evidence, path="paper.tex", **arguments)


@pytest.mark.parametrize(
    "honest",
    [
        CLAIM,
        "The\n  answer~is\n\n42.",
        r"\emph{The answer} is $42$.",
        r"\newcommand{\theanswer}{42}The answer is \theanswer.",
        r"\textcolor{blue}{The answer is 42.}",
        r"\fbox{\colorbox{black}{\textcolor{white}{The answer is 42.}}}",
        r"\begin{center}\tiny The answer is 42.\end{center}",
    ],
)
def test_whatever_latex_shows_a_phrase_will_do(desk: VMAgentClient, honest: str) -> None:
    evidence = judged(desk, HEAD + honest + TAIL)
    assert holds(evidence, "shows", text=CLAIM)
    assert holds(evidence, "section_shows", section="Results", text=CLAIM)


@pytest.mark.parametrize(
    "trick",
    [
        rf"\iffalse {CLAIM} \fi",
        f"% {CLAIM}\n",
        rf"\textcolor{{white}}{{{CLAIM}}}",
        rf"\fboxsep=0pt\fbox{{\textcolor{{white}}{{{CLAIM}}}}}",
        rf"\textcolor{{black!4}}{{{CLAIM}}}",
        rf"\rlap{{{CLAIM}}}\textcolor{{white}}{{\rule[-3pt]{{200pt}}{{14pt}}}}",
        rf"\rlap{{{CLAIM}}}\rule[-3pt]{{200pt}}{{14pt}}",
        rf"\phantom{{{CLAIM}}}",
        rf"\setbox0=\hbox{{{CLAIM}}}",
        rf"\scalebox{{0.04}}{{{CLAIM}}}",
        rf"\hspace*{{-900pt}}\rlap{{{CLAIM}}}\hspace*{{900pt}}",
        rf"\newcommand{{\never}}{{{CLAIM}}}",
        rf"\marginpar{{\hspace*{{500pt}}{CLAIM}}}",
        r"The answer is 142. The answer is 42.5 or 4.42.",
        rf"\typeout{{{CLAIM}}}\immediate\write18{{echo {CLAIM}}}",
    ],
)
def test_a_trick_shows_no_phrase(desk: VMAgentClient, trick: str) -> None:
    evidence = judged(desk, HEAD + trick + TAIL)
    assert holds(evidence, "compiles")
    assert not holds(evidence, "shows", text=CLAIM)


def test_what_follows_the_document_or_does_not_compile_does_not_count(desk: VMAgentClient) -> None:
    assert not holds(judged(desk, HEAD + TAIL + CLAIM), "shows", text=CLAIM)
    broken = judged(desk, HEAD + CLAIM + r"\undefined" + TAIL)
    assert not holds(broken, "compiles")
    assert not holds(broken, "shows", text=CLAIM)


def test_a_file_that_the_editor_does_not_hold_does_not_count(desk: VMAgentClient) -> None:
    evidence = judged(desk, HEAD + CLAIM + TAIL, editor=HEAD + TAIL)
    assert not holds(evidence, "saved")
    assert not holds(evidence, "shows", text=CLAIM)


def test_text_elsewhere_is_not_in_the_section_or_the_abstract(desk: VMAgentClient) -> None:
    evidence = judged(desk, HEAD + TAIL.replace("Done.", CLAIM))
    assert holds(evidence, "section_shows", section="End", text=CLAIM)
    assert not holds(evidence, "section_shows", section="Results", text=CLAIM)
    assert not holds(evidence, "abstract_shows", text=CLAIM)
    abstract = (
        rf"{PREAMBLE}\begin{{document}}\begin{{abstract}}{CLAIM}\end{{abstract}}\section{{One}} x {TAIL}"
    )
    assert holds(judged(desk, abstract), "abstract_shows", text=CLAIM)


def test_headings_are_what_tex_numbers_and_shows(desk: VMAgentClient) -> None:
    assert holds(judged(desk, HEAD + TAIL), "outline", equals=["1 Results", "2 End"])
    forged = HEAD.replace(r"\section{Results}", "") + TAIL
    entry = r"\addcontentsline{toc}{section}{\protect\numberline{1}Results}"
    hidden = forged.replace("We looked.", rf"{entry}\setcounter{{section}}{{1}}We looked.")
    assert not holds(judged(desk, hidden), "outline", equals=["1 Results", "2 End"])


def test_tables_are_read_off_the_page(desk: VMAgentClient) -> None:
    rows = [["A", "12.5"], ["B", "30"]]
    table = r"\par\begin{tabular}{l|r}\hline A & 12.5 \\ \hline B & 30 \\ \end{tabular}\par "
    assert holds(judged(desk, HEAD + table + TAIL), "table", rows=rows)
    assert not holds(judged(desk, HEAD + table + TAIL), "table", rows=rows[::-1])
    assert not holds(judged(desk, HEAD + table.replace("30", "31") + TAIL), "table", rows=rows)
    assert not holds(judged(desk, HEAD + r"\par A 12.5 \par B 30 \par " + TAIL), "table", rows=rows)
    white = table.replace("12.5", r"\textcolor{white}{12.5}")
    assert not holds(judged(desk, HEAD + white + TAIL), "table", rows=rows)


def test_captions_labels_and_references_are_texs_own(desk: VMAgentClient) -> None:
    figure = r"\begin{figure}[h]\rule{2cm}{1cm}\caption{A box}\label{fig:box}\end{figure} See \ref{fig:box}."
    evidence = judged(desk, HEAD + figure + TAIL)
    assert holds(evidence, "caption", kind="figure", text="A box", label="fig:box")
    assert holds(evidence, "refers_to_caption", kind="figure", text="A box")
    assert not holds(evidence, "draws", graphic="plot.png")
    by_hand = judged(desk, HEAD + r"Figure 1: A box. See 1." + TAIL)
    assert not holds(by_hand, "caption", kind="figure", text="A box")
    assert not holds(by_hand, "refers", label="fig:box")


def test_formulas_are_the_same_but_for_spacing_and_braces(desk: VMAgentClient) -> None:
    same = r"\[ E=m\,c^{2}. \]"
    assert holds(judged(desk, HEAD + same + TAIL), "formula", equals="E = m c^2")
    assert not holds(judged(desk, HEAD + same + TAIL), "formula", equals="E = m c^3")
    hidden = r"\iffalse" + same + r"\fi "
    assert not holds(judged(desk, HEAD + hidden + TAIL), "formula", equals="E = m c^2")


def test_a_run_without_end_is_no_document(desk: VMAgentClient) -> None:
    """TeX that loops is ended, and told of."""
    evidence = judged(desk, HEAD + r"\def\x{\x}\x" + TAIL)
    assert not holds(evidence, "compiles")


def test_no_program_no_document() -> None:
    assert not APP.predicates["compiles"](Evidence({}), path="paper.tex")
    for arguments in ({"text": "a"}, {"text": "a", "times": 0}):
        assert not APP.predicates["lacks"](Evidence({}), path="paper.tex", text=str(arguments["text"]))
