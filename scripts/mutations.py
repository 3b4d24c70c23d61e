"""Small wrong changes of a source file, one at a time: the list that `scripts/mutants.py` draws from.

Touches nothing: text in, mutants out. A mutant replaces one span of the text, so its diff is one statement.
Words are never changed (strings, messages), nor types, decorators and docstrings: no test should mind those.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

FLIPPED: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
SIGNS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
}
DEFAULTS = {"bool": "False", "int": "0", "float": "0.0", "str": "''", "bytes": "b''"}
"""What a function returns instead, by its annotation and as `ast.unparse` writes it; else it returns None."""
SQL_CHANGES = ((r"<=", "<"), (r">=", ">"), (r"(?<!<)<(?![=>])", "<="), (r"\bAND\b", "OR"), (r"\b\d+\b", ""))


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong change of one file."""

    path: str
    line: int
    kind: str
    start: int
    """Offset in the bytes of the file; `text` replaces all up to `end`."""
    end: int
    text: str
    scope: str = ""
    """Names of the class and function around it."""

    def applied_to(self, source: str) -> str:
        """The file with this change."""
        raw = source.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.end :]).decode()


def mutants_of(path: str, source: str) -> list[Mutant]:
    """All mutants of a file. A few are no Python any more: see `is_python`."""
    if path.endswith(".sql"):
        return list(_of_sql(path, source))
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return finder.found


def is_python(source: str) -> bool:
    """Can it be parsed? To ask that of every mutant beforehand takes minutes."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _of_sql(path: str, source: str) -> Iterator[Mutant]:
    for pattern, text in SQL_CHANGES:
        for match in re.finditer(pattern, source):
            line = source.count("\n", 0, match.start()) + 1
            if source.splitlines()[line - 1].lstrip().startswith("--"):
                continue
            start = len(source[: match.start()].encode())
            changed = text or str(int(match[0]) + 1)
            yield Mutant(path, line, "sql", start, start + len(match[0]), changed)


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, source: str) -> None:
        self.found: list[Mutant] = []
        self._path = path
        self._starts = [0]
        for line in source.encode().splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._scope: list[str] = []
        self._default = "None"

    def _add(self, node: ast.expr | ast.stmt, kind: str, text: str) -> None:
        if node.end_lineno is None or node.end_col_offset is None:
            return
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        self.found.append(Mutant(self._path, node.lineno, kind, start, end, text, " ".join(self._scope)))

    def _inside(self, node: ast.AsyncFunctionDef | ast.ClassDef | ast.FunctionDef) -> None:
        """Only the body: no decorators, defaults or types."""
        self._scope.append(node.name)
        for child in node.body:
            self.visit(child)
        self._scope.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not any("Protocol" in ast.unparse(base) for base in node.bases):
            self._inside(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer, self._default = self._default, DEFAULTS.get(ast.unparse(node.returns or ast.Name("")), "None")
        self._inside(node)
        self._default = outer

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast looks for

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if self._scope and isinstance(target, ast.Attribute | ast.Subscript):
            self._add(node, "dropped assignment", "pass")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        called = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(called, ast.Call):
            self._add(node, "dropped call", "pass")
            self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and ast.unparse(node.value) not in (self._default, "NotImplemented"):
            self._add(node, "default returned", f"return {self._default}")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self._negate(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Compare) or len(test.ops) > 1:  # one comparison is flipped anyway
            self._add(test, "negated condition", f"(not ({ast.unparse(test)}))")

    def visit_Compare(self, node: ast.Compare) -> None:
        for at, op in enumerate(node.ops):
            ops = [*node.ops[:at], FLIPPED[type(op)], *node.ops[at + 1 :]]
            self._add(node, "comparison", ast.unparse(ast.Compare(node.left, ops, node.comparators)))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, "and/or", f"({ast.unparse(ast.BoolOp(other, node.values))})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        words = (ast.JoinedStr, ast.List, ast.Tuple)
        if type(node.op) in SIGNS and not any(
            isinstance(side, words)
            or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
            for side in (node.left, node.right)
        ):
            changed = ast.BinOp(node.left, SIGNS[type(node.op)], node.right)
            self._add(node, "sign", f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, "constant", str(not node.value))
        elif isinstance(node.value, int | float):
            self._add(node, "constant", repr(node.value + 1))

    def visit_Call(self, node: ast.Call) -> None:
        first = node.args[:2]
        named = len(first) == 2 and all(isinstance(one, ast.Name | ast.Attribute) for one in first)
        if named and ast.unparse(node.func) not in ("isinstance", "issubclass", "min", "max"):
            call = ast.Call(node.func, [*reversed(first), *node.args[2:]], node.keywords)
            self._add(node, "swapped arguments", ast.unparse(call))
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Left alone: before Python 3.12 the places inside an f-string are not known."""
