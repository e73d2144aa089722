"""Predicates, the task graph's state machine, and OmniEval's measures."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.evaluation import (
    GraphRun,
    PredicateSet,
    best_coherency,
    coherency,
    coverage_rate,
    logical_consistency,
    metrics,
    parse_number,
    right_stop,
    validate_graph,
)
from sci_gym.specs import Check, Evidence, Kind, Node, Status, TaskGraph, TaskSpec


def variable(evidence: Evidence, *, name: str, equals: float) -> bool:
    return bool(evidence.state["calc"].get(name) == equals)


PREDICATES = PredicateSet({"calc.variable": variable})


def seen(stop: Kind | None = None, answer: str | None = None, **variables: float) -> Evidence:
    return Evidence(state={"calc": variables}, stop=stop, answer=answer)


def holds(predicate: str, evidence: Evidence, **arguments: object) -> bool:
    return PREDICATES.holds(Check(predicate, arguments), evidence)


def is_one(name: str, after: Sequence[str] = (), application: str = "calc") -> Node:
    check = Check("calc.variable", {"name": name, "equals": 1})
    return Node(name, f"set {name}", tuple(after), application, (check,))


def graph_of(*nodes: Node) -> TaskGraph:
    return TaskGraph(nodes)


def run_of(*nodes: Node, stop: Kind = Kind.DONE) -> GraphRun:
    return GraphRun(TaskGraph(nodes), PREDICATES, stop)


def end(run: GraphRun, evidence: Evidence) -> bool:
    run.update(evidence)
    return run.verdict(evidence).success


# Predicates


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        (" -0.5\n", -0.5),
        ("6.02e23", 6.02e23),
        ("3/4", 0.75),
        ("-3/4", -0.75),
        (".5", 0.5),
        ("+7.", 7),
    ],
)
def test_numbers_are_read(text: str, value: float) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 3",
        "1,000",
        "50%",
        "3 4",
        "1/0",
        "nan",
        "inf",
        "1e999",
        "0x10",
        "1_000",
        "३",
        "3/4/5",
        "9" * 400,
    ],
)
def test_what_is_not_one_finite_number_is_refused(text: str) -> None:
    assert parse_number(text) is None


def test_answer_number_compares_numbers_within_tolerance() -> None:
    assert holds("answer_number", seen(Kind.ANS, "0.750"), value=0.75)
    assert holds("answer_number", seen(Kind.ANS, "3/4"), value=0.75)
    assert not holds("answer_number", seen(Kind.ANS, "0.7501"), value=0.75)
    assert holds("answer_number", seen(Kind.ANS, "0.76"), value=0.75, tolerance_abs=0.02)
    assert holds("answer_number", seen(Kind.ANS, "101"), value=100, tolerance_rel=0.01)
    assert not holds("answer_number", seen(Kind.ANS, "102"), value=100, tolerance_rel=0.01)
    assert not holds("answer_number", seen(Kind.DONE), value=0)


def test_answer_text_ignores_white_space_and_case_unless_told() -> None:
    evidence = seen(Kind.ANS, "  Sirius\n B ")
    assert holds("answer_text", evidence, equals="sirius b")
    assert not holds("answer_text", evidence, equals="sirius b", ignore_case=False)
    assert not holds("answer_text", seen(Kind.DONE), equals="")


def test_answer_set_is_free_in_order_and_numeric() -> None:
    assert holds("answer_set", seen(Kind.ANS, "3.0; 1/2"), equals=["0.5", "3"])
    assert holds("answer_set", seen(Kind.ANS, "Mars,  deimos"), equals=["Deimos", "Mars"])
    assert not holds("answer_set", seen(Kind.ANS, "1, 2, 3"), equals=["1", "2"])
    assert not holds("answer_set", seen(Kind.ANS, "1"), equals=["1", "2"])
    assert not holds("answer_set", seen(Kind.ANS, ""), equals=["1"])


def test_file_predicates_read_probed_files() -> None:
    evidence = Evidence(state={}, files={"a.txt": "π = 3".encode(), "gone.txt": None})
    assert holds("file_exists", evidence, path="a.txt")
    assert not holds("file_exists", evidence, path="gone.txt")
    assert not holds("file_exists", evidence, path="never-probed.txt")
    assert holds("file_contains", evidence, path="a.txt", text="π")
    assert not holds("file_contains", evidence, path="gone.txt", text="")


@pytest.mark.parametrize(
    ("check", "error", "message"),
    [
        (
            Check("calc.varable", {}),
            UnknownNameError,
            "unknown predicate 'calc.varable'. Did you mean 'calc.variable'?",
        ),
        (
            Check("calc.variable", {"nam": "p", "equals": 1}),
            UnknownNameError,
            "unknown argument of predicate calc.variable 'nam'. Did you mean 'name'?",
        ),
        (
            Check("calc.variable", {"name": 3, "equals": 1}),
            ConfigurationError,
            "predicate calc.variable: argument 'name': Input should be a valid string, not 3.",
        ),
        (
            Check("calc.variable", {"name": "p", "equals": "1"}),
            ConfigurationError,
            "predicate calc.variable: argument 'equals': Input should be a valid number, not '1'.",
        ),
        (
            Check("calc.variable", {"name": "p", "equals": True}),
            ConfigurationError,
            "predicate calc.variable: argument 'equals': Input should be a valid number, not True.",
        ),
        (
            Check("calc.variable", {"name": "p"}),
            ConfigurationError,
            "predicate calc.variable: argument 'equals' is missing.",
        ),
    ],
)
def test_a_wrong_check_names_predicate_and_argument(
    check: Check, error: type[ConfigurationError], message: str
) -> None:
    with pytest.raises(error) as caught:
        PREDICATES.validate(check)
    assert str(caught.value).startswith(message)
    with pytest.raises(error):
        GraphRun(graph_of(Node("n", "", (), "calc", (check,))), PREDICATES, Kind.DONE)


def test_a_negative_tolerance_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"tolerance_rel.*greater than or equal to 0"):
        PREDICATES.validate(Check("answer_number", {"value": 1, "tolerance_rel": -0.1}))


# The state machine


def test_a_node_waits_for_its_parents_and_stays_complete() -> None:
    run = run_of(is_one("b", ["a"]), is_one("a"))
    run.update(seen(b=1))
    assert run.verdict(seen(b=1)).status == {"a": Status.EVALUATING, "b": Status.WAITING}
    run.update(seen(a=1))
    assert run.verdict(seen()).status == {"a": Status.COMPLETED, "b": Status.EVALUATING}
    run.update(seen(b=1))
    verdict = run.verdict(seen(b=1))
    assert verdict.completed == ("a", "b")
    assert verdict.coverage_rate == 1.0
    assert not verdict.success, "an episode that goes on is no success"


def test_children_complete_on_the_same_evidence_as_their_parents() -> None:
    run = run_of(is_one("c", ["b"]), is_one("b", ["a"]), is_one("a"))
    run.update(seen(a=1, b=1, c=1))
    assert run.verdict(seen()).completed == ("a", "b", "c")


def test_subtasks_that_do_not_wait_complete_in_any_order() -> None:
    run = run_of(is_one("first"), is_one("second"))
    run.update(seen(second=1))
    assert run.verdict(seen()).completed == ("second",)
    run.update(seen(first=1))
    assert run.verdict(seen()).completed == ("second", "first")


def test_completion_on_one_evidence_follows_the_file() -> None:
    run = run_of(is_one("x"), is_one("y", ["x"]), is_one("z"))
    run.update(seen(x=1, y=1, z=1))
    assert run.verdict(seen()).completed == ("x", "y", "z")


def test_updating_and_judging_twice_changes_nothing() -> None:
    run = run_of(is_one("a"), is_one("b", ["a"]))
    evidence = seen(Kind.DONE, a=1)
    run.update(evidence)
    first = run.verdict(evidence)
    run.update(evidence)
    assert run.verdict(evidence) == first == run.verdict(evidence)


def test_all_checks_of_a_node_must_hold() -> None:
    both = (
        Check("calc.variable", {"name": "a", "equals": 1}),
        Check("calc.variable", {"name": "b", "equals": 1}),
    )
    run = run_of(Node("n", "", (), "calc", both))
    assert not end(run, seen(Kind.DONE, a=1))
    assert end(run, seen(Kind.DONE, a=1, b=1))


def test_work_that_was_undone_does_not_count() -> None:
    run = run_of(is_one("a"), is_one("b", ["a"]))
    run.update(seen(a=1, b=1))
    assert not end(run, seen(Kind.DONE, a=1, b=0))
    assert run.verdict(seen(Kind.DONE, a=1, b=0)).coverage_rate == 1.0


def test_a_step_on_the_way_may_be_undone() -> None:
    run = run_of(is_one("a"), is_one("b", ["a"]))
    run.update(seen(a=1))
    assert end(run, seen(Kind.DONE, a=0, b=1))


def test_only_done_ends_a_feasible_task_with_success() -> None:
    for stop in (Kind.FAIL, Kind.ANS, None):
        run = run_of(is_one("a"))
        assert not end(run, seen(stop, "1" if stop is Kind.ANS else None, a=1)), stop
        assert run.verdict(seen(stop, a=1)).coverage_rate == 1.0, "coverage tells of the work, not of the end"
    assert end(run_of(is_one("a")), seen(Kind.DONE, a=1))


def test_a_question_is_answered_by_ans_alone() -> None:
    answered = Node("answered", "", ("a",), "calc", (Check("answer_number", {"value": 42}),))
    cases = {
        (Kind.ANS, "42.0"): True,
        (Kind.ANS, "41"): False,
        (Kind.DONE, None): False,
        (Kind.FAIL, None): False,
    }
    for (stop, answer), success in cases.items():
        run = run_of(is_one("a"), answered, stop=Kind.ANS)
        run.update(seen(a=1))
        assert end(run, seen(stop, answer, a=1)) is success, stop
    assert not end(run_of(is_one("a"), answered, stop=Kind.ANS), seen(Kind.ANS, "42")), (
        "an answer without the work"
    )


def test_an_infeasible_task_is_ended_by_fail_alone() -> None:
    declined = Node("declined", "", (), "calc", (Check("stopped", {"kind": "FAIL"}),))
    for stop, success in {Kind.FAIL: True, Kind.DONE: False, Kind.ANS: False}.items():
        assert end(run_of(declined, stop=Kind.FAIL), seen(stop)) is success, stop


@pytest.mark.parametrize(
    ("infeasible", "question", "stop"),
    [(False, False, Kind.DONE), (False, True, Kind.ANS), (True, False, Kind.FAIL)],
)
def test_the_right_stop_comes_from_the_task(infeasible: bool, question: bool, stop: Kind) -> None:
    task = TaskSpec(
        "t", "calc", "easy", "", {}, (), graph_of(is_one("a")), infeasible, question, 5, 0, (), (), {},
        "t.toml",
    )  # fmt: skip
    assert right_stop(task) is stop


# Measures


def test_coverage_weights_a_subtask_by_its_longest_path() -> None:
    graph = graph_of(is_one("c", ["a", "b"]), is_one("b", ["a"]), is_one("a"), is_one("other"))
    assert coverage_rate(graph, []) == 0.0
    assert coverage_rate(graph, ["a"]) == 1 / 7
    assert coverage_rate(graph, ["a", "b"]) == 3 / 7
    assert coverage_rate(graph, ["c", "a", "b", "other"]) == 1.0


def test_consistency_compares_with_the_best_order() -> None:
    graph = graph_of(*(is_one(name, application=name[0]) for name in ("x1", "y1", "x2", "y2")))
    assert logical_consistency(graph, ["x1", "x2", "y1", "y2"]) == 1.0
    assert logical_consistency(graph, ["x1", "y1", "y2", "x2"]) == 0.5
    assert logical_consistency(graph, ["x1", "y1", "x2", "y2"]) == 0.0
    assert logical_consistency(graph, ["y1", "y2"]) == 0.5, "an order that stops early"
    assert logical_consistency(graph, []) == 0.0


def test_consistency_is_full_when_there_is_nothing_to_gain() -> None:
    graph = graph_of(is_one("x", application="X"), is_one("y", application="Y"))
    assert logical_consistency(graph, ["y", "x"]) == 1.0
    assert logical_consistency(graph, []) == 0.0


def test_consistency_counts_neighbours_where_omnibench_counts_the_longest_run() -> None:
    nodes = [is_one(name, application=name[0]) for name in ("x1", "x2", "y1", "y2", "x3")]
    order = [node.id for node in nodes]
    assert logical_consistency(graph_of(*nodes), order) == 2 / 3


@pytest.mark.parametrize("order", [["b"], ["a", "a"], ["a", "nowhere"]])
def test_an_impossible_order_is_refused(order: list[str]) -> None:
    with pytest.raises(ConfigurationError, match=order[-1]):
        logical_consistency(graph_of(is_one("a"), is_one("b", ["a"])), order)


def test_the_verdict_carries_the_consistency_of_its_order() -> None:
    run = run_of(is_one("a", application="X"), is_one("b", application="Y"), is_one("c", application="X"))
    for evidence in (seen(a=1), seen(b=1), seen(c=1)):
        run.update(evidence)
    assert run.verdict(seen()).logical_consistency == 0.0


def random_graph(rng: random.Random, size: int, applications: int, density: float) -> TaskGraph:
    nodes = [
        is_one(
            str(place),
            [str(earlier) for earlier in range(place) if rng.random() < density],
            str(rng.randrange(applications)),
        )
        for place in range(size)
    ]
    rng.shuffle(nodes)
    return TaskGraph(tuple(nodes))


def topological_orders(graph: TaskGraph) -> Iterable[list[str]]:
    parents = {node.id: set(node.after) for node in graph.nodes}
    for order in permutations(parents):
        if all(parents[name] <= set(order[:place]) for place, name in enumerate(order)):
            yield list(order)


@given(
    st.randoms(use_true_random=False),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.15, 0.3, 0.6]),
)
def test_best_coherency_equals_brute_force(
    rng: random.Random, size: int, applications: int, density: float
) -> None:
    graph = random_graph(rng, size, applications, density)
    assert best_coherency(graph) == max(coherency(graph, order) for order in topological_orders(graph))


def rounds(applications: int, length: int) -> TaskGraph:
    """Each application's next subtask waits for the round before it in every other application."""
    nodes = []
    for turn in range(length):
        for app in range(applications):
            before = [f"{other}.{turn - 1}" for other in range(applications) if turn and other != app]
            nodes.append(is_one(f"{app}.{turn}", before, str(app)))
    return TaskGraph(tuple(nodes))


def test_twenty_nodes_need_few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[int] = []
    expand = metrics._runs_after

    def counted(done: int, needs: Sequence[int], members: Sequence[Sequence[int]]) -> set[int]:
        states.append(done)
        assert len(states) < 4096, "listing every set of 20 subtasks would be 1048576"
        return expand(done, needs, members)

    monkeypatch.setattr(metrics, "_runs_after", counted)
    rng = random.Random(0)
    graphs = [rounds(10, 2), rounds(5, 4), rounds(4, 5), rounds(2, 10), rounds(20, 1)]
    graphs += [
        random_graph(rng, 20, apps, density) for apps in (3, 7, 10) for density in (0.0, 0.1, 0.15, 0.3)
    ]
    for graph in graphs:
        states.clear()
        best_coherency(graph)


def test_an_antichain_of_twenty_is_solved_directly() -> None:
    graph = graph_of(*(is_one(str(place), application=str(place % 7)) for place in range(20)))
    assert best_coherency(graph) == 13


# Validation


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (graph_of(), "the task graph has no subtasks."),
        (graph_of(is_one("a"), is_one("a")), "there are two subtasks 'a'; ids must be unique."),
        (graph_of(is_one("a", ["bb"]), is_one("b")), "unknown parent of subtask 'a' 'bb'. Did you mean 'b'?"),
        (graph_of(is_one("a", ["a"])), "subtasks wait for one another: a -> a."),
        (graph_of(Node("a", "", (), "calc", ())), "subtask 'a' has no check"),
    ],
)
def test_a_wrong_graph_is_named(graph: TaskGraph, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        validate_graph(graph)
    assert str(caught.value).startswith(message)
    with pytest.raises(ConfigurationError):
        GraphRun(graph, PREDICATES, Kind.DONE)


def test_a_cycle_is_shown_whole() -> None:
    graph = graph_of(is_one("start"), is_one("a", ["start", "c"]), is_one("b", ["a"]), is_one("c", ["b"]))
    with pytest.raises(ConfigurationError, match="subtasks wait for one another") as caught:
        validate_graph(graph)
    assert {"a", "b", "c"} == set(str(caught.value).split(": ")[1].rstrip(".").split(" -> "))
