"""Named predicates over `Evidence`, and the task graph that turns them into a `Verdict`.

Predicates are pure functions, so judging is idempotent and has no side effects. The graph is OmniEval's
(OmniBench, arXiv 2506.08933): a subtask is evaluated once its parents are complete, and stays complete.
"""

from sci_gym.evaluation.graph import depths, graph_faults, validate_graph
from sci_gym.evaluation.metrics import best_coherency, coherency, coverage_rate, logical_consistency
from sci_gym.evaluation.predicates import GENERIC_PREDICATES, parse_number
from sci_gym.evaluation.run import GraphRun, right_stop
from sci_gym.evaluation.signatures import PredicateSet, Signatures

__all__ = [
    "GENERIC_PREDICATES",
    "GraphRun",
    "PredicateSet",
    "Signatures",
    "best_coherency",
    "coherency",
    "coverage_rate",
    "depths",
    "graph_faults",
    "logical_consistency",
    "parse_number",
    "right_stop",
    "validate_graph",
]
