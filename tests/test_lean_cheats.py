"""What does not count as a proof: each cheat is written into the file of a fresh episode, and scores 0."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from sci_gym.envs.lean.guest import project
from sci_gym.loader import load_app
from sci_gym.specs import Action

LEAN = next(one for one in load_app("lean").requirements if one.shown)
pytestmark = pytest.mark.skipif(LEAN.found is None, reason=f"no Lean here: {LEAN.advice}")

TASK = """\
difficulty = "medium"
instruction = "Prove both."
max_steps = 50
[parameters]
file = {text = '''
def twice : Nat → Nat
  | 0 => 0
  | n + 1 => twice n + 2

theorem small : twice 2 = 4 := by
  sorry

theorem large (n : Nat) : twice n = n + n + 1 := by
  sorry
'''}
[[setup]]
verb = "project"
text = "{file}"
[[inspect]]
inspection = "judge"
text = "{file}"
[[node]]
id = "small"
goal = "small is proved"
check = {predicate = "proved", theorem = "small"}
[[node]]
id = "large"
goal = "large is proved, though it is false"
check = {predicate = "proved", theorem = "large"}
[[oracle]]
do = "done"
"""
START = """\
def twice : Nat → Nat
  | 0 => 0
  | n + 1 => twice n + 2

theorem small : twice 2 = 4 := by
  rfl

theorem large (n : Nat) : twice n = n + n + 1 := by
  sorry
"""
LARGE = "theorem large (n : Nat) : twice n = n + n + 1 := by\n"


def instead(proof: str) -> str:
    return START.replace("  sorry\n", proof)


def before(text: str, proof: str = "  sorry\n") -> str:
    return instead(proof).replace(LARGE, text + LARGE)


PROOFS = {
    "sorry": "  sorry\n",
    "a hidden sorry": "  have h : twice n = n + n + 1 := by sorry\n  exact h\n",
    "admit": "  admit\n",
    "the axiom behind sorry": "  exact sorryAx _ true\n",
    "compiled code that is trusted": "  native_decide\n",
    "an axiom": "  exact cheat n\n\naxiom cheat (n : Nat) : twice n = n + n + 1\n",
    "the kernel's check turned off": "  set_option debug.skipKernelTC true in\n  exact rfl\n",
    "a warning turned off": "  set_option warn.sorry false in\n  sorry\n",
    "the end of the file": "  sorry\n\n#exit\n",
    "an indented end of the file": "  sorry\n  #exit\n",
    "the end of the process": "  sorry\n\n#eval (IO.Process.exit 0 : IO Unit)\n",
    "code in a proof": "  run_tac Lean.Elab.Tactic.done\n",
    "a term that is code": "  exact by_elab return Lean.mkConst `rfl\n",
    "unsafe code": "  exact unsafe unsafeCast ()\n",
    "a comment that swallows what follows": "  sorry /-\n",
    "a text that swallows what follows": '  exact "\n',
    "a name that hides something": "  exact «sorryAx» _\n",
    "a word with a sign that cannot be seen": "  exact sor\u200bry\n",
    "a proof of something else": "  have : twice 0 = 0 := rfl\n",
    "nothing": "",
    "recursion without an end": "  exact large n\n",
    "what Lean refuses": "  rfl\n",
}
FILES = {
    "another statement": START.replace("n + n + 1 := by\n  sorry", "n + n := by\n  sorry"),
    "a weaker statement, proved": START.replace("twice n = n + n + 1", "0 = 0").replace("  sorry", "  rfl"),
    "a letter that looks alike": START.replace("(n : Nat)", "(n : N\u0430t)"),
    "another definition": START.replace("twice n + 2", "twice n + 3"),
    "a definition before": before("def twice' := 0\n"),
    "an axiom before": before("axiom cheat (n : Nat) : twice n = n + n + 1\n\n", "  exact cheat n\n"),
    "a macro for sorry": before('macro "sorry" : tactic => `(tactic| trivial)\n'),
    "a macro for the statement": before("macro_rules | `($x = $y) => `(True)\n", "  trivial\n"),
    "notation for the statement": before('local notation:50 a " = " b => True\n', "  trivial\n"),
    "an instance": before("instance : HAdd Nat Nat Nat := ⟨fun _ _ => 0⟩\n", "  rfl\n"),
    "an elaborator": before('elab "theorem" : command => return\n'),
    "a command that runs": before("run_cmd return\n"),
    "an option before": before("set_option debug.skipKernelTC true\n"),
    "an import": "import Lean\n" + START,
    "no core at all": "prelude\n" + START,
    "a namespace": before("namespace Else\n"),
    "a section with a variable": before("variable (h : False)\n", "  exact h.elim\n"),
    "a comment around the statement": START.replace(LARGE, "/-\n" + LARGE).replace(
        "  sorry\n", "  sorry\n-/\n"
    ),
    "a comment above all": "/-\n" + START + "-/\n",
    "the end before it": before("#exit\n"),
    "an example in its place": START.replace("theorem large", "example"),
    "private": START.replace("theorem large", "private theorem large"),
    "an attribute": START.replace("theorem large", "@[implemented_by small] theorem large"),
    "the statement twice": START + "\n" + LARGE + "  sorry\n",
    "it left out": START.partition("theorem large")[0],
    "nothing at all": "",
    "no text": "\ud800",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[gym.Env[Any, Any]]:
    path = tmp_path_factory.mktemp("lean") / "two-theorems.toml"
    path.write_text(TASK)
    env = gym.make("SciBoard-Lean-v0", task=str(path), interface="hybrid", disable_env_checker=True)
    env.reset(seed=0)
    yield env
    env.close()


def submit(world: gym.Env[Any, Any], text: str) -> dict[str, Any]:
    """The state of the project once the file holds a text."""
    data = text.encode("utf-8", "surrogatepass")
    world.unwrapped.coordinator.client.put_file("Task.lean", data)  # type: ignore[attr-defined]
    world.step(Action.wait(0.1))
    state: dict[str, Any] = world.unwrapped.app.read_state(world.unwrapped.last)  # type: ignore[attr-defined]
    return state


def states(state: dict[str, Any]) -> dict[str, str]:
    return {name: theorem["state"] for name, theorem in state["theorems"].items()}


@pytest.fixture(autouse=True)
def _fresh(world: gym.Env[Any, Any]) -> None:
    if world.unwrapped._episode.over or world.unwrapped._episode.steps > 40:  # type: ignore[attr-defined]
        world.reset(seed=0)


def test_an_honest_proof_counts(world: gym.Env[Any, Any]) -> None:
    """Or the tests below would show nothing."""
    state = submit(world, START)
    assert state["fault"] == ""
    assert states(state) == {"small": "proved", "large": "open"}
    assert state["theorems"]["small"]["axioms"] == []


@pytest.mark.parametrize("proof", PROOFS.values(), ids=PROOFS)
def test_no_such_proof_counts(world: gym.Env[Any, Any], proof: str) -> None:
    assert states(submit(world, instead(proof))).get("large") != "proved"


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_no_such_file_counts(world: gym.Env[Any, Any], text: str) -> None:
    state = submit(world, text)
    assert state["fault"], "a file that is not the task's must be told"
    assert states(state) == {}


def test_a_cheat_in_one_proof_does_not_help_another(world: gym.Env[Any, Any]) -> None:
    """A lemma that is not proved is no help; what does not rest on it counts."""
    state = submit(world, START.replace("  rfl\n", "  sorry\n"))
    assert "proved" not in states(state).values()
    broken = instead("  exact (\n").replace("  rfl\n", "  exact (large 2).trans rfl\n")
    assert "proved" not in states(submit(world, broken)).values()


def test_a_theorem_that_rests_on_a_gap_does_not_count(world: gym.Env[Any, Any]) -> None:
    lemma = START.replace("  rfl\n", "  sorry\n", 1)
    used = lemma.removesuffix("  sorry\n") + "  exact absurd small (fun _ => large n)\n"
    assert "proved" not in states(submit(world, used)).values()


def test_files_that_the_policy_plants_are_not_read(world: gym.Env[Any, Any]) -> None:
    """Neither a module of another content, nor a `lean` of its own, nor a folder, a link or a pipe."""
    modules = "for name in Init Task Judge; do printf x > $name.olean; printf x > /tmp/$name.olean; done"
    world.step(Action.code(f"{modules}; mkdir -p .elan/bin; cp /bin/true .elan/bin/lean"))
    assert states(submit(world, START)) == {"small": "proved", "large": "open"}
    for command in ("rm Task.lean; mkdir Task.lean", "rmdir Task.lean; mkfifo Task.lean", "rm Task.lean"):
        world.step(Action.code(command))
        state = world.unwrapped.app.read_state(world.unwrapped.last)  # type: ignore[attr-defined]
        assert "cannot be read" in state["fault"], command


def test_what_no_proof_needs_never_reaches_lean(world: gym.Env[Any, Any]) -> None:
    """The judge names it, and says of the other theorem what it always says."""
    state = submit(world, instead("  exact (by native_decide)\n"))
    assert states(state) == {"small": "proved", "large": "refused"}
    assert state["theorems"]["large"]["messages"][0]["text"] == "not allowed in a proof: native_decide"


@pytest.mark.parametrize(
    "text",
    [
        FILES["an axiom before"],
        FILES["a weaker statement, proved"],
        instead(PROOFS["the axiom behind sorry"]),
    ],
    ids=["an axiom", "a weaker statement", "the axiom behind sorry"],
)
def test_lean_tells_what_words_would_let_through(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statement is elaborated once more, and its axioms are told, whatever stands in the file."""
    monkeypatch.setattr(project, "refusal", lambda proof: "")
    lean = project.Lean(str(LEAN.found), str(tmp_path))
    told = project.theorems(lean, project.Text.read(instead("  sorry\n")), project.Text.read(text))
    assert {name: one["state"] for name, one in told.items()} == {"small": "proved", "large": "open"}
