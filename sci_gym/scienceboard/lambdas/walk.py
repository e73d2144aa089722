"""Calls a lambda: a walk over its checked tree."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Iterator
from typing import Any

from sci_gym.scienceboard.lambdas import forms
from sci_gym.scienceboard.lambdas.budget import Budget, Closure, Function, LambdaFailedError
from sci_gym.scienceboard.lambdas.calls import FUNCTIONS, MATH, call_method
from sci_gym.scienceboard.lambdas.operations import COMPARE, UNARY, arithmetic, bind

Scope = ChainMap[str, Any]
_FAULTS = (TypeError, LookupError, ValueError, ArithmeticError, RecursionError)


class Lambda:
    """A lambda of a task file, of the known forms.

    Attributes:
        text: as it stands in the file.
        parameters: how many arguments it takes.
        constants: the texts that stand in it.
        parts: constant keys by which it looks into its first argument.
    """

    def __init__(self, text: str) -> None:
        """Parse it.

        Raises:
            LambdaRefusedError: it is no lambda, or has a form that is not known.
        """
        self.text = text
        self._node = forms.parse(text)
        self.parameters = len(self._node.args.args)
        self.parts = forms.parts(self._node)
        self.constants = forms.constants(self._node)

    def __call__(self, *arguments: Any) -> Any:
        """Its value for plain data, as plain data.

        Raises:
            LambdaFailedError: it has none, or takes too long.
        """
        budget = Budget()
        try:
            closed = [budget.close(argument) for argument in arguments]
            return budget.close(_Walk(budget).call(Closure(self._node, ChainMap()), closed))
        except _FAULTS as exc:
            raise LambdaFailedError(f"{type(exc).__name__}: {exc}") from exc


class _Walk:
    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def call(self, function: Any, arguments: list[Any]) -> Any:
        if isinstance(function, Function):
            return self._budget.weigh(FUNCTIONS[function.name](self._budget, *arguments))
        if not isinstance(function, Closure):
            raise LambdaFailedError("what is called is no function.")
        names = [argument.arg for argument in function.node.args.args]
        bound = dict(zip(names, arguments, strict=True))
        return self._value(function.node.body, function.scope.new_child(bound))

    def _value(self, node: ast.expr, scope: Scope) -> Any:
        self._budget.charge()
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._name(name, scope)
            case ast.Lambda():
                return Closure(node, scope)
            case ast.NamedExpr(target=target, value=value):
                scope[target.id] = self._value(value, scope)
                return scope[target.id]
            case ast.Call():
                return self._call(node, scope)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._value(test, scope) else orelse, scope)
            case ast.BoolOp():
                return self._bool(node, scope)
            case ast.UnaryOp(op=op, operand=operand):
                return self._budget.weigh(UNARY[type(op)](self._value(operand, scope)))
            case ast.BinOp(left=left, op=op, right=right):
                return arithmetic(self._budget, op, self._value(left, scope), self._value(right, scope))
            case ast.Compare():
                return self._compare(node, scope)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(self._value(value, scope), index, scope)
            case _:
                return self._budget.weigh(self._display(node, scope))

    def _name(self, name: str, scope: Scope) -> Any:
        if name in scope:
            return scope[name]
        if name in FUNCTIONS:
            return Function(name)
        raise LambdaFailedError(f"{name!r} has no value yet.")

    def _display(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.List(elts=items):
                return [self._value(item, scope) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self._value(item, scope) for item in items)
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {self._value(key, scope): self._value(value, scope) for key, value in pairs if key}
            case ast.ListComp(elt=item, generators=clauses):
                return [self._value(item, inner) for inner in self._scopes(clauses, scope)]
            case ast.DictComp(key=key, value=value, generators=clauses):
                inside = self._scopes(clauses, scope)
                return {self._value(key, inner): self._value(value, inner) for inner in inside}
        raise LambdaFailedError(f"a {type(node).__name__} has no value.")

    def _scopes(self, clauses: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        """The names of each round of a comprehension."""
        clause, rest = clauses[0], clauses[1:]
        values = self._value(clause.iter, scope)
        if type(values) not in (str, list, tuple, dict):
            raise LambdaFailedError(f"a {type(values).__name__} has no items.")
        for value in values:
            self._budget.charge()
            inner = scope.new_child(bind(clause.target, value))
            if all(self._value(condition, inner) for condition in clause.ifs):
                if rest:
                    yield from self._scopes(rest, inner)
                else:
                    yield inner

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        if (name := forms.module_function(node.func)) is not None:
            return self._budget.weigh(MATH[name](*self._arguments(node, scope)))
        if isinstance(node.func, ast.Attribute):
            owner, name = self._value(node.func.value, scope), node.func.attr
            found = call_method(self._budget, owner, name, self._arguments(node, scope))
            return found if name == "get" else self._budget.weigh(found)
        function = self._value(node.func, scope)
        return self.call(function, self._arguments(node, scope, lazy=isinstance(function, Function)))

    def _arguments(self, node: ast.Call, scope: Scope, lazy: bool = False) -> list[Any]:
        """A generator stays one for `any` and `all`, which look no further than they have to."""
        arguments: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.GeneratorExp):
                items = self._generate(argument, scope)
                arguments.append(items if lazy else list(items))
            else:
                arguments.append(self._value(argument, scope))
        return arguments

    def _generate(self, node: ast.GeneratorExp, scope: Scope) -> Iterator[Any]:
        for inner in self._scopes(node.generators, scope):
            yield self._value(node.elt, inner)

    def _bool(self, node: ast.BoolOp, scope: Scope) -> Any:
        stops = isinstance(node.op, ast.Or)
        value: Any = None
        for part in node.values:
            value = self._value(part, scope)
            if bool(value) is stops:
                break
        return value

    def _compare(self, node: ast.Compare, scope: Scope) -> bool:
        left = self._value(node.left, scope)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self._value(part, scope)
            if not isinstance(op, ast.Is | ast.IsNot):
                self._budget.weigh(left)
                self._budget.weigh(right)
            if not COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def _subscript(self, value: Any, index: ast.expr, scope: Scope) -> Any:
        if type(value) not in (str, list, tuple, dict):
            raise LambdaFailedError(f"a {type(value).__name__} has no items.")
        if not isinstance(index, ast.Slice):
            return value[self._value(index, scope)]
        ends = (index.lower, index.upper, index.step)
        span = slice(*(None if end is None else self._value(end, scope) for end in ends))
        return self._budget.weigh(value[span])
