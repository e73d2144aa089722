"""Calls of named functions with arguments from task files: are they right, and do predicates hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, signature
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from sci_gym.app import App
from sci_gym.errors import ConfigurationError, UnknownNameError
from sci_gym.evaluation.predicates import GENERIC_PREDICATES, Predicate
from sci_gym.specs import Check, Evidence


def _leaf_types(annotation: Any) -> set[Any]:
    parts = get_args(annotation)
    return set().union(*map(_leaf_types, parts)) if parts else {annotation}


class _Signature:
    """The keyword arguments of a function, after its first `skip` (positional) parameters."""

    def __init__(self, function: Callable[..., Any], skip: int) -> None:
        parameters = list(signature(function).parameters.values())[skip:]
        hints = get_type_hints(function, include_extras=True)
        self.types = {each.name: TypeAdapter[Any](hints[each.name]) for each in parameters}
        self.required = [each.name for each in parameters if each.default is Parameter.empty]
        leaves = {name: _leaf_types(hint) for name, hint in get_type_hints(function).items()}
        self.text = frozenset(name for name in self.types if leaves[name] & {str, int, float} == {str})


class Signatures:
    """Named functions whose keyword arguments come from task files: predicates, verbs, or inspections."""

    def __init__(self, what: str, functions: Mapping[str, Callable[..., Any]], skip: int = 1) -> None:
        """Read the signatures.

        Args:
            what: the word that messages use for such a function.
            functions: by name.
            skip: how many positional parameters come first, which are not the task file's.
        """
        self._what = what
        self._signatures = {name: _Signature(function, skip) for name, function in functions.items()}

    def text_arguments(self, name: str) -> frozenset[str]:
        """The arguments of a function that take text and no number; none for an unknown function."""
        return self._signatures[name].text if name in self._signatures else frozenset()

    def faults(self, name: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, ConfigurationError]]:
        """What is wrong with a call: the argument at fault ("" for the function itself), and the error."""
        if name not in self._signatures:
            yield "", UnknownNameError(self._what, name, self._signatures)
            return
        known, where = self._signatures[name], f"{self._what} {name}"
        for argument in arguments:
            if argument not in known.types:
                yield argument, UnknownNameError(f"argument of {where}", argument, known.types)
                continue
            try:
                known.types[argument].validate_python(arguments[argument], strict=True)
            except ValidationError as exc:
                yield (
                    argument,
                    ConfigurationError(f"{where}: argument {argument!r}: {describe(exc.errors()[0])}"),
                )
        for argument in known.required:
            if argument not in arguments:
                yield "", ConfigurationError(f"{where}: argument {argument!r} is missing.")

    def validate(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Raise the first fault of a call.

        Raises:
            UnknownNameError: no such function, or it has no such argument.
            ConfigurationError: an argument is missing or of the wrong type.
        """
        for _, error in self.faults(name, arguments):
            raise error


def describe(details: ErrorDetails) -> str:
    """One of pydantic's complaints as a sentence, with the value that it is about."""
    if details["type"] == "value_error":  # a check of ours, whose words stand for themselves
        return str(details["ctx"]["error"])
    return f"{details['msg']}, not {details['input']!r}."


class PredicateSet:
    """Predicates by full name: the generic ones, and those given."""

    def __init__(self, predicates: Mapping[str, Predicate]) -> None:
        """Take functions `f(evidence, *, ...) -> bool` by full name, such as "kalgebra.variable"."""
        self._functions = {**GENERIC_PREDICATES, **predicates}
        self.signatures = Signatures("predicate", self._functions)

    @classmethod
    def of(cls, app: App) -> PredicateSet:
        """The generic predicates and those of an app's parts, prefixed with their names."""
        return cls(
            {f"{part.name}.{name}": one for part in app.parts for name, one in part.predicates.items()}
        )

    def validate(self, check: Check) -> None:
        """Raise what `Signatures.validate` raises when the check is not a right call of its predicate."""
        self.signatures.validate(check.predicate, check.arguments)

    def holds(self, check: Check, evidence: Evidence) -> bool:
        """Whether a check holds on the evidence; raises like `validate`."""
        self.validate(check)
        return self._functions[check.predicate](evidence, **check.arguments)
