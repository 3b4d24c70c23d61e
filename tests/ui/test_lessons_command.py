"""`interlock lessons`: scope, text, where it comes from, and figures (K5)."""

import pytest

from interlock.events.facts import LessonLearned, LessonRetired, LessonsOffered, PhaseFailed
from interlock.model.claim import task_resource
from interlock.model.lesson import Lesson
from interlock.model.outcome import ErrorClass
from interlock.model.reason import said
from interlock.model.task import Commit, TaskId
from tests.ui.conftest import Lab, task

LEARNED = Lesson(
    "4f1c09ab",
    "`make test` fails without the right change of conf.py",
    "See whether yours needs the same.",
    "f1",
    "api",
    ("src/api/**",),
    TaskId("a"),
    2,
    Commit("c" * 40),
    1,
    "make test",
    "error: \x1b[31mstrict must be set",
    "+strict = yes",
)


@pytest.fixture
def taught(lab: Lab) -> Lab:
    """One lesson, with which an attempt of a task failed."""
    lab.accept(task("a"), task("b"))
    lab.write(LessonLearned(LEARNED))
    epoch = lab.start("b").epoch
    key = (TaskId("b"), 1, "implement", epoch)
    lab.write(
        LessonsOffered(*key, offered=("4f1c09ab",)), PhaseFailed(*key, ErrorClass.EXIT, said("no"), "f")
    )
    lab.release(task_resource("b"))
    return lab


def test_a_lesson_is_listed_with_its_scope_and_its_figures(taught: Lab) -> None:
    said = taught.run("lessons").out
    assert "4f1c09ab  in use  `make test` fails without the right change of conf.py" in said
    assert "of api tasks that must pass `make test` or in src/api/**" in said
    assert "0 of 1 attempts landed with it, none tried without" in said
    found = taught.run("lessons", "--json").json[0]
    assert found["scope"] == {"category": "api", "paths": ["src/api/**"], "check": "make test"}
    assert (found["with"], found["without"]) == ({"tried": 1, "landed": 0}, {"tried": 0, "landed": 0})
    assert 0 < found["helps"] < 0.5


def test_one_lesson_is_shown_in_full_without_what_a_terminal_would_obey(taught: Lab) -> None:
    said = taught.run("lessons", "4f1c").out
    assert "from      a: attempt 1 failed, attempt 2 landed as cccccccccccc" in said
    assert "symptom   error: strict must be set" in said
    assert "  +strict = yes" in said
    assert "next: interlock lessons 4f1c09ab --retire" in said
    assert taught.run("lessons", "4f1c", "--json").json["from"]["attempt"] == 2


def test_a_person_takes_a_lesson_away(taught: Lab) -> None:
    assert "no attempt gets 4f1c09ab any more" in taught.run("lessons", "4f1c", "--retire", "-m", "old").out
    assert taught.facts()[-1] == LessonRetired("4f1c09ab", "old")
    left = taught.run("lessons")
    assert (left.out, "1 more lesson retired: interlock lessons --all" in left.err) == ("", True)
    assert "retired" in taught.run("lessons", "--all").out
    again = taught.run("lessons", "4f1c", "--retire")
    assert (again.code, "retired already" in again.err) == (2, True)


def test_what_is_no_lesson_is_an_error_with_the_next_command(lab: Lab) -> None:
    for words in (("zzz",), ("zzz", "--retire")):
        unknown = lab.run("lessons", *words)
        assert (unknown.code, "interlock lessons --all" in unknown.err) == (2, True)
    assert lab.run("lessons", "--retire").code == 2
    assert "no lessons yet" in lab.run("lessons").err
