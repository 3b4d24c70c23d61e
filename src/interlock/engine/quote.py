"""Text from outside, as an agent may read it: fenced, marked with where it comes from, and not too long.

The fence is longer than any run of backticks in the text, so nothing in the text can end it.
"""

import re
from typing import Literal

from interlock.model.failure import ESCAPE

SOURCE_CHARS = 200
_RUNS = re.compile(r"`+")
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
"""Characters that no prompt may hold: NUL cannot be part of an argument, a lone surrogate is not UTF-8, and
escape sequences would control the terminal of a person who reads along."""


def quoted(source: str, text: str, limit: int, keep: Literal["start", "end"] = "end") -> str:
    """`text` in a fence under a line that names its source; '' if there is no text.

    The end of a program's output is where its errors are; of a diff the start is worth more.
    """
    body = fit(text).strip("\n")
    if not body.strip():
        return ""
    fence = "`" * max(3, 1 + max((len(run) for run in _RUNS.findall(body)), default=0))
    return f"{one_line(source, SOURCE_CHARS)}:\n\n{fence}text\n{_cut(body, limit, keep)}\n{fence}\n\n"


def fit(text: str) -> str:
    """Text without colours and the characters that no prompt may hold."""
    text = re.sub(ESCAPE, "", text) if "\x1b" in text else text
    return _UNFIT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, limit: int) -> str:
    """Text as part of a sentence: in one line, of bounded length, and no fence."""
    line = " ".join(fit(text).replace("```", "'''").split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _cut(text: str, limit: int, keep: Literal["start", "end"]) -> str:
    if len(text) <= limit:
        return text
    left_out = f"[{len(text) - limit} more characters]"
    return f"{left_out}\n{text[-limit:]}" if keep == "end" else f"{text[:limit]}\n{left_out}"
