"""Versions of facts: the shape that each kind is written in, and how an older shape becomes that one.

Rules (`docs/why/log-versions.md` has the reasons):
1. A new field with a default, or a new kind that changes no decision, needs nothing here but a line in
   `SHAPES` for the new kind.
2. Any other change of a kind raises its version here, with an upcaster from the version before.
3. Each row of a kind that has a line here begins with two marks: `_v`, its version, and `_needs`, the oldest
   Interlock that may decide anything from a log with this row. `ANY`: a version that does not know the row
   passes over it.
4. An upcaster is a pure function from the fields of a row to those of the next version.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

ANY = "0"
"""Every version may pass over such a row."""

# Any: the fields of a fact as JSON has them.
Body = dict[str, Any]
Upcast = Callable[[Body], Body]


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of a kind of fact, as this version writes them."""

    version: int = 1
    needs: str = ""
    """The oldest Interlock that may go on with a log that has such a row; empty: the first release."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The first fact that this version does not know and must not go on without."""

    seq: int
    kind: str
    needs: str
    """The oldest Interlock that knows all such facts of the log; empty: none of them says."""
    what: str = ""
    """The part of the fact that is not known."""


_REASONED = (
    "TaskAccepted",
    "TaskFailed",
    "CandidateStale",
    "PhaseStarted",
    "TaskEstimated",
    "PhaseFailed",
    "PhaseLost",
    "PhaseDeferred",
    "ClutchDecided",
    "ProviderBraked",
    "RunEnded",
    "MainSeen",
    "WorkspaceArchived",
    "ScopeAnswered",
    "NothingLearned",
)
"""Kinds whose reasons were sentences."""
_PROPOSING = ("PullRequestOpened", "ReviewReceived")
_REVIEWING = ("ReviewOpened", "ReviewApproved", "ReviewRejected")
_JOINING = ("CandidateJoined",)
_UNDOING = ("RevertPrepared", "TaskUndone", "TaskReopened", "MainJudged", "CulpritFound")
SHAPES: Mapping[str, Shape] = {
    **dict.fromkeys(_REASONED, Shape(2, "0.2.0")),
    **dict.fromkeys(_UNDOING, Shape(1, "0.2.0")),
    **dict.fromkeys((*_PROPOSING, *_REVIEWING, *_JOINING), Shape(1, "0.2.0")),
    **dict.fromkeys(("PullRequestSeen", "StatementsDelayed", "OverlapSeen", "OverlapGone"), Shape(1, ANY)),
    "GaveWay": Shape(1, ANY),
    **dict.fromkeys(
        ("BuildStarted", "BuildEnded", "Bumped", "CheckFlaked", "ReviewCommented"), Shape(1, ANY)
    ),
    **dict.fromkeys(("TaskProposed", "ProposalDeclined", "BudgetRaised"), Shape(1, ANY)),
}
"""By kind. Kinds of the first release that have not changed since are not listed, and carry no marks."""


def _accepted_from_a_graph(body: Body) -> Body:
    """Until version 2 only graph files had tasks, one file at a time."""
    return {**body, "origin": {"kind": "graph", "name": ""}}


def _said(text: object) -> Body | None:
    return {"code": "said", "fields": {"text": text}} if text else None


def _reason_was_a_sentence(body: Body) -> Body:
    """Until version 2 reasons were sentences; nothing is read out of them."""
    texts = {name: body[name] for name in ("why", "agent_why") if name in body}
    return body | {name: _said(text) for name, text in texts.items()}


def _summary_was_a_sentence(body: Body) -> Body:
    """Until version 2 a failure had one line for people."""
    rest = {name: value for name, value in body.items() if name != "summary"}
    return _reason_was_a_sentence({**rest, "why": body.get("summary", "")})


def _forecast_had_sentences(body: Body) -> Body:
    """Until version 2 a forecast said in words what it was inferred from."""
    forecast = body.get("forecast")
    if not isinstance(forecast, dict):
        return body
    listed = forecast.get("footprint", [])
    chances = [
        {**each, "why": _said(each.get("why"))} if isinstance(each, dict) else each
        for each in (listed if isinstance(listed, list) else [])
    ]
    changed = {"category_why": _said(forecast.get("category_why")), "footprint": chances}
    return {**body, "forecast": {**forecast, **changed}}


def _stops_were_a_sentence(body: Body) -> Body:
    """Until version 2 every stop had this one sentence, which is not to be counted as trouble."""
    is_stop = str(body.get("why")).startswith("stopped on request")
    return {**body, "why": {"code": "stopped"}} if is_stop else _reason_was_a_sentence(body)


UPCASTS: Mapping[tuple[str, int], Upcast] = {
    **dict.fromkeys(((kind, 1) for kind in _REASONED), _reason_was_a_sentence),
    ("TaskAccepted", 1): _accepted_from_a_graph,
    ("TaskEstimated", 1): _forecast_had_sentences,
    ("PhaseFailed", 1): _summary_was_a_sentence,
    ("PhaseDeferred", 1): _stops_were_a_sentence,
}
"""By kind and the version that a row has: the function that makes it one version newer."""

FIRST = Shape()
_MARKS = re.compile(r'\{"_v":(\d{1,6}),"_needs":"([\w.+-]{0,40})"[,}]')
_NO_VERSION = re.compile(r"[^\w.+-]")
_NEEDS_LENGTH = 40
_NEWER_THAN_ALL = 10**6
"""The version of a row whose `_v` is no version: this Interlock does not know it."""


def marked(kind: str, body: str) -> str:
    shape = SHAPES.get(kind)
    if shape is None:
        return body
    rest = body[1:] if body == "{}" else f",{body[1:]}"
    return f'{{"_v":{shape.version},"_needs":"{shape.needs}"{rest}'


def marks_of(body: str) -> Shape:
    """The version and the need that a row says it has.

    Almost every row is told from its text: it has no name that begins with `_`, or only the two marks, where
    `marked` puts them. Any other row is parsed: in JSON a mark may stand anywhere, twice, or be escaped.
    """
    found = _MARKS.match(body)
    if '"_' in body[found.end() if found else 0 :] or "\\u005" in body:
        return _parsed_marks(body)
    return Shape(int(found[1]), found[2]) if found else FIRST


def _parsed_marks(body: str) -> Shape:
    try:
        said = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return FIRST  # no JSON: no fact is made of it
    version, needs = _plain(said.get("_v"), 1), _plain(said.get("_needs"), "")
    if type(version) is not int:
        version = _NEWER_THAN_ALL
    if not isinstance(needs, str):
        needs = ""
    short = _NO_VERSION.sub("", needs)[:_NEEDS_LENGTH]
    return Shape(version, "" if short == ANY != needs else short)


def _plain(value: msgspec.Raw | None, absent: object) -> object:
    return absent if value is None else msgspec.json.decode(value)


def upcast(kind: str, version: int, body: Body) -> Body:
    for step in range(version, SHAPES.get(kind, FIRST).version):
        body = UPCASTS[kind, step](body)
    return body


def newest(*versions: str) -> str:
    """The highest of these version numbers; what is not a number counts as 0."""
    return max(versions, key=lambda text: [int(part) for part in re.findall(r"\d{1,9}", text)])
