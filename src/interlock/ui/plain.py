"""Text of unknown origin made safe to print, counts with their noun, and texts that fit a line."""

import re
from collections.abc import Sequence

CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c"
    r"\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Escape sequences, control characters, and those that turn the direction of writing or are not seen: an
agent's output must not steer the reader's terminal, or hide what it says."""

_NOT_IN_A_NAME = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""The same characters and those that end a line or are a tab, one by one."""

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]|\r(?!\n|\Z)"
)
"""The same characters one by one, and those that begin a line of a page but none of a file."""


def inert(text: str) -> str:
    """Text of unknown origin with nothing in it that a terminal would obey."""
    return CONTROL.sub("", text)


def revealed(text: str) -> str:
    """A text that a person judges, with the characters in it that may hide what it does: `<U+202E>`."""
    return _UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def one_line(name: str) -> str:
    """A name of unknown origin on one line: control characters as escapes such as `\\n`.

    A path or the name of a test must neither begin a line of its own nor pass for another name.
    """
    return _NOT_IN_A_NAME.sub(lambda found: found[0].encode("unicode_escape").decode(), name)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shortened(text: str, most: int) -> str:
    """A text in one line of at most so many characters; 0: however long."""
    text = " ".join(text.split())
    return f"{text[: most - 1]}…" if most and len(text) > most else text


def listed(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
