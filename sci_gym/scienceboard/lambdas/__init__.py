"""The lambdas of task files: Python text that is parsed and walked, never compiled or run by Python.

A closed list of forms is known (`forms.py`): literals, names that the lambda itself binds, subscripts and
slices, arithmetic on numbers, comparisons, `and`, `or`, `not`, conditional expressions, displays,
comprehensions, lambdas called where they stand or by name, calls of the functions in `calls.FUNCTIONS`, and
of the methods of texts, dicts and lists in `calls.METHODS`. All else is refused when the text is read, by its
name and column.

A call works on plain data and gives plain data: None, bool, int, float, str, list, tuple, dict. It is bounded
in steps and sizes (`budget.py`), so that no text and no data make it hang.
"""

from sci_gym.scienceboard.lambdas.budget import LambdaFailedError, LambdaRefusedError
from sci_gym.scienceboard.lambdas.walk import Lambda

__all__ = ["Lambda", "LambdaFailedError", "LambdaRefusedError"]
