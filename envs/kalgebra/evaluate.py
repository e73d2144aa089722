"""The value of an Analitza expression: a tree walk with a budget, never `eval`.

What is evaluated may come from the guest, so every walk is bounded: `sum(k : k=1..10^12)` and a recursion
without an end are errors, not a host that hangs.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping

from sci_gym.envs.kalgebra.analitza import parse
from sci_gym.envs.kalgebra.builtins import METHODS
from sci_gym.envs.kalgebra.derive import derivative
from sci_gym.envs.kalgebra.lexer import AnalitzaError
from sci_gym.envs.kalgebra.nodes import (
    Apply,
    Block,
    Declare,
    Lambda,
    Name,
    Node,
    Number,
    Otherwise,
    Piece,
    Text,
)
from sci_gym.envs.kalgebra.scalars import REAL, UNARY_REAL
from sci_gym.envs.kalgebra.values import Closure, Items, Value, binary, unary

CONSTANTS: dict[str, Value] = {
    "true": 1.0, "false": 0.0, "pi": 3.141592653589793, "e": 2.718281828, "euler": 0.5772156649, "i": 1j,
}  # fmt: skip
"""As the program defines them: its `e` and `euler` have ten digits."""
VARIADIC = frozenset(
    {"plus", "minus", "times", "min", "max", "and", "or", "xor", "gcd", "lcm", "union", "scalarproduct"}
)
BOUNDED: dict[str, tuple[str, float]] = {
    "sum": ("plus", 0.0), "product": ("times", 1.0), "forall": ("and", 1.0), "exists": ("or", 0.0),
}  # fmt: skip
UNARY = frozenset(UNARY_REAL) | {"card", "transpose"}
BINARY = frozenset(REAL) | {"selector", "union", "scalarproduct"}
SLOPE = "diff'"
"""Head of the body that `diff` gives to its function; no user can type it."""

WALK_STEPS = 20_000
CALL_DEPTH = 40


class Evaluator:
    """Evaluates trees with the variables of one program.

    Attributes:
        steps: how many nodes may still be visited in all.
    """

    def __init__(self, environment: Mapping[str, str | Node] | None = None, steps: int = 1_000_000) -> None:
        """Take variables by name: trees, or texts as the program shows them."""
        self.steps = steps
        self._texts = dict(environment or {})
        self._globals: dict[str, Value] = {}
        self._opening: set[str] = set()
        self._walk = WALK_STEPS
        self._calls = 0

    @property
    def names(self) -> Collection[str]:
        """The variables that it knows beside the constants."""
        return self._texts.keys()

    def value(self, node: Node, scope: Mapping[str, Value] | None = None) -> Value:
        """Evaluate a tree with the names of `scope` bound.

        Raises:
            AnalitzaError: it has no finite value, names something unknown, or takes too long.
        """
        self._walk = min(WALK_STEPS, self.steps)
        self._calls = 0
        self._opening.clear()
        try:
            return self._value(node, scope or {})
        except RecursionError as exc:
            raise AnalitzaError("an expression is nested too deeply to be evaluated.") from exc
        finally:
            self.steps -= max(WALK_STEPS - self._walk, 0)

    def call(self, function: Value, arguments: tuple[Value, ...]) -> Value:
        """Apply a function value, as `value` does."""
        names = tuple(f"{place}'" for place in range(len(arguments)))
        bound = dict(zip(names, arguments, strict=True))
        return self.value(Apply(Name("f'"), tuple(Name(name) for name in names)), {"f'": function, **bound})

    def _value(self, node: Node, scope: Mapping[str, Value]) -> Value:
        self._walk -= 1
        if self._walk < 0:
            raise AnalitzaError("an expression takes too long to be evaluated.")
        match node:
            case Number(value=number):
                return number
            case Text(value=text):
                return text
            case Name(id=name):
                return self._name(name, scope)
            case Apply():
                return self._apply(node, scope)
            case Lambda(parameters=parameters, body=body):
                return Closure(parameters, body, scope)
            case Block(kind=kind, items=items):
                return self._block(kind, items, scope)
            case Declare(value=inner) | Otherwise(value=inner):
                return self._value(inner, scope)
        raise AnalitzaError("a case stands outside a piecewise.")

    def _name(self, name: str, scope: Mapping[str, Value]) -> Value:
        if name in scope:
            return scope[name]
        if name not in self._globals:
            if name in self._texts and name not in self._opening:
                self._opening.add(name)
                self._globals[name] = self._opened(self._texts[name])
                self._opening.discard(name)
            elif name in CONSTANTS:
                return CONSTANTS[name]
            else:
                raise AnalitzaError(f"unknown name {name!r}.")
        return self._globals[name]

    def _opened(self, content: str | Node) -> Value:
        return self._value(parse(content) if isinstance(content, str) else content, {})

    def _block(self, kind: str, items: tuple[Node, ...], scope: Mapping[str, Value]) -> Value:
        if kind != "piecewise":
            return Items(kind, tuple(self._value(item, scope) for item in items))
        for item in items:
            if isinstance(item, Otherwise):
                return self._value(item.value, scope)
            if not isinstance(item, Piece):
                raise AnalitzaError("a piecewise holds something that is no case.")
            if self._value(item.condition, scope) == 1.0:
                return self._value(item.value, scope)
        raise AnalitzaError("no case of a piecewise holds.")

    def _apply(self, node: Apply, scope: Mapping[str, Value]) -> Value:
        name = node.function.id if isinstance(node.function, Name) else ""
        if name == "diff" and node.bound:
            return Closure(node.bound, Apply(Name(SLOPE), node.arguments[:1], node.bound), scope)
        if name == SLOPE:
            return self._slope(node, scope)
        if name in BOUNDED:
            return self._bounded(name, node, scope)
        arguments = tuple(self._value(argument, scope) for argument in node.arguments)
        if name in ("map", "filter"):
            return self._mapped(name, arguments)
        if name in UNARY and len(arguments) == 1:
            return unary(name, arguments[0])
        if name in BINARY and (len(arguments) == 2 or (name in VARIADIC and len(arguments) > 2)):
            total = arguments[0]
            for argument in arguments[1:]:
                total = binary(name, total, argument)
            return total
        if name in METHODS and name not in scope and name not in self._texts:
            return METHODS[name](arguments)
        return self._call(self._value(node.function, scope), arguments)

    def _call(self, function: Value, arguments: tuple[Value, ...]) -> Value:
        if not isinstance(function, Closure) or len(function.parameters) != len(arguments):
            raise AnalitzaError("what is called is no function, or takes another number of arguments.")
        self._calls += 1
        if self._calls > CALL_DEPTH:
            raise AnalitzaError(f"functions call each other more than {CALL_DEPTH} levels deep.")
        bound = {**function.scope, **dict(zip(function.parameters, arguments, strict=True))}
        result = self._value(function.body, bound)
        self._calls -= 1
        return result

    def _mapped(self, name: str, arguments: tuple[Value, ...]) -> Value:
        if len(arguments) != 2 or not isinstance(arguments[1], Items):
            raise AnalitzaError(f"{name} takes a function and a list.")
        function, items = arguments[0], arguments[1].items
        results = [self._call(function, (item,)) for item in items]
        if name == "filter":
            kept = (item for item, keep in zip(items, results, strict=True) if keep == 1.0)
            return Items("list", tuple(kept))
        return Items("list", tuple(results))

    def _bounded(self, name: str, node: Apply, scope: Mapping[str, Value]) -> Value:
        operator, total = BOUNDED[name]
        if not node.bound or len(node.arguments) != 1:
            raise AnalitzaError(f"{name} needs one expression and a bound name.")
        result: Value = total
        for values in self._ranges(node, scope):
            inner = {**scope, **dict(zip(node.bound, values, strict=True))}
            result = binary(operator, result, self._value(node.arguments[0], inner))
        return result

    def _ranges(self, node: Apply, scope: Mapping[str, Value]) -> Iterator[tuple[Value, ...]]:
        if node.domain is not None:
            domain = self._value(node.domain, scope)
            if not isinstance(domain, Items):
                raise AnalitzaError("a domain must be a list or a vector.")
            return itertools.product(domain.items, repeat=len(node.bound))
        if node.limits is None:
            raise AnalitzaError("a bound name has neither limits nor a domain.")
        low, high = (self._value(limit, scope) for limit in node.limits)
        if not isinstance(low, float) or not isinstance(high, float) or high - low > WALK_STEPS:
            raise AnalitzaError("limits must be numbers, and not too far apart.")
        span = [low + step for step in range(int(high - low) + 1)] if low <= high else []
        return itertools.product(span, repeat=len(node.bound))

    def _slope(self, node: Apply, scope: Mapping[str, Value]) -> Value:
        name = node.bound[0]
        at = self._name(name, scope)

        def height(x: float) -> float:
            result = self._value(node.arguments[0], {**scope, name: x})
            if not isinstance(result, float):
                raise AnalitzaError("only functions with real values are differentiated.")
            return result

        if not isinstance(at, float):
            raise AnalitzaError("a derivative is taken at a real number.")
        return derivative(height, at)
