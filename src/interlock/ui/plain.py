"""Text of unknown origin made safe to print, and counts with their noun."""

import re

CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f"
    r"\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
"""Escape sequences, control characters, and those that turn the direction of writing or are not seen: an
agent's output must not steer the reader's terminal, or hide what it says."""


def inert(text: str) -> str:
    """Text of unknown origin with nothing in it that a terminal would obey."""
    return CONTROL.sub("", text)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
