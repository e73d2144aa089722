"""Whether a task file uses what it draws, and says the same in all of its wordings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sci_gym.tasks.document import Document
from sci_gym.tasks.filling import named_in
from sci_gym.tasks.locator import FieldError
from sci_gym.tasks.parameters import Compute, FilledText, Parameter, Range


def wording_faults(document: Document) -> Iterator[FieldError]:
    """Paraphrases that name other parameters than the instruction, and parameters that nothing uses."""
    asked = named_in(document.instruction)
    for place, wording in enumerate(document.paraphrases):
        given = named_in(wording)
        if missing := asked.intersection(document.parameters) - given:
            message = f"lacks {_braced(missing)}, which the instruction names; add it."
            yield FieldError(("paraphrases", place), message)
        if added := given.intersection(document.parameters) - asked:
            message = f"names {_braced(added)}, which the instruction does not; drop it."
            yield FieldError(("paraphrases", place), message)
    used = named_in(document.model_dump(exclude={"parameters"})).union(
        *(_used_by(parameter) for parameter in document.parameters.values())
    )
    for name in document.parameters:
        if name not in used:
            yield FieldError(("parameters", name), f"is used nowhere; write {_braced({name})} or remove it.")


def _used_by(parameter: Parameter) -> set[str]:
    if isinstance(parameter, Compute):
        return set(re.findall(r"[A-Za-z_]\w*", parameter.compute))
    if isinstance(parameter, FilledText):
        return named_in(parameter.text)
    return {parameter.distinct_from} if isinstance(parameter, Range) and parameter.distinct_from else set()


def _braced(names: set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))
