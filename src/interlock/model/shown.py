"""Text of a program as it can be shown anywhere: with nothing that acts on a terminal."""

import re

SHOWN_CHARACTERS = 200
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\^_])")
"""Colours, cursor moves and window titles."""


def shown(line: str, most: int = SHOWN_CHARACTERS) -> str:
    """The line without escape sequences and control characters, cut to `most` characters."""
    plain = _ESCAPES.sub("", line).replace("\t", " ")
    return "".join(letter for letter in plain if letter.isprintable()).strip()[:most]


def printable(text: str) -> str:
    """A text of several lines without escape sequences and control characters."""
    plain = _ESCAPES.sub("", text).replace("\t", " ")
    return "".join(letter for letter in plain if letter.isprintable() or letter == "\n")
