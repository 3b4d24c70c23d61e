"""Conditions that people write in files, like `category == 'docs' and complexity <= 2`. None is executed.

1. A condition is comparisons of names with literals or names, joined by `and`, `or`, `not` and brackets.
   There are no calls, no arithmetic and no loops: the time it takes is bounded by its length.
2. `parse` knows the names and what kind each is, so every mistake is found when the file is read, with its
   column. A condition that parsed never fails: a name without a value equals only `none`.
3. Names may have dots, like `attempt.failed`. A name with levels may be compared with a word of them, or with
   the number of one from 1.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from interlock.model.nearest import suggest

MAX_CHARS, MAX_DEPTH = 1_000, 20
"""Longest condition, and the most brackets and `not` inside of each other."""

Scalar: TypeAlias = "str | float | bool | None"
Known: TypeAlias = "Scalar | tuple[str, ...]"
"""The value of a name: `None` is not known, and a tuple is a list of words."""

TEXT, NUMBER, TRUTH, WORDS = "text", "a number", "true or false", "a list"


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of values that a name has."""

    of: str
    levels: tuple[str, ...] = ()
    """Words that stand for the numbers 1, 2, 3 ..."""


class ExpressionError(Exception):
    """A condition that cannot be read."""

    def __init__(self, column: int, text: str, hint: str = "") -> None:
        super().__init__(f"column {column}: {text}")
        self.column, self.text, self.hint = column, text, hint


class Operand(NamedTuple):
    """One side of a comparison: a name, or a literal."""

    name: str
    value: Known


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition that was read."""

    text: str
    test: Callable[[Mapping[str, Known]], bool]

    def holds(self, values: Mapping[str, Known]) -> bool:
        return self.test(values)


_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)(?![\w.])|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|'(?P<single>[^'\n]*)'|\"(?P<double>[^\"\n]*)\"|(?P<sign>==|!=|<=|>=|<|>|[()\[\],]))",
    re.ASCII,
)
_KEYWORDS = ("and", "or", "not", "in", "true", "false", "none")
_SIGNS = ("==", "!=", "<", "<=", ">", ">=")
_LITERALS: dict[str, Scalar] = {"true": True, "false": False, "none": None}


class _Token(NamedTuple):
    column: int
    kind: str
    """`number`, `text`, `name`, `word` (a keyword), `sign` or `end`."""
    text: str


def _tokens(text: str) -> list[_Token]:
    if len(text) > MAX_CHARS:
        raise ExpressionError(MAX_CHARS + 1, f"a condition has at most {MAX_CHARS} characters")
    found: list[_Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unreadable(text, at + len(text[at:]) - len(text[at:].lstrip()))
        kind = match.lastgroup or ""
        word = match[kind]
        column = match.start(kind) + 1 - (kind in ("single", "double"))
        if kind in ("single", "double"):
            kind = "text"
        elif kind == "name" and word in _KEYWORDS:
            kind = "word"
        found.append(_Token(column, kind, word))
        at = match.end()
    return [*found, _Token(end + 1, "end", "")]


def _unreadable(text: str, at: int) -> ExpressionError:
    char = text[at]
    if char in "'\"":
        return ExpressionError(at + 1, "this text does not end", f"close it with {char}")
    hint = {"=": "compare with ==", "!": "write `not` or !=", "&": "write `and`", "|": "write `or`"}.get(
        char, ""
    )
    return ExpressionError(at + 1, f"`{char}` is not part of a condition", hint)


def parse(text: str, names: Mapping[str, Kind]) -> Expression:
    """Read a condition over these names. Raises ExpressionError, and nothing else."""
    reader = _Reader(_tokens(text), names)
    test = reader.any_of(0)
    if (left := reader.here).kind != "end":
        raise ExpressionError(left.column, f"`{left.text}` is not expected here", "join with `and` or `or`")
    return Expression(text, test)


_Test = Callable[[Mapping[str, Known]], bool]


class _Reader:
    """Reads tokens from left to right, one method for each level of the grammar."""

    def __init__(self, tokens: list[_Token], names: Mapping[str, Kind]) -> None:
        self._tokens, self._names, self._at = tokens, names, 0

    @property
    def here(self) -> _Token:
        return self._tokens[self._at]

    def any_of(self, depth: int) -> _Test:
        tests = [self._all_of(depth)]
        while self._takes("or"):
            tests.append(self._all_of(depth))
        return tests[0] if len(tests) == 1 else lambda values: any(test(values) for test in tests)

    def _all_of(self, depth: int) -> _Test:
        tests = [self._one(depth)]
        while self._takes("and"):
            tests.append(self._one(depth))
        return tests[0] if len(tests) == 1 else lambda values: all(test(values) for test in tests)

    def _one(self, depth: int) -> _Test:
        if depth > MAX_DEPTH:
            raise ExpressionError(self.here.column, f"more than {MAX_DEPTH} brackets inside of each other")
        if self._takes("not"):
            denied = self._one(depth + 1)
            return lambda values: not denied(values)
        if self._takes("("):
            inner = self.any_of(depth + 1)
            self._expect(")")
            return inner
        return self._comparison()

    def _comparison(self) -> _Test:
        at, left = self.here, self._operand()
        sign = self.here
        if sign.text in _SIGNS and sign.kind == "sign":
            self._at += 1
            right_at = self.here
            return self._compared(at, left, sign, right_at, self._operand())
        is_not = sign == (sign.column, "word", "not")
        if is_not or sign == (sign.column, "word", "in"):
            self._at += 1 + is_not
            if is_not and self._tokens[self._at - 1].text != "in":
                raise ExpressionError(sign.column, "`not` is not expected here", "write `not in`")
            return self._contained(at, left, is_not)
        if left.name and self._names[left.name].of == TRUTH:
            return lambda values: values.get(left.name) is True
        if left.value is True or left.value is False:
            return lambda _: left.value is True
        raise ExpressionError(sign.column, "a comparison is missing", "write one like category == 'docs'")

    def _compared(self, at: _Token, left: Operand, sign: _Token, right_at: _Token, right: Operand) -> _Test:
        left, right = self._levelled(at, left, right), self._levelled(right_at, right, left)
        kinds = {kind for kind in (self._kind(left), self._kind(right)) if kind}
        if len(kinds) > 1:
            raise ExpressionError(sign.column, f"{' and '.join(sorted(kinds))} cannot be compared")
        if sign.text not in ("==", "!=") and kinds != {NUMBER}:
            raise ExpressionError(sign.column, f"`{sign.text}` compares numbers", "compare with == or !=")
        if WORDS in kinds:
            raise ExpressionError(sign.column, "a list is not compared", "write 'word' in name")
        compare = _COMPARE[sign.text]
        return lambda values: compare(_value(left, values), _value(right, values))

    def _contained(self, at: _Token, left: Operand, is_not: bool) -> _Test:
        right_at = self.here
        if right_at.text == "[" and right_at.kind == "sign":
            many = [self._levelled(right_at, each, left) for each in self._listed()]
            wanted = self._kind(left)
            if wanted == WORDS or any(self._kind(each) not in (wanted, "") for each in many):
                raise ExpressionError(right_at.column, f"{wanted or 'none'} is never one of these")
        else:
            many = [self._operand()]
            if not many[0].name or self._kind(many[0]) != WORDS:
                raise ExpressionError(right_at.column, "this is not a list", "write ['one', 'two']")
            if self._kind(left) not in (TEXT, ""):
                raise ExpressionError(at.column, "a list of words has text only", "write 'word' in name")

        def test(values: Mapping[str, Known]) -> bool:
            found = _value(left, values)
            inside = [_value(each, values) for each in many]
            flat = [word for value in inside for word in (value if isinstance(value, tuple) else (value,))]
            return (found is not None and found in flat) is not is_not

        return test

    def _operand(self) -> Operand:
        token = self.here
        if token.kind == "sign" and token.text == "[":
            return Operand("", None)  # the caller reads the list
        self._at += 1
        if token.kind == "name":
            if token.text not in self._names:
                known = sorted(self._names)
                hint = suggest(token.text, known, f"the names are {', '.join(known)}")
                raise ExpressionError(token.column, f"`{token.text}` is not known", hint)
            return Operand(token.text, None)
        if token.kind == "text":
            return Operand("", token.text)
        if token.kind == "number":
            return Operand("", float(token.text))
        if token.kind == "word" and token.text in _LITERALS:
            return Operand("", _LITERALS[token.text])
        what = f"`{token.text}` is not expected here" if token.text else "the condition ends too early"
        raise ExpressionError(token.column, what, "write a name, a number, or text in quotes")

    def _listed(self) -> list[Operand]:
        self._expect("[")
        many = [self._literal()]
        while self._takes(","):
            many.append(self._literal())
        self._expect("]")
        return many

    def _literal(self) -> Operand:
        token = self.here
        if token.kind == "name" or (token.kind, token.text) == ("sign", "["):
            raise ExpressionError(token.column, "a list has literals only", "put text in quotes")
        return self._operand()

    def _kind(self, operand: Operand) -> str:
        if operand.name:
            return self._names[operand.name].of
        kinds = {bool: TRUTH, float: NUMBER, str: TEXT}
        return kinds.get(type(operand.value), "")

    def _levelled(self, at: _Token, one: Operand, other: Operand) -> Operand:
        """Return a word compared with a name of levels as the number that it stands for."""
        levels = self._names[other.name].levels if other.name else ()
        if not levels or not isinstance(one.value, str):
            return one
        if one.value not in levels:
            raise ExpressionError(
                at.column,
                f"{other.name} is never {one.value!r}",
                suggest(one.value, levels, ", ".join(levels)),
            )
        return Operand("", float(levels.index(one.value) + 1))

    def _takes(self, text: str) -> bool:
        taken = self.here.text == text and self.here.kind in ("word", "sign")
        self._at += taken
        return taken

    def _expect(self, text: str) -> None:
        if not self._takes(text):
            raise ExpressionError(self.here.column, f"`{text}` is missing")


def _value(operand: Operand, values: Mapping[str, Known]) -> Known:
    return values.get(operand.name) if operand.name else operand.value


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Known, Known], bool]:
    """Return the comparison of two numbers; False where one is not known."""

    def test(left: Known, right: Known) -> bool:
        return isinstance(left, float | int) and isinstance(right, float | int) and compare(left, right)

    return test


_COMPARE: dict[str, Callable[[Known, Known], bool]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": _ordered(lambda left, right: left < right),
    "<=": _ordered(lambda left, right: left <= right),
    ">": _ordered(lambda left, right: left > right),
    ">=": _ordered(lambda left, right: left >= right),
}
