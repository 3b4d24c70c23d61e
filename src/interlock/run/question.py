"""A question that an agent ends with: found by rules, never by a model.

1. A line `::interlock ask QUESTION` in the last message, or a tool for asking people as the last tool used,
   is an explicit question. The task waits for the answer, whatever the agent has changed so far.
2. A last paragraph that ends in a question mark is a question if the agent has changed nothing. After a
   change it is an offer ("Shall I also ...?"), and the change goes on to its checks.
"""

import json
import re
from collections.abc import Iterator

from interlock.model.outcome import Asking
from interlock.model.session import Event, EventKind
from interlock.model.shown import printable

TEXT_CHARS = 1_000
MESSAGE_CHARS = 4_000
ASKING = frozenset(
    {
        *("askuserquestion", "ask_user_question", "ask_user", "ask_followup_question"),
        *("request_user_input", "question", "ask_person"),
    }
)
"""The tools of programs for asking people, in lower case; the last one is ours."""
_OURS = re.compile(r"^(?:mcp)?[_-]{0,2}interlock[_.:-]{1,2}")
"""How programs name the server of a tool before the tool itself."""
_LINE = re.compile(r"^[ \t]*::interlock[ \t]+ask\b[ \t]*(.*)", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\(?\w{1,2}[.)])\s")
_MARKS = ("?", "\uff1f", "\u061f")
"""Question marks of Latin, Chinese and Japanese, and Arabic script."""
_CLOSING = " \t\n*_`\"')]\u00bb\u201d\u2019"
"""Marks that may follow: emphasis, quotation, parentheses."""


def is_asking(tool: str) -> bool:
    """Tell if it is a tool for asking people. Without a person at the terminal no program can run it."""
    return _OURS.sub("", tool.lower()) in ASKING


class Closing:
    """The end of what an agent has said so far."""

    def __init__(self) -> None:
        self._message = ""
        self._asked = ""
        self.has_begun = False

    def note(self, event: Event) -> None:
        """Take in what it said or did."""
        self.has_begun = self.has_begun or event.kind in (EventKind.MESSAGE, EventKind.TOOL)
        if event.kind in (EventKind.MESSAGE, EventKind.END) and event.ok and event.text.strip():
            self._message = event.text
        elif event.kind is EventKind.TOOL:
            self._asked = _question_in(event.text) if is_asking(event.tool) else ""

    def ask(self, question: str) -> None:
        """Take a question in that it asked with our own tool, which some programs do not report."""
        self._asked = question

    def asks(self, printed: str) -> Asking | None:
        """The question that it ended with. `printed` is the output of a program that only prints."""
        message = printable(self._message or printed).strip()
        explicit = _explicit(message) or printable(self._asked).strip()
        text = explicit or _last_question(message)
        return Asking(text[:TEXT_CHARS], message[-MESSAGE_CHARS:], bool(explicit)) if text else None


def _explicit(message: str) -> str:
    found = list(_LINE.finditer(message))
    if not found:
        return ""
    return found[-1][1].strip(_CLOSING) or message[found[-1].end() :].strip()


def _last_question(message: str) -> str:
    """The last paragraph if it asks; with a list of choices below it, both."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", message) if part.strip()]
    for count in (1, 2):
        asked = paragraphs[-count:]
        if len(asked) == count and asked[0].rstrip(_CLOSING).endswith(_MARKS):
            return "\n\n".join(asked)
        if not asked or not all(_ITEM.match(line) for line in asked[0].splitlines()):
            return ""
    return ""


def _question_in(given: str) -> str:
    """Return the questions in the arguments of a tool for asking, else all of them."""
    try:
        arguments = json.loads(given)
    except ValueError:
        return given
    return "\n".join(_questions(arguments)) or given


def _questions(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _questions(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name in ("question", "prompt") and isinstance(each, str):
                yield each
            else:
                yield from _questions(each)
