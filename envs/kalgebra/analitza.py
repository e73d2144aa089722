"""The syntax of Analitza, KAlgebra's expression language: `parse(text)` gives a small frozen tree.

It follows `analitza/exp.g` of Analitza 22.12, surprises included, because KAlgebra's users meet them: every
operator is left associative (`2^3^2` is 64), `-2^2` is -4, a number binds to what follows before any power
(`2x^2` is `(2*x)^2`), and a name applies to a bare operand (`sin pi/2` is `sin(pi)/2`). Nothing is executed.
"""

from __future__ import annotations

from sci_gym.envs.kalgebra.lexer import MAX_DEPTH, MAX_OPERATORS, AnalitzaError, Token, tokenize
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

BLOCKS = frozenset({"vector", "list", "matrix", "matrixrow", "piecewise"})
INFIX: dict[str, tuple[int, str]] = {
    "?": (3, ""),
    "=": (4, "eq"), "!=": (4, "neq"), "<": (4, "lt"), ">": (4, "gt"), "<=": (4, "leq"), ">=": (4, "geq"),
    "+": (5, "plus"), "-": (5, "minus"), "*": (6, "times"), "/": (6, "divide"), "^": (8, "power"),
}  # fmt: skip
LAMBDA, OTHERWISE, LIMIT, NEGATION, SUPERSCRIPT, PIPE = 1, 3, 5, 8, 9, 10
"""Binding powers: how tightly an operator must bind to belong to the operand on its left."""


def parse(text: str) -> Node:
    """Read an expression or assignment.

    Raises:
        AnalitzaError: KAlgebra would not accept the text, or it is absurdly long or deep.
    """
    return _Parser(text).program()


class _Parser:
    """Precedence climbing over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._at = 0
        self._depth = 0
        self._operators = 0

    def program(self) -> Node:
        if self._peek(0).kind == "name" and self._peek(1).kind == ":=":
            name = self._next().text
            self._next()
            tree: Node = Declare(name, self._expression())
        else:
            tree = self._expression()
        self._expect("end")
        return tree

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _accept(self, kind: str) -> bool:
        if self._peek().kind != kind:
            return False
        self._at += 1
        return True

    def _expect(self, kind: str) -> Token:
        token = self._next()
        if token.kind != kind:
            raise self._wrong(f"expected {kind!r}", token)
        return token

    def _wrong(self, what: str, token: Token) -> AnalitzaError:
        found = token.text or "the end"
        return AnalitzaError(f"{self._text!r}: {what} at character {token.at}, found {found!r}.")

    def _expression(self, power: int = LAMBDA) -> Node:
        self._count(level=1)
        left = self._operand()
        while (step := self._infix(left, power)) is not None:
            self._count(operators=1)
            left = step
        self._count(level=-1)
        return left

    def _count(self, level: int = 0, operators: int = 0) -> None:
        self._depth += level
        self._operators += operators
        if self._depth > MAX_DEPTH or self._operators > MAX_OPERATORS:
            raise AnalitzaError(
                f"{self._text[:40]!r}...: over {MAX_DEPTH} levels or {MAX_OPERATORS} operators."
            )

    def _infix(self, left: Node, power: int) -> Node | None:
        token = self._peek()
        if token.kind == "superscript" and power <= SUPERSCRIPT:
            self._next()
            return Apply(Name("power"), (left, Number(float(token.text))))
        if token.kind == "|" and power <= PIPE:
            self._next()
            return Apply(self._piped(), (left,))
        binding, operator = INFIX.get(token.kind, (0, ""))
        if binding == 0 or binding < power:
            return None
        self._next()
        right = self._expression(binding + 1)
        return Apply(Name(operator), (left, right)) if operator else Piece(left, right)

    def _piped(self) -> Node:
        if self._starts_lambda():
            return self._lambda()
        if self._accept("("):
            inner = self._expression()
            self._expect(")")
            return inner
        return Name(self._expect("name").text)

    def _operand(self) -> Node:
        if self._accept("-"):
            return Apply(Name("minus"), (self._expression(NEGATION),))
        if self._accept("?"):
            return Otherwise(self._expression(OTHERWISE))
        if self._starts_lambda():
            return self._lambda()
        number = self._peek().kind == "number"
        first = self._extended()
        if not self._starts_primary():
            return first
        if number and isinstance(first, Number):
            return Apply(Name("times"), (first, self._extended()))
        if isinstance(first, Name) or self._tokens[self._at - 1].kind == ")":
            return Apply(first, (self._primary(),))
        return first

    def _starts_primary(self) -> bool:
        """Whether a value follows without an operator; a parenthesis counts only after a number."""
        kind = self._peek().kind
        after_number = self._tokens[self._at - 1].kind == "number"
        return kind in ("number", "string", "name") or (kind == "(" and after_number)

    def _extended(self) -> Node:
        """A value, block, call or parenthesis, with its subscripts."""
        node = self._parenthesis() if self._peek().kind == "(" else self._primary()
        callable_now = isinstance(node, Name) or self._tokens[self._at - 1].kind == ")"
        if callable_now and self._accept("("):
            node = self._call(node)
        while self._accept("["):
            self._count(operators=1)
            node = Apply(Name("selector"), (self._expression(), node))
            self._expect("]")
        return node

    def _parenthesis(self) -> Node:
        self._expect("(")
        inner = self._expression()
        self._expect(")")
        return inner

    def _primary(self) -> Node:
        token = self._next()
        if token.kind == "number":
            return Number(float(token.text))
        if token.kind == "string":
            return Text(token.text)
        if token.kind != "name":
            raise self._wrong("expected a value", token)
        return self._block(token.text) if self._accept("{") else Name(token.text)

    def _block(self, kind: str) -> Block:
        if kind not in BLOCKS:
            known = ", ".join(sorted(BLOCKS))
            raise AnalitzaError(f"{self._text!r}: no container is called {kind!r}; there are {known}.")
        if self._accept("}"):
            return Block(kind, ())
        items = self._parameters()
        self._expect("}")
        return Block(kind, items)

    def _parameters(self) -> tuple[Node, ...]:
        items = [self._expression()]
        while self._accept(","):
            items.append(self._expression())
        return tuple(items)

    def _call(self, function: Node) -> Apply:
        if self._accept(")"):
            return Apply(function, ())
        arguments = self._parameters()
        bound: tuple[str, ...] = ()
        limits: tuple[Node, Node] | None = None
        domain: Node | None = None
        if self._accept(":"):
            bound = self._bound()
            if self._accept("="):
                low = self._expression(LIMIT)
                self._expect("..")
                limits = (low, self._expression(LIMIT))
            elif self._accept("@"):
                domain = self._expression()
        self._expect(")")
        return Apply(function, arguments, bound, limits, domain)

    def _starts_lambda(self) -> bool:
        if self._peek().kind == "name":
            return self._peek(1).kind == "->"
        ahead = 1
        while self._peek().kind == "(" and self._peek(ahead).kind == "name":
            if self._peek(ahead + 1).kind == ")":
                return ahead > 1 and self._peek(ahead + 2).kind == "->"
            if self._peek(ahead + 1).kind != ",":
                return False
            ahead += 2
        return False

    def _lambda(self) -> Lambda:
        parameters = self._bound()
        self._expect("->")
        return Lambda(parameters, self._expression(LAMBDA))

    def _bound(self) -> tuple[str, ...]:
        if not self._accept("("):
            return (self._expect("name").text,)
        names = [self._expect("name").text]
        while self._accept(","):
            names.append(self._expect("name").text)
        self._expect(")")
        return tuple(names)
