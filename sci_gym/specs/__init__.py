"""Frozen data that every layer shares: actions, what a desktop shows, tasks and verdicts."""

from sci_gym.specs.actions import (
    BUTTONS,
    CLI_KINDS,
    KEYS,
    LANGUAGES,
    MAX_TEXT_CHARS,
    MODIFIERS,
    NAMED_KEYS,
    POINT_KINDS,
    STOP_KINDS,
    Action,
    Kind,
)
from sci_gym.specs.desktop import A11yNode, A11yTree, Box, Frame, Observation, Program, State, Window
from sci_gym.specs.inspections import Inspected, Inspection
from sci_gym.specs.tasks import Check, Evidence, Node, OracleStep, Status, TaskGraph, TaskSpec, Verb, Verdict

__all__ = [
    "BUTTONS",
    "CLI_KINDS",
    "KEYS",
    "LANGUAGES",
    "MAX_TEXT_CHARS",
    "MODIFIERS",
    "NAMED_KEYS",
    "POINT_KINDS",
    "STOP_KINDS",
    "A11yNode",
    "A11yTree",
    "Action",
    "Box",
    "Check",
    "Evidence",
    "Frame",
    "Inspected",
    "Inspection",
    "Kind",
    "Node",
    "Observation",
    "OracleStep",
    "Program",
    "State",
    "Status",
    "TaskGraph",
    "TaskSpec",
    "Verb",
    "Verdict",
    "Window",
]
