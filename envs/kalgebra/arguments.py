"""The types of what task files pass to predicates and verbs; what is of none is told when a file is read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator

from sci_gym.envs.kalgebra.analitza import parse

Tab = Literal["Calculator", "2D Graph", "3D Graph", "Dictionary"]
Resolution = Literal["Poor", "Normal", "Fine", "Very Fine"]
Style3D = Literal["Dots", "Lines", "Solid"]
Mode = Literal["Calculate", "Evaluate"]


def _readable(text: str) -> str:
    parse(text)
    return text


Expression = Annotated[str, AfterValidator(_readable)]
"""What KAlgebra reads as an expression or assignment."""
