"""Functions of C and C++ by the look of their text, and how one is broken so that it still compiles.

A file that does not compile shows only that the compiler reads it. So the function ends the program when it
is called. What is put into its body is a declaration: in C89 no statement may stand before those that follow.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
    """All that are found."""
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
