"""The syntax tree of Analitza's expression language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    value: str


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, constant, operator or function."""

    id: str


@dataclass(frozen=True, slots=True)
class Apply:
    """A function or operator applied: `2+x` is `plus` of two arguments.

    Attributes:
        function: what is applied; an operator is a `Name` such as "plus".
        arguments: its operands.
        bound: names bound by `sum(k : k=1..3)` and its like.
        limits: lower and upper end of the bound names, else None.
        domain: the container that they run through, else None.
    """

    function: Node
    arguments: tuple[Node, ...]
    bound: tuple[str, ...] = ()
    limits: tuple[Node, Node] | None = None
    domain: Node | None = None


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function: `(x, y)->x*y`."""

    parameters: tuple[str, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Block:
    """A container in braces: vector, list, matrix, matrixrow or piecewise."""

    kind: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """One case of a piecewise: `condition ? value`."""

    condition: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Otherwise:
    """The last case of a piecewise: `? value`."""

    value: Node


@dataclass(frozen=True, slots=True)
class Declare:
    """An assignment: `name := value`."""

    name: str
    value: Node


Node = Number | Text | Name | Apply | Lambda | Block | Piece | Otherwise | Declare


def free_names(node: Node) -> frozenset[str]:
    """The names in an expression that it does not bind itself, without those of functions it calls."""
    match node:
        case Name(id=name):
            return frozenset({name})
        case Lambda(parameters=parameters, body=body):
            return free_names(body) - set(parameters)
        case Apply(function=function, arguments=arguments, bound=bound, limits=limits, domain=domain):
            inner = _names_of(arguments) - set(bound)
            outer = (*(limits or ()), *((domain,) if domain else ()))
            called = () if isinstance(function, Name) else (function,)
            return inner | _names_of((*outer, *called))
        case Block(items=items):
            return _names_of(items)
        case Piece(condition=condition, value=value):
            return free_names(condition) | free_names(value)
        case Otherwise(value=value) | Declare(value=value):
            return free_names(value)
        case _:
            return frozenset()


def _names_of(nodes: tuple[Node, ...]) -> frozenset[str]:
    return frozenset().union(*(free_names(node) for node in nodes))
