"""Facts of older and newer versions: what is read, what is passed over, and what must not be."""

import dataclasses
import enum
import json
import typing
from pathlib import Path
from typing import Any

import pytest

from interlock.events import facts as f
from interlock.events.fold import fold
from interlock.events.record import Unreadable, decode, encode, seal
from interlock.events.snapshot import pack, sealed, unpack
from interlock.events.state import State
from interlock.events.versions import ANY, FIRST, SHAPES, UPCASTS, Unknown, marked, marks_of, newest
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why, said
from interlock.model.task import TaskId
from tests.events.journal import Journal

GOLDEN = Path(__file__).parents[1] / "golden"
DIGEST = 32
"""Bytes of a snapshot before its JSON."""
RELEASES = sorted(path.parent for path in GOLDEN.glob("*/shapes.json"))
DEFERRED = '{"task": "a", "attempt": 1, "phase": "implement", "epoch": 1, "why": "%s"}'
FAILED = '{"task": "a", "attempt": 1, "phase": "implement", "epoch": 1, "error": "%s"}'
NEWER = Unreadable("Unpaused", True, "0.9.0", "version 9 of its kind")
PIPELINE = '{"task": {"id": "a", "goal": "g", "agent": {"name": "x", "use": "command"}, "pipeline": [%s]}}'


# Any: JSON, made from any type.
def shape(hint: Any) -> Any:
    """The shape of a fact or of one of its fields, as `shapes.json` of each release has it."""
    if hint is Reason:
        return "Reason"  # a new code needs no new version
    if hasattr(hint, "__supertype__"):
        return shape(hint.__supertype__)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return {each.name: [shape(hints[each.name]), _is_required(each)] for each in dataclasses.fields(hint)}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"one of": [member.value for member in hint]}
    if given := typing.get_args(hint):
        origin = typing.get_origin(hint)
        return [getattr(origin, "__name__", ""), *(shape(each) for each in given if each is not Ellipsis)]
    return getattr(hint, "__name__", str(hint))


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def unreadable(old: Any, new: Any) -> bool:
    """Is there anything in the old shape that the new one does not take."""
    if not isinstance(old, type(new)):
        return True
    if isinstance(old, dict) and "one of" in old:
        return not set(old["one of"]) <= set(new["one of"])
    if isinstance(old, dict):
        lost = [name for name in old if name not in new or unreadable(old[name][0], new[name][0])]
        return bool(lost) or any(new[name][1] and not old.get(name, [0, False])[1] for name in new)
    if isinstance(old, list):
        return len(old) != len(new) or any(map(unreadable, old, new))
    return bool(old != new)


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)
def test_a_kind_whose_shape_changed_since_a_release_has_a_new_version_and_an_upcaster(release: Path) -> None:
    shapes = json.loads((release / "shapes.json").read_text())
    today = {kind: shape(known) for kind, known in f.kinds().items()}
    for kind, old in shapes.items():
        assert kind in today, f"{kind} is gone, and logs of {release.name} have it"
        if unreadable(old, today[kind]):
            assert SHAPES.get(kind, FIRST).version > 1, (
                f"{kind} changed: raise its version in events/versions"
            )
    for kind in today.keys() - shapes.keys():
        assert SHAPES[kind].needs, f"{kind} is new: say in events/versions what an older version does with it"


def test_each_version_of_a_kind_has_an_upcaster_and_says_what_it_needs() -> None:
    assert {(kind, step) for kind, made in SHAPES.items() for step in range(1, made.version)} == set(UPCASTS)
    assert all(made.needs for made in SHAPES.values())


def test_the_shapes_are_compared_by_what_a_reader_can_do_with_them() -> None:
    old = {"task": ["str", True], "why": ["str", False]}
    assert not unreadable(old, {**old, "note": ["str", False]})
    assert unreadable(old, {**old, "note": ["str", True]})
    assert unreadable(old, {"task": ["str", True]})
    assert unreadable({"one of": ["a", "b"]}, {"one of": ["a"]})


@pytest.mark.parametrize(
    ("kind", "body", "found"),
    [
        ("TaskSplit", "{}", Unreadable("TaskSplit", True, "", "its kind")),
        ("TaskSplit", '{"_v":1,"_needs":"0.9.0"}', Unreadable("TaskSplit", True, "0.9.0", "its kind")),
        ("TaskSplit", f'{{"_v":1,"_needs":"{ANY}","task":"a"}}', Unreadable("TaskSplit")),
        ("Unpaused", '{"_v":9,"_needs":"0.9.0","task":"a"}', NEWER),
        ("Unpaused", f'{{"_v":9,"_needs":"{ANY}","task":"a","later":1}}', f.Unpaused(TaskId("a"))),
        ("Unpaused", '{"task": "a", "later": 1}', f.Unpaused(TaskId("a"))),
        (
            "PhaseFailed",
            FAILED % "struck-by-lightning",
            f.PhaseFailed(TaskId("a"), 1, "implement", 1, error=ErrorClass.EXIT),
        ),
        (
            "TaskAccepted",
            PIPELINE % '{"name": "x", "kind": "review"}',
            Unreadable("TaskAccepted", True, "", "`review`"),
        ),
        ("TaskAccepted", PIPELINE % '{"name": 7}', Unreadable("TaskAccepted")),
        (
            "TaskFailed",
            '{"task":"a","attempt":2,"why":"no use"}',
            f.TaskFailed(TaskId("a"), 2, said("no use")),
        ),
        (
            "PhaseDeferred",
            DEFERRED % "stopped on request",
            f.PhaseDeferred(TaskId("a"), 1, "implement", 1, Reason(Why.STOPPED)),
        ),
        (
            "PhaseDeferred",
            DEFERRED % "disk full",
            f.PhaseDeferred(TaskId("a"), 1, "implement", 1, said("disk full")),
        ),
        ("PhaseDeferred", DEFERRED % "", f.PhaseDeferred(TaskId("a"), 1, "implement", 1)),
        (
            "PhaseStarted",
            DEFERRED % 'its turn; given to x: good", "agent_why": "good',
            f.PhaseStarted(
                TaskId("a"), 1, "implement", 1, why=said("its turn; given to x: good"), agent_why=said("good")
            ),
        ),
        (
            "TaskFailed",
            '{"_v":2,"_needs":"0.2.0","task":"a","attempt":2,"why":{"code":"later","fields":{"n":1}}}',
            f.TaskFailed(TaskId("a"), 2, Reason("later", {"n": 1})),
        ),
    ],
)
def test_what_a_reader_does_with_a_row_that_it_does_not_know(kind: str, body: str, found: f.Fact) -> None:
    assert decode(kind, body) == found


@pytest.mark.parametrize(
    "body",
    [
        '{"_needs":"0.9.0","_v":9,"task":"a"}',
        '{ "_v":9,"_needs":"0.9.0","task":"a"}',
        '{"task":"a","_v":9,"_needs":"0.9.0"}',
        '{"_v": 9, "_needs": "0.9.0", "task": "a"}',
        '{"_v":9,"task":"a"}',
        '{"_v":1,"_needs":"0","task":"a","_v":9,"_needs":"0.9.0"}',
        r'{"\u005fv":9,"_needs":"0.9.0","task":"a"}',
        '{"_v":10000000,"_needs":"0.9.0","task":"a"}',
        '{"_v":"9","_needs":"0.9.0","task":"a"}',
        '{"_v":9,"_needs":" 0","task":"a"}',
        '{"_v":9,"_needs":"' + "0.9.0-" * 9 + '","task":"a"}',
    ],
)
def test_the_marks_of_a_newer_version_count_wherever_json_allows_them(body: str) -> None:
    found = decode("Unpaused", body)
    assert isinstance(found, Unreadable)
    assert found.is_needed


def test_what_looks_like_a_mark_inside_a_value_is_none() -> None:
    said = f.MessageSaid(TaskId("a"), '{"_v":9,"_needs":"0.9.0"} \x1b')
    assert decode(*encode(said)) == said


def test_a_need_is_remembered_with_the_first_fact_and_the_highest_version() -> None:
    rows = Journal().rows
    for kind, needs in (("Fun", ANY), ("TaskSplit", "0.9.0"), ("TaskSold", "0.10.0"), ("TaskBought", "")):
        body = f'{{"_v":1,"_needs":"{needs}"}}'
        row = seal("", len(rows) + 1, 1.0, "later", f.Unpaused())
        rows.append(dataclasses.replace(row, kind=kind, body=body))
    state = fold(rows)
    assert (state.passed_over, state.unknown) == (1, Unknown(2, "TaskSplit", "0.10.0", "its kind"))
    assert newest("0.10.0", "0.9.9", "") == "0.10.0"


def test_marks_stand_before_the_fields_and_are_no_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    assert marked("Unpaused", "{}") == "{}"
    for kind, made in SHAPES.items():
        assert marks_of(marked(kind, "{}")) == marks_of(marked(kind, '{"a":1}')) == made
        assert json.loads(marked(kind, '{"a":1}'))["a"] == 1
    assert decode(*encode(f.Unpaused(TaskId("a")))) == f.Unpaused(TaskId("a"))


def test_a_snapshot_of_a_version_that_knew_other_kinds_is_not_used() -> None:
    data = pack(State())
    assert unpack(data, State().hash) == State()
    other = data[DIGEST:].replace(b"Unpaused\x01", b"Unpaused\x02")
    assert unpack(sealed(data[DIGEST:]), State().hash) == State()
    assert unpack(sealed(other), State().hash) is None


def test_sentences_of_older_failures_and_forecasts_are_reasons_that_say_the_same() -> None:
    failed = decode(
        "PhaseFailed", '{"task":"a","attempt":1,"phase":"verify","epoch":1,"summary":"`make` exited 2"}'
    )
    assert isinstance(failed, f.PhaseFailed)
    assert failed.why == said("`make` exited 2")
    forecast = (
        '{"category":"docs","category_why":"declared","agent":"x","seconds":1,"seconds_p90":2,"success":0.5,'
        '"footprint":[{"path":"a.md","probability":0.9,"source":"declared","why":"the task says so"}]}'
    )
    estimated = decode("TaskEstimated", f'{{"task":"a","forecast":{forecast}}}')
    assert isinstance(estimated, f.TaskEstimated)
    assert estimated.forecast.category_why == said("declared")
    assert estimated.forecast.footprint[0].why == said("the task says so")
