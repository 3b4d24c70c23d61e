"""Finds sessions that go round in circles, from their events. It keeps no more of them than it needs.

1. A tool call is new if the session has not made it before, or not since its last new edit, or if its result
   is new: an agent that runs the tests after each edit, or waits for a server, makes progress.
2. So is an edit only if it was not made before: a diff that comes and goes is none.
3. A message is new if it was not said before and is no apology. Only a new call ends a row of old messages.
4. Digits do not make a result or a message new: times and counters differ each time.
5. The limits are learned: old calls in a row may be twice as many as in any session that left a change. The
   next session like those n before is stopped with a chance of at most 1 in n + 1.
"""

import math
import re
from dataclasses import dataclass

from interlock.events.state import State, TaskState
from interlock.events.tallies import Sums, kind
from interlock.model.activity import verb_of
from interlock.model.progress import CircleLimits
from interlock.model.reason import Reason, Value, Why
from interlock.model.session import Event, EventKind
from interlock.model.shown import shown

MANY_SESSIONS = 20
"""Below so many the tokens of a kind of work say nothing about its limits."""
DEVIATIONS = 4.0
"""Standard deviations of the logarithm of an attempt's tokens. If that is normal, one in 30,000 has more."""
LEAST_TIMES = 4.0
KEPT = 20_000
"""Calls, results and messages that are remembered of a session."""
_EDITS = ("edit", "delete", "move")
_APOLOGY = re.compile(
    r"\b(?:sorry|apologi[sz]e|apologies|my mistake|you(?:'|\u2019)?re (?:absolutely )?right)\b", re.I
)
_NO_LETTERS = re.compile(r"[\W\d_]+")


def circle_limits(state: State, task: TaskState, agent: str, model: str, least: int) -> CircleLimits:
    """Return the limits for one attempt. `least`: of the settings; 0: no session is stopped."""
    if not least:
        return CircleLimits()
    key = kind(task.category, agent, model)
    tally = state.learned.tallies.kinds.get(key)
    if tally is None:
        return CircleLimits(least)
    return CircleLimits(max(least, 2 * tally.repeats), _token_limit(tally.tokens))


def _token_limit(sums: Sums) -> int:
    if sums.count < MANY_SESSIONS:
        return 0
    mean = sums.y / sums.count
    spread = math.sqrt(max(0.0, sums.yy / sums.count - mean * mean))
    return int(math.exp(min(50.0, max(mean + DEVIATIONS * spread, mean + math.log(LEAST_TIMES)))))


@dataclass(slots=True)
class _Row:
    """Old things in a row."""

    length: int = 0
    longest: int = 0

    def more(self) -> None:
        self.length += 1
        self.longest = max(self.longest, self.length)


class Progress:
    """One session so far."""

    def __init__(self, limits: CircleLimits) -> None:
        self._limits = limits
        self._edits: set[int] = set()
        self._calls: set[int] = set()
        """Other calls, since the last new edit."""
        self._results: set[int] = set()
        self._said: set[int] = set()
        self._asked: dict[str, int] = {}
        """Calls without a result yet."""
        self._old_calls, self._old_words = _Row(), _Row()
        self._has_tools = False
        self._tokens_at_edit = 0
        self._tokens = 0
        self._last = ""

    @property
    def repeats(self) -> int:
        """Return the longest row of old calls."""
        return self._old_calls.longest

    def hear(self, event: Event) -> Reason | None:
        """Take an event in; the reason to stop the session, if there is one."""
        if event.usage:
            self._tokens = max(self._tokens, event.usage.tokens)
        match event.kind:
            case EventKind.TOOL:
                self._has_tools = True
                self._call(event, is_edit=verb_of(event.tool) in _EDITS)
            case EventKind.COMMAND if not self._has_tools:
                self._call(event, is_edit=False)
                self._result(hash((event.tool, event.text)), str(event.exit_code))
            case EventKind.EDIT if not self._has_tools:
                self._new_edit()
            case EventKind.RESULT:
                if event.call in self._asked:
                    self._result(self._asked.pop(event.call), event.text)
            case EventKind.MESSAGE:
                self._message(event.text)
            case _:
                pass
        return self._verdict()

    def _call(self, event: Event, *, is_edit: bool) -> None:
        signature = hash((event.tool, event.text))
        known = self._edits if is_edit else self._calls
        if signature in known:
            self._old_calls.more()
            self._last = shown(f"{event.tool} {event.text}".strip())[:80]
        else:
            _note(known, signature)
            self._new()
            if is_edit:
                self._new_edit()
        if event.call and len(self._asked) < KEPT:
            self._asked[event.call] = signature

    def _new(self) -> None:
        self._old_calls.length = self._old_words.length = 0

    def _new_edit(self) -> None:
        self._new()
        self._calls.clear()
        self._tokens_at_edit = self._tokens

    def _result(self, signature: int, text: str) -> None:
        told = hash((signature, _NO_LETTERS.sub(" ", text)))
        if text and told not in self._results:
            _note(self._results, told)
            self._new()

    def _message(self, text: str) -> None:
        words = _NO_LETTERS.sub(" ", text.lower()).strip()
        if not words:
            return
        if hash(words) in self._said or _APOLOGY.search(text):
            self._old_words.more()
        _note(self._said, hash(words))

    def _verdict(self) -> Reason | None:
        most, tokens = self._limits.repeats, self._tokens - self._tokens_at_edit
        if most and self._old_calls.length >= most:
            return self._why("calls", self._old_calls.length)
        if most and self._old_words.length >= most:
            return self._why("words", self._old_words.length)
        if self._limits.tokens and tokens > self._limits.tokens:
            return self._why("tokens", tokens)
        return None

    def _why(self, what: str, count: int) -> Reason:
        fields: dict[str, Value] = {"what": what, "count": count, "tokens": self._tokens}
        return Reason(Why.NO_PROGRESS, fields | ({"call": self._last} if what == "calls" else {}))


def _note(known: set[int], signature: int) -> None:
    if len(known) < KEPT:
        known.add(signature)
