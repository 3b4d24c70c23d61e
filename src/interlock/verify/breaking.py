"""Breaks a program on purpose, to see whether its checks notice. Works on text; runs nothing.

1. A function that the tests name is better than a whole file: it shows that the tests run the code, and not
   only that something reads it.
2. Where no function can be found, the whole file is broken. In a language that is compiled this shows only
   that the compiler reads it, so there a function that the program itself calls most is better.
3. One place says little: a function may be untested. So several places are offered, in different files.
4. What only reads the text must not notice the break: a linter or a formatter runs no code. So the statement
   that breaks is behind a condition, and there is a second text in which it never holds (`calm`). The words
   that the break says are in two parts: only running it puts them together.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from interlock.verify.sources import SHELL, Selection, extension

SAID = "interlock canary: broken on purpose"
_MOST_FILES = 40
"""Files that are looked into closely, the ones that tests speak of most first."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_CALL = re.compile(r"(?<!def )(?<!function )(?<!func )(?<!fn )\b([A-Za-z_]\w*)\s*\(")
_ENOUGH = 20
"""A word that tests say this often is as good as one that they say always."""

_C = frozenset(["c", "cc", "cpp", "cxx"])
_COMPILED = _C | frozenset(["m", "go", "rs", "java", "kt", "scala", "cs", "swift", "hs", "ml"])
_TESTS_INSIDE = "#[cfg(test)]"
"""The rest of a Rust file after this line holds its tests."""
_SCRIPT = frozenset(["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"])
_HEADERS: Mapping[str, re.Pattern[str]] = {
    "script": re.compile(r"^(?:export\s+(?:default\s+)?)?(?:async\s+)?function\s*\*?\s*(\w+)\s*\(.*\{\s*$"),
    "go": re.compile(r"^func\s+(?:\([^)]*\)\s*)?(\w+)\s*\(.*\{\s*$"),
    "rs": re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)\s*[(<].*\{\s*$"),
    "java": re.compile(
        r"^\s+(?:(?:public|protected|private|static|final|synchronized)\s+)+[\w<>\[\],.? ]+\s(\w+)\s*"
        r"\([^;]*\{\s*$"
    ),
    "kt": re.compile(r"^\s*(?:\w+\s+)*fun\s+(?:<[^>]*>\s*)?(?:\w+\.)?(\w+)\s*\(.*\{\s*$"),
    "swift": re.compile(r"^\s*(?:\w+\s+)*func\s+(\w+)\s*[(<].*\{\s*$"),
    "rb": re.compile(r"^\s*def\s+(?:self\.)?(\w+)"),
    "php": re.compile(r"^\s*(?:public\s+|static\s+)*function\s+(\w+)\s*\(.*\{\s*$"),
    "ex": re.compile(r"^\s*defp?\s+(\w+)[?!]?.*\bdo\s*$"),
}
"""The first line of a function, where it stands on one line."""
_FIRST, _LAST = (f'"{part}"' for part in ("interlock canary: ", "broken on purpose"))
_STATEMENTS: Mapping[str, str] = {
    "py": f'if len("on") == @: raise RuntimeError({_FIRST} + {_LAST})',
    "script": f'if ("on".length === @) {{ throw new Error({_FIRST} + {_LAST}); }}',
    "go": f'if len("on") == @ {{ panic({_FIRST} + {_LAST}) }}',
    "rs": f'if "on".len() == @ {{ panic!("{{}}{{}}", {_FIRST}, {_LAST}); }}',
    "java": f'if ("on".length() == @) throw new RuntimeException({_FIRST} + {_LAST});',
    "kt": f'if ("on".length == @) throw RuntimeException({_FIRST} + {_LAST})',
    "swift": f'if "on".count == @ {{ fatalError({_FIRST} + {_LAST}) }}',
    "rb": f'raise {_FIRST} + {_LAST} if "on".length == @',
    "php": f'if (strlen("on") === @) {{ throw new \\Exception({_FIRST} . {_LAST}); }}',
    "ex": f'if String.length("on") == @, do: raise({_FIRST} <> {_LAST})',
    "lua": f'if #"on" == @ then error({_FIRST} .. {_LAST}) end',
    **dict.fromkeys(SHELL, f"if test 2 = @; then echo {_FIRST}{_LAST} >&2; exit 1; fi"),
    "pl": f'die {_FIRST} . {_LAST} if length("on") == @;',
}
"""The statement to put into a function, by language; `@` is replaced by a number (rule 4)."""
_AT_THE_TOP = frozenset(["py", "rb", "lua", "pl"]) | _SCRIPT | SHELL
"""Languages in which the statement may also stand at the top of a file, and is run there."""


@dataclass(frozen=True, slots=True)
class Break:
    """One file with one place in it broken."""

    name: str
    """Name of the broken place, as people write it: `shapes.area`."""
    path: str
    text: str
    calm: str = ""
    """The same text with a condition that is never true; empty: there is none."""

    @property
    def is_for_compilers(self) -> bool:
        """True if a compiler or a linter notices it: the file can no longer be parsed."""
        return not self.calm


UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, SystemError)
"""Errors of `ast.parse`; the last one comes at times in a thread of Python 3.11, for valid files."""


def breaks(selection: Selection, texts: Mapping[str, str], most: int = 3) -> list[Break]:
    """Return up to `most` places in different files, the one that tests mention most first."""
    voice = _listen(selection, texts)

    def rank(path: str) -> tuple[float, int]:
        return voice.of(module_name(path).rpartition(".")[2]), len(texts[path])

    found: list[tuple[bool, float, Break]] = []
    for path in sorted((p for p in selection.sources if texts.get(p)), key=rank, reverse=True)[:_MOST_FILES]:
        if function := _best_function(path, texts[path], voice):
            found.append((True, *function))
        elif whole := break_file(path, texts[path]):
            found.append((False, rank(path)[0], whole))
    # Sorting is stable: among equals the file that is spoken of most stays first.
    return [place for _, _, place in sorted(found, key=lambda one: one[:2], reverse=True)[:most]]


def _listen(selection: Selection, texts: Mapping[str, str]) -> "_Voice":
    sources = [texts[path] for path in selection.sources if path in texts]
    tests = [texts[path] for path in selection.tests if path in texts]
    tests += [text.partition(_TESTS_INSIDE)[2] for text in sources if _TESTS_INSIDE in text]
    return _Voice(
        Counter(word for text in tests for word in _WORD.findall(text)),
        Counter(word for text in tests for word in _CALL.findall(text)),
        Counter(word for text in sources for word in set(_WORD.findall(text))),
        Counter(word for text in sources for word in _CALL.findall(text)),
    )


@dataclass(frozen=True, slots=True)
class _Voice:
    """The words of the tests, counted."""

    spoken: Counter[str]
    """Uses of each word in the tests."""
    called: Counter[str]
    """Uses of each word with a parenthesis after it."""
    common: Counter[str]
    """Source files that contain the word: a word of every file need not mean this one's function."""
    within: Counter[str]
    """Count each word of the source that has a parenthesis after it."""

    def of(self, word: str) -> float:
        return min(self.spoken[word], _ENOUGH) / max(1, self.common[word])

    def of_function(self, name: str) -> float:
        """Score a function by the calls in tests; a method counts only as far as its class is mentioned."""
        owner, _, function = name.rpartition(".")
        calls = min(self.called[function], _ENOUGH) / max(1, self.common[function])
        return min(calls, self.of(owner)) if owner else calls


def module_name(path: str) -> str:
    """A file as a program would import it, as far as its path tells."""
    *folders, name = PurePosixPath(path).with_suffix("").parts
    inner = [folder for folder in folders if folder not in ("src", "lib", "pkg", "crates")]
    return ".".join(inner if inner and name in ("__init__", "index", "mod") else [*inner, name])


def _best_function(path: str, text: str, voice: _Voice) -> tuple[float, Break] | None:
    """The function of a file that tests call most, broken; nothing if they call none and it is no better
    than the whole file."""
    kind = extension(path)
    if kind in _C:
        by_name = {one.name: one for one in c_functions(text)}
        score, name = _best_name(list(by_name), voice, kind)
        both = [break_c(text, by_name[name], SAID, holds) if name else "" for holds in (True, False)]
    else:
        places = {one[0]: one for one in (_python(text) if kind == "py" else _braces(path, text))}
        score, name = _best_name(list(places), voice, kind)
        both = [_with_line(text, places[name], path, holds) if name else "" for holds in (True, False)]
    return (score, Break(f"{module_name(path)}.{name}", path, *both)) if name else None


def _best_name(names: Sequence[str], voice: _Voice, kind: str) -> tuple[float, str]:
    """The name that tests call most. Where they call none: what the source calls most. It is `main` only
    if there is nothing else: a test program without a single test would notice that too."""
    names = [name for name in names if name != "main"] or names
    scored = [(voice.of_function(name), name) for name in names]
    score, name = max(scored, key=lambda one: one[0], default=(0.0, ""))
    if score or kind not in _COMPILED:
        return score, name if score else ""
    return 0.0, max(names, key=lambda one: voice.within[one], default="")


def _with_line(text: str, function: "_Function", path: str, holds: bool) -> str:
    _, line, indent = function
    lines = text.splitlines(keepends=True)
    lines.insert(line - 1, f"{indent}{_statement(_language(path), holds)}\n")
    return "".join(lines)


def _language(path: str) -> str:
    return "script" if extension(path) in _SCRIPT else extension(path)


def _statement(language: str, holds: bool) -> str:
    return _STATEMENTS[language].replace("@", "2" if holds else "3")


_Function = tuple[str, int, str]
"""Name of a function, the line to put a statement before (from 1), and the indentation."""


def _python(text: str) -> Iterator[_Function]:
    """The functions of a module and the methods of its classes whose body begins on a line of its own."""
    try:
        module = ast.parse(text)
    except UNREADABLE:
        return
    lines = text.splitlines()
    for node in module.body:
        owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) or inner.name.startswith("__"):
                continue
            if at := _begin(inner):
                indent = lines[at - 1][: len(lines[at - 1]) - len(lines[at - 1].lstrip())]
                yield f"{owner}{inner.name}", at, indent


def _begin(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The line of the first statement after the docstring; 0 where there is none, or it is not called."""
    if any(re.search("overload|property|setter", ast.dump(each)) for each in function.decorator_list):
        return 0
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    if not body or body[0].lineno <= function.lineno:
        return 0
    first = body[0]
    if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and first.decorator_list:
        return first.decorator_list[0].lineno
    return first.lineno


def _braces(path: str, text: str) -> Iterator[_Function]:
    """Functions by the look of their first line, in languages that we do not parse."""
    header = _HEADERS.get(_language(path))
    if header is None:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if found := header.match(line):
            indent = line[: len(line) - len(line.lstrip())]
            yield found[1], number + 1, f"{indent}  "


def break_file(path: str, text: str) -> Break | None:
    """Break a file as a whole, for every program that reads it; None if it is empty."""
    if not text.strip():
        return None
    kind = extension(path)
    first, rest = _after_first_lines(text, kind)
    if kind in _AT_THE_TOP:
        both = (f"{first}{_statement(_language(path), holds)}\n{rest}" for holds in (True, False))
        return Break(path if kind in SHELL else module_name(path), path, *both)
    is_c = kind in _C or kind == "m"
    line = f'#error "{SAID}"' if is_c else f")( {SAID}"
    return Break(path if is_c else module_name(path), path, f"{first}{line}\n{rest}")


def _after_first_lines(text: str, kind: str) -> tuple[str, str]:
    """Split off the lines that must stay at the top: `#!`, and in Python the docstring and future imports."""
    lines = text.splitlines(keepends=True)
    keep = 1 if lines[0].startswith(("#!", "<?php")) else 0
    if kind == "py":
        try:
            body = ast.parse(text).body
        except UNREADABLE:
            body = []
        for node in body:
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not is_text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
                break
            keep = max(keep, node.end_lineno or 0)
    return "".join(lines[:keep]), "".join(lines[keep:])


# Functions of C and C++ by the look of their text, and how one is broken so that it still compiles.
#
# A file that does not compile shows only that the compiler reads it. So the function ends the program when
# it is called. What is put into its body is a declaration: in C89 no statement may stand before those that
# follow.

_FUNCTION = re.compile(
    r"^(?!(?:if|for|while|switch|else|do|return|typedef|struct|enum|union|class|namespace|case)\b)"
    r"[A-Za-z_][^;{}#\n()]*(?:\([^;{}()\n]*\)[^;{}#\n()]*)?"
    r"\b(?P<name>[A-Za-z_]\w*)\s*\((?P<takes>[^;{}]*)\)\s*(?:const\s*|noexcept\s*|override\s*)*\{",
    re.MULTILINE,
)
"""The first line of a definition, at the beginning of a line."""
_DEFINED = """\
#include <stdio.h>
#include <stdlib.h>
static volatile int interlock_canary_on = {holds};
static int interlock_canary(void) {{
  if (interlock_canary_on) {{ fputs({words}, stderr); abort(); }}
  return 0;
}}
"""
_USED = " __attribute__((unused)) int interlock_canary_here = interlock_canary();"


@dataclass(frozen=True, slots=True)
class CFunction:
    """The place of a function in the text of its file."""

    name: str
    begin: int
    body: int
    """Behind its opening brace."""


def c_functions(text: str) -> Iterator[CFunction]:
    for found in _FUNCTION.finditer(text):
        if "=" not in found[0].partition("(")[0]:
            yield CFunction(found["name"], found.start(), found.end())


def break_c(text: str, function: CFunction, said: str, holds: bool) -> str:
    """The text with one function that says `said` and ends the program, if `holds`.

    The words are in two parts in the source, so that a compiler that quotes the line does not say them.
    """
    first, _, last = said.partition(": ")
    defined = _DEFINED.format(words=f'"{first}: " "{last}\\n"', holds=int(holds))
    before, header, rest = text[: function.begin], text[function.begin : function.body], text[function.body :]
    return f"{before}{defined}{header}{_USED}{rest}"
