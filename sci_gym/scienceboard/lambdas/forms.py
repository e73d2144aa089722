"""Which Python texts are lambdas of the known forms."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sci_gym.scienceboard.lambdas.budget import MAX_BITS, LambdaRefusedError
from sci_gym.scienceboard.lambdas.calls import FUNCTIONS, MATH, METHODS

MAX_SOURCE_CHARS = 20_000
MAX_DEPTH = 60
_CONSTANTS = (str, int, float, bool, type(None))
_PLAIN = (
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.List, ast.Tuple,
    ast.Dict, ast.ListComp, ast.DictComp, ast.comprehension, ast.Load, ast.Store,
    ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot,
)  # fmt: skip
"""Nodes that are known whatever their parts are, which are looked at themselves."""


def parse(text: str) -> ast.Lambda:
    """The tree of a lambda.

    Raises:
        LambdaRefusedError: it is none, or has a form that is not known.
    """
    if len(text) > MAX_SOURCE_CHARS:
        raise LambdaRefusedError(f"it has more than {MAX_SOURCE_CHARS} characters.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as exc:
        raise LambdaRefusedError(f"it is no Python expression: {exc.msg}.") from exc
    except (ValueError, MemoryError, RecursionError) as exc:
        raise LambdaRefusedError("it is no Python expression, or is nested too deeply.") from exc
    if not isinstance(tree, ast.Lambda):
        raise LambdaRefusedError("it is no lambda.")
    _check(tree, frozenset(), 0)
    return tree


def module_function(node: ast.expr) -> str | None:
    """The name of a function of `math` in `__import__('math').sqrt`; nothing is imported for it."""
    match node:
        case ast.Attribute(
            value=ast.Call(func=ast.Name("__import__"), args=[ast.Constant("math")], keywords=[]), attr=name
        ) if name in MATH:
            return name
    return None


def constants(node: ast.Lambda) -> frozenset[str]:
    """The texts that stand in a lambda."""
    return frozenset(
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    )


def parts(node: ast.Lambda) -> frozenset[str]:
    """The constant keys by which a lambda looks into its first argument, by subscript or `get`."""
    first = node.args.args[0].arg if node.args.args else ""
    found: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))) if name == first:
                found.add(key)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get"),
                args=[ast.Constant(value=str(key)), *_],
            ) if name == first:
                found.add(key)
    return frozenset(found)


def _refuse(node: ast.AST, what: str) -> LambdaRefusedError:
    return LambdaRefusedError(f"column {getattr(node, 'col_offset', 0) + 1}: {what} is not supported.")


def _check(node: ast.AST, bound: frozenset[str], depth: int) -> None:
    """Refuse a tree that has a form which is not known, or a name that nothing binds."""
    if depth > MAX_DEPTH:
        raise _refuse(node, f"nesting deeper than {MAX_DEPTH}")
    match node:
        case ast.Lambda():
            bound = bound | _parameters(node) | _walrus(node.body)
        case ast.ListComp() | ast.DictComp() | ast.GeneratorExp():
            bound = bound | _targets(node)
        case ast.Call():
            _check_call(node, bound, depth)
            return
        case ast.Name(id=name):
            _check_name(node, name, bound)
        case ast.Constant(value=value):
            _check_constant(node, value)
        case ast.NamedExpr(value=value):
            _check(value, bound, depth + 1)
            return
        case ast.Compare():
            _check_identity(node)
    if isinstance(node, ast.GeneratorExp):
        raise _refuse(node, "a generator outside a call")
    if not isinstance(node, (*_PLAIN, ast.Lambda, ast.Name, ast.Constant)):
        raise _refuse(node, _named(node))
    for child in [node.body] if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node):
        _check(child, bound, depth + 1)


def _check_call(node: ast.Call, bound: frozenset[str], depth: int) -> None:
    if node.keywords:
        raise _refuse(node, "an argument by name")
    match node.func:
        case function if module_function(function):
            pass
        case ast.Attribute(value=owner, attr=name):
            if name not in METHODS:
                raise _refuse(node.func, f"the method {name!r}")
            _check(owner, bound, depth + 1)
        case ast.Name() | ast.Lambda():
            _check(node.func, bound, depth + 1)
        case other:
            raise _refuse(other, "a call of what is neither a name, a method nor a lambda")
    for argument in node.args:
        if isinstance(argument, ast.GeneratorExp):
            inner = bound | _targets(argument)
            for child in ast.iter_child_nodes(argument):
                _check(child, inner, depth + 1)
        else:
            _check(argument, bound, depth + 1)


def _check_name(node: ast.AST, name: str, bound: frozenset[str]) -> None:
    if name not in bound and name not in FUNCTIONS:
        raise _refuse(node, f"the name {name!r}")


def _check_constant(node: ast.AST, value: object) -> None:
    if type(value) not in _CONSTANTS or (isinstance(value, int) and value.bit_length() > MAX_BITS):
        raise _refuse(node, f"a constant of type {type(value).__name__}")


def _check_identity(node: ast.Compare) -> None:
    """`is` compares with None, True and False only: the identity of other values is Python's own affair."""
    for operator, right in zip(node.ops, node.comparators, strict=True):
        fixed = isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, bool))
        if isinstance(operator, ast.Is | ast.IsNot) and not fixed:
            raise _refuse(node, "'is' beside anything but None, True and False")


def _parameters(node: ast.Lambda) -> frozenset[str]:
    arguments = node.args
    names = [argument.arg for argument in arguments.args]
    others = (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs, *arguments.posonlyargs)
    if any(others) or arguments.defaults:
        raise _refuse(node, "a parameter that is not a plain name")
    return _plain(node, names)


def _targets(node: ast.ListComp | ast.DictComp | ast.GeneratorExp) -> frozenset[str]:
    names = []
    for clause in node.generators:
        parts = clause.target.elts if isinstance(clause.target, ast.Tuple) else [clause.target]
        for part in parts:
            if not isinstance(part, ast.Name) or clause.is_async:
                raise _refuse(node, "a comprehension over anything but plain names")
            names.append(part.id)
    for inner in ast.walk(node):
        if isinstance(inner, ast.NamedExpr):
            raise _refuse(inner, "':=' in a comprehension")
    return _plain(node, names)


def _walrus(body: ast.expr) -> frozenset[str]:
    return _plain(body, [name.id for name in _assigned(body)])


def _assigned(node: ast.AST) -> Iterator[ast.Name]:
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.NamedExpr):
        yield node.target
    for child in ast.iter_child_nodes(node):
        yield from _assigned(child)


def _plain(node: ast.AST, names: list[str]) -> frozenset[str]:
    for name in names:
        if name.startswith("__"):
            raise _refuse(node, f"the name {name!r}")
    return frozenset(names)


def _named(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"the attribute {node.attr!r}"
    return f"a {type(node).__name__}"
