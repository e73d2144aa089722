"""Judges a Lean file whose proofs a policy writes, or writes at one for it. Run in the guest, by its Python.

    LEAN judge     the task's own text is in the variable TASK; this script itself comes by standard input
    DOOR prove     standard input holds tactics, or "undo", or "restart"; `server.py` listens at DOOR

`judge` runs with the home read only and a /tmp of its own, out of reach of the policy's code. It prints:

    {"text": what the file holds, "fault": why it is not the task's file any more, else "",
     "theorems": {NAME: {"state": "proved" | "open" | "wrong" | "refused",
                         "messages": [{"line", "severity", "text"}, ...], "axioms": [...]}}}

The file must be the task's, word for word, but for the proofs: the indented lines below each `:= by`. A
proof with a word in it that could do more than prove, in a comment too, never reaches Lean. A theorem is
proved when the file with it builds without an error, when Lean accepts it for the task's statement,
elaborated once more in a file of our own, and when that rests on no axiom but Lean's three.
"""

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import unicodedata
from pathlib import Path

FILE = Path("/home/user/Task.lean")
MAX_BYTES, MAX_MESSAGES, MAX_CHARS = 2**16, 20, 2000
MEMORY_MB = 3000
RUNS_S = 27  # all runs of Lean together; the inspection ends after `Timing.inspect_s`
CONNECT_S, ANSWER_S, POLL_S = 5, 40, 0.01
HOLE = "  sorry"
AXIOMS = ("propext", "Classical.choice", "Quot.sound")
OPEN = "unsolved goals"
OPENS = re.compile(r"open(?: [^\W\d][\w.]*)+")
HEADER = re.compile(r"theorem (\S+)(.*?):= by", re.DOTALL)

# What begins a command, or runs code, or turns checks off, or hides that a proof is none. A proof needs none.
REFUSED = """
    abbrev add_aesop_rules add_decl_doc alias attribute axiom axioms binder_predicate builtin_dsimproc
    builtin_initialize builtin_simproc by_elab class coinductive compile_inductive constant csimp
    declare_command_config_elab declare_config_elab declare_simp_like_tactic declare_syntax_cat def
    deriving dsimproc dsimproc_decl elab elab_rules elab_stx end example export extend_docs extern
    gen_injective_theorems grind_pattern implemented_by import include inductive infix infixl infixr
    init_quot initialize initialize_simps instance irreducible_def lcAny lcCast lcErased lcProof
    lcUnreachable lcVoid lemma library_note local macro macro_rules meta method_specs_norm_simp module
    mutual namespace native_decide noncomputable nonrec norm_cast_add_elim notation notation3 ofReduceBool
    ofReduceNat omit opaque open partial postfix prefix prelude private protected public public_instance
    recall recommended_spelling reduceBool reduceNat register_builtin_option register_error_explanation
    register_grind_attr register_label_attr register_linter_set register_option register_parser_alias
    register_simp_attr run_cmd run_elab run_meta run_tac scoped seal section set_option show_panel_widgets
    simproc simproc_decl simprocs skipKernelTC sorryAx structure suppress_compilation syntax theorem
    trustCompiler unif_hint universe universes unlock_limits unsafe unseal variable variables
"""
WORDS = re.compile(r"(?<![A-Za-z_])(?:" + "|".join(REFUSED.split()) + r")(?![A-Za-z_])")
SIGNS = ("#", "@[", "/-", "-/", '"', "«", "»", "`")
UNFINISHED = re.compile(r"(?<![A-Za-z_])(?:sorry|admit|stop)(?![A-Za-z_])")


def refusal(proof: str) -> str:
    """Why a proof is kept from Lean, or "": whatever it could make of a comment or a text counts as well."""
    word = WORDS.search(proof)
    if word:
        return "not allowed in a proof: " + word[0]
    for sign in SIGNS:
        if sign in proof:
            return "not allowed in a proof: " + sign
    for character in proof:
        plain = character in " \n" or unicodedata.category(character)[0] in "LMNPS"
        if not plain:
            return f"not allowed in a proof: the character U+{ord(character):04X}"
    return ""


def indented(line: str) -> bool:
    """Whether a line can be a proof's."""
    return not line.strip() or line.startswith(" ")


class Text:
    """A task's text with a proof for each theorem: `parts[i]`, `proofs[i]`, `parts[i + 1]` and so on.

    Every theorem is written as `theorem NAME BINDERS : STATEMENT := by`, and its proof is indented.
    """

    def __init__(self, parts: "list[list[str]]", proofs: "list[list[str]]") -> None:
        self.parts, self.proofs = parts, proofs
        self.headers = [self._header(part) for part in parts[: len(proofs)]]
        self.names = [header[1] for header in self.headers]

    @staticmethod
    def _header(part: "list[str]") -> "re.Match[str]":
        found = list(HEADER.finditer("\n".join(part)))
        if not found:
            raise ValueError("a proof stands below something that is no theorem")
        return found[-1]

    @classmethod
    def read(cls, text: str) -> "Text":
        """Take a file apart; ValueError where a proof stands below something that is no theorem."""
        parts: list[list[str]] = [[]]
        proofs: list[list[str]] = []
        inside = False
        for line in text.split("\n"):
            inside = inside and indented(line)
            if inside:
                proofs[-1].append(line)
                continue
            if len(parts) == len(proofs):
                parts.append([])
            parts[-1].append(line)
            if line.endswith(":= by"):
                proofs.append([])
                inside = True
        return cls(parts if len(parts) > len(proofs) else [*parts, []], proofs)

    def lines(self, chosen: "dict[str, list[str]]") -> "list[tuple[str, str]]":
        """Each line with the theorem to which it belongs, or ""; some proofs are others than they were."""
        found = []
        for number, part in enumerate(self.parts):
            found += [("", line) for line in part]
            if number < len(self.proofs):
                name = self.names[number]
                height = self.headers[number][0].count("\n") + 1
                found[-height:] = [(name, line) for _, line in found[-height:]]
                found += [(name, line) for line in chosen.get(name, self.proofs[number])]
        return found

    def opened(self) -> "list[str]":
        """The lines that open namespaces, in whose light statements are read."""
        return [line for part in self.parts for line in part if OPENS.fullmatch(line)]

    def statement(self, name: str) -> str:
        """What a theorem says, its binders before it."""
        rest = self.headers[self.names.index(name)][2]
        depth = 0
        for place, sign in enumerate(rest):
            depth += (sign in "([{⦃") - (sign in ")]}⦄")
            if sign == ":" and not depth:
                binders = rest[:place].strip()
                return ("∀ " + binders + ", " if binders else "") + rest[place + 1 :].strip()
        raise ValueError(name + " has no statement")


def difference(task: Text, given: Text) -> str:
    """Where a file is not the task's any more; "" where only proofs differ."""
    for wanted, found in zip(task.parts, given.parts):
        kept = [line for line in wanted if line.strip()]
        here = [line for line in found if line.strip()]
        if kept != here:
            missing = next((line for line in kept if line not in here), kept[0] if kept else here[0])
            return "only what stands below ':= by' may change; as it was must stand: " + missing
    return "" if len(task.parts) == len(given.parts) else "only proofs may be added, and no theorems"


class Lean:
    """Lean, run in a folder of its own."""

    def __init__(self, command: str, folder: str) -> None:
        self.command, self.folder = command, Path(folder)
        self.end_s = time.monotonic() + RUNS_S
        self.env = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "LEAN_PATH": folder}

    def run(self, name: str, text: str) -> "tuple[bool, list[dict]]":
        """Build a file into the module of that name: whether it could, and what Lean says."""
        path = self.folder / (name + ".lean")
        path.write_text(text)
        options = ["--json", f"--memory={MEMORY_MB}", "-o", str(path.with_suffix(".olean"))]
        try:
            done = subprocess.run(
                [self.command, *options, str(path)], cwd=str(self.folder), env=self.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=max(self.end_s - time.monotonic(), 0.01),
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return False, [message(0, "error", "Lean did not finish: " + str(error))]
        found = [read_message(line) for line in done.stdout.decode("utf-8", "replace").splitlines() if line]
        wrong = any(one["severity"] == "error" for one in found)
        return done.returncode == 0 and not wrong, found


class Server:
    """Lean as `server.py` holds it, for texts that are not judged."""

    def __init__(self, door: str) -> None:
        self.door = door

    def run(self, name: str, text: str) -> "tuple[bool, list[dict]]":
        """Whether a text is without an error, and what Lean says of it."""
        with self.connected() as server:
            server.sendall(text.encode())
            server.shutdown(socket.SHUT_WR)
            parts = iter(lambda: server.recv(65536), b"")
            found = json.loads(b"".join(parts))
        told = [message(one["line"], one["severity"], one["text"]) for one in found]
        return all(one["severity"] != "error" for one in told), told

    def connected(self) -> socket.socket:
        """A connection; it waits for a server that has just been started."""
        end_s = time.monotonic() + CONNECT_S
        server = socket.socket(socket.AF_UNIX)
        server.settimeout(ANSWER_S)
        while server.connect_ex(self.door):
            if time.monotonic() > end_s:
                raise OSError("Lean's language server does not answer")
            time.sleep(POLL_S)
        return server


def message(line: int, severity: str, text: str) -> dict:
    """Something to tell of a line; 0 is none of them."""
    return {"line": line, "severity": severity, "text": text[:MAX_CHARS]}


def read_message(line: str) -> dict:
    """One of Lean's, or an error: what is no message may be anything."""
    try:
        found = json.loads(line)
        return message(int(found["pos"]["line"]), str(found["severity"]), str(found["data"]))
    except (ValueError, KeyError, TypeError):
        return message(0, "error", line)


def unfinished(proof: "list[str]") -> bool:
    """Whether a proof says of itself that it is none yet."""
    return UNFINISHED.search("\n".join(proof)) is not None or not "".join(proof).strip()


def shown(proof: "list[str]") -> "list[str]":
    """A proof that shows its open goals: Lean tells them where `done` is not true yet."""
    kept = list(proof)
    while kept and not kept[-1].strip():
        kept.pop()
    if kept and kept[-1] == HOLE:
        kept[-1] = "  done"
    return kept or ["  done"]


def elaborate(
    lean: "Lean | Server", given: Text, refused: "dict[str, str]"
) -> "tuple[bool, dict[str, list[dict]]]":
    """Build the file as it stands, but for refused proofs; what Lean says, by theorem ("": of the rest)."""
    chosen = {name: shown(proof) for name, proof in zip(given.names, given.proofs)}
    heights = dict(zip(given.names, map(len, given.proofs)))
    chosen.update({name: [HOLE] + [""] * (heights[name] - 1) for name in refused})
    lines = given.lines(chosen)
    whole, found = lean.run("Task", "\n".join(line for _, line in lines) + "\n")
    told: dict[str, list[dict]] = {name: [] for name in ("", *given.names)}
    for one in found:
        owner = lines[one["line"] - 1][0] if 0 < one["line"] <= len(lines) else ""
        told[owner].append(one)
    return whole, told


def restate(lean: Lean, task: Text, names: "list[str]") -> "dict[str, list[str]]":
    """The axioms of each theorem that Lean accepts for the task's own statement, without a warning."""
    secret = "sci_gym_" + secrets.token_hex(16)
    lines = ["import Task", "set_option linter.all false", *task.opened()]
    start = len(lines) + 1
    for name in names:
        statement = task.statement(name).replace("\n", " ")
        lines.append(f"theorem {secret}_{name} : {statement} := @{name}")
        lines.append(f"#print axioms {secret}_{name}")
    _, found = lean.run("Judge", "\n".join(lines) + "\n")
    told = {one["line"]: one for one in found}
    accepted = {}
    for number, name in enumerate(names):
        stated, asked = told.get(2 * number + start), told.get(2 * number + start + 1)
        if stated is None and asked is not None and asked["severity"] == "information":
            begin = f"'{secret}_{name}' "
            rests = re.fullmatch(re.escape(begin) + r"depends on axioms: \[(.*)\]", asked["text"], re.DOTALL)
            if rests:
                accepted[name] = [each.strip() for each in rests[1].split(",")]
            elif asked["text"] == begin + "does not depend on any axioms":
                accepted[name] = []
    return accepted


def theorems(lean: Lean, task: Text, given: Text) -> "dict[str, dict]":
    """How every theorem stands."""
    proofs = dict(zip(given.names, map("\n".join, given.proofs)))
    refused = {name: why for name, proof in proofs.items() if (why := refusal(proof))}
    whole, told = elaborate(lean, given, refused)
    wrong = {name for name in proofs if any(one["severity"] == "error" for one in told[name])}
    good = [name for name in proofs if name not in wrong | set(refused) and not unfinished([proofs[name]])]
    if good and not whole:
        kept = {name: [HOLE] for name in proofs if name not in good}
        whole, _ = lean.run("Task", "\n".join(line for _, line in given.lines(kept)) + "\n")
    accepted = restate(lean, task, good) if whole and good else {}
    states = {}
    for name in proofs:
        axioms = accepted.get(name)
        proved = axioms is not None and set(axioms) <= set(AXIOMS)
        opened = any(one["text"].startswith(OPEN) for one in told[name]) or name not in wrong
        state = "refused" if name in refused else "proved" if proved else "open" if opened else "wrong"
        said = [message(0, "error", refused[name])] if name in refused else told[name]
        if axioms is not None and not proved:
            said = [*said, message(0, "error", "it rests on " + ", ".join(axioms))]
        states[name] = {"state": state, "messages": said[:MAX_MESSAGES], "axioms": axioms or []}
    for one in told[""]:
        for state in states.values():
            state["messages"].append(one)
    return states


def judge(command: str, task: str) -> dict:
    """What `judge` prints."""
    try:
        if not FILE.is_file():
            raise OSError("it is no file")
        with FILE.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode()
    except (OSError, ValueError) as error:
        return {"text": "", "fault": "Task.lean cannot be read: " + str(error), "theorems": {}}
    wanted = Text.read(task)
    result: dict = {"text": text, "fault": "", "theorems": {}}
    try:
        given = Text.read(text)
        result["fault"] = difference(wanted, given)
    except ValueError as error:
        result["fault"] = str(error)
    if len(data) > MAX_BYTES:
        result["fault"] = f"Task.lean is larger than {MAX_BYTES} bytes"
    if not result["fault"]:
        with tempfile.TemporaryDirectory() as folder:
            result["theorems"] = theorems(Lean(command, folder), wanted, given)
    return result


def undone(proof: "list[str]") -> "list[str]":
    """A proof without its last tactic, which begins at the leftmost column."""
    kept = list(proof)
    while kept and kept.pop().startswith("   "):
        pass
    return kept


def prove(door: str, code: str) -> str:
    """Go on with the first theorem that is open, or with the one named by a first line `theorem NAME`."""
    given = Text.read(FILE.read_text())
    first, _, rest = code.strip("\n").partition("\n")
    chosen = re.fullmatch(r"theorem (\S+)", first.strip())
    tactics = textwrap.dedent(rest if chosen else code).strip("\n")
    names = [name for name, proof in zip(given.names, given.proofs) if unfinished(proof)]
    name = chosen[1] if chosen else next(iter(names), "")
    if name not in given.names:
        return "no theorem is open" if not chosen else "there is no theorem " + name
    place = given.names.index(name)
    proof = [line for line in given.proofs[place] if line.strip() and line != HOLE]
    if tactics.strip() in ("undo", "restart"):
        proof = undone(proof) if tactics.strip() == "undo" else []
    else:
        proof += textwrap.indent(tactics, "  ").split("\n")
    why = refusal("\n".join(proof))
    if why:
        return why
    given.proofs[place] = [*proof, HOLE, ""]
    _, told = elaborate(Server(door), given, {})
    errors = [one for one in told[name] if one["severity"] == "error"]
    if any(not one["text"].startswith(OPEN) for one in errors):
        return "not kept: " + "\n".join(one["text"] for one in errors)
    if not errors and not unfinished(proof):
        given.proofs[place] = [*proof, ""]
    FILE.write_text("\n".join(line for _, line in given.lines({})))
    return "\n".join(one["text"] for one in errors) or "no goals"


def main() -> None:
    """Do what the command line says."""
    place, what = sys.argv[1:3]
    if what == "judge":
        told = json.dumps(judge(place, os.environ["TASK"]), ensure_ascii=False)
        sys.stdout.buffer.write(told.encode())
    else:
        try:
            print(prove(place, sys.stdin.read()))
        except (OSError, ValueError) as error:
            sys.exit("Task.lean is not what it was: " + str(error))


if __name__ == "__main__":
    main()
