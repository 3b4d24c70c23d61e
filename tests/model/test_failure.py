"""When two failures are one: what stops a task that fails the same way twice (W11, W12)."""

# ruff: noqa: S108 - messages that speak of such paths; nothing is written there

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.failure import fingerprint, normalised, symptom
from interlock.model.outcome import ErrorClass
from interlock.model.reason import said as because

CHECK = ErrorClass.CHECK

SAME = [
    ("FAILED in 1.23s", "FAILED in 45.6s"),
    ("took 12 ms", "took 3.4 ms"),
    ("line 12: bad", "line 345: bad"),
    ("2024-01-31T12:00:00Z error", "2025-11-02T01:02:03.456Z error"),
    ("at 12:01:02 died", "at 23:59:59.123 died"),
    ("object at 0x7f12ab00", "object at 0x55aa0123"),
    ("commit 0a1b2c3d4e5f", "commit 9f8e7d6c5b4a"),
    ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-0000-4000-8000-000000000001"),
    ("/tmp/pytest-1/x/test_a.py broke", "/tmp/pytest-22/y/z/test_a.py broke"),
    ("in /var/folders/ab/cd/T/made", "in /var/folders/xy/zz/T/other"),
    ("in tmpab12cd_x", "in tmpzz99yy_q"),
    ("\x1b[31mred\x1b[0m", "red"),
    ("a   b\r\n\n c", "a b c"),
    (
        "/home/me/it/.git/interlock/workspaces/a/1/tree/x.py",
        "/home/me/it/.git/interlock/workspaces/a/2/tree/x.py",
    ),
]
DIFFERENT = [
    ("test_case_1 failed", "test_case_2 failed"),
    ("E501 too long", "E502 too long"),
    ("/tmp/a/test_a.py broke", "/tmp/a/test_b.py broke"),
    ("KeyError: 'a'", "KeyError: 'b'"),
    ("deadbeat", "deadbeef"),
    ("", "something"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_changes_from_run_to_run_does_not_count(one: str, other: str) -> None:
    assert fingerprint(CHECK, "make", one) == fingerprint(CHECK, "make", other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_says_which_thing_failed_counts(one: str, other: str) -> None:
    assert fingerprint(CHECK, "make", one) != fingerprint(CHECK, "make", other)


def test_the_kind_of_error_and_the_command_count() -> None:
    known = fingerprint(CHECK, "make", "x")
    assert known != fingerprint(ErrorClass.TIMEOUT, "make", "x")
    assert known != fingerprint(CHECK, "make test", "x")


words = st.lists(st.text("ghijklmnopqrstuvwxyz", min_size=1), min_size=1, max_size=8)
noise = st.sampled_from(
    ["{n}", "{n}.{n}s", "{n} ms", "0x{n}f", "/tmp/run-{n}/dir", "\x1b[{n}m", "  \n", "2024-01-0{d}"]
)


def said(parts: list[str], noises: list[str], number: int) -> str:
    """The words, with noise between them whose numbers depend on the run."""
    filled = [one.format(n=number, d=number % 9 + 1) for one in noises]
    return " ".join(f"{word} {extra}" for word, extra in zip(parts, filled, strict=True))


@pytest.mark.property
@given(st.data(), words, st.integers(0, 10**9), st.integers(0, 10**9))
def test_two_runs_of_one_failure_have_one_fingerprint(
    data: st.DataObject, parts: list[str], first: int, second: int
) -> None:
    noises = data.draw(st.lists(noise, min_size=len(parts), max_size=len(parts)))
    assert normalised(said(parts, noises, first)) == normalised(said(parts, noises, second))


@pytest.mark.property
@given(words, words)
def test_other_words_have_another_fingerprint(one: list[str], other: list[str]) -> None:
    same = fingerprint(CHECK, "make", " ".join(one)) == fingerprint(CHECK, "make", " ".join(other))
    assert same == (one == other)


@pytest.mark.property
@given(st.text())
def test_any_text_has_a_fingerprint(text: str) -> None:
    name = fingerprint(CHECK, "make", text)
    assert len(name) == 12
    assert int(name, 16) >= 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("E   ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'yaml'"),
        (
            "src/a.ts:12:3 - error TS2304: Cannot find name 'x'.",
            "lib/b.ts(7,1): error TS2304: Cannot find name 'x'.",
        ),
        (
            "\x1b[31merror:\x1b[0m linker `cc` not found",
            "error: linker `cc` not found\nerror: could not compile",
        ),
        (
            "make: *** [test] Error 2\nfatal: no such table: orders",
            "fatal: no such table: orders\nFAILED (errors=3)",
        ),
    ],
)
def test_the_same_cause_shows_in_the_same_way_whatever_else_is_printed(one: str, other: str) -> None:
    """A6: two tasks print different things around it."""
    first = symptom(
        ErrorClass.CHECK, because("`pytest tests/a` exited 1"), f"Output of `pytest tests/a`:\n\n{one}\n"
    )
    second = symptom(
        ErrorClass.CHECK,
        because("`pytest tests/b` exited 1"),
        f"collecting 7 tests\n{other}\n3 failed in 2 s\n",
    )
    assert first == second


def test_a_line_that_could_stand_for_anything_names_no_cause() -> None:
    one = symptom(ErrorClass.CHECK, because("`make` exited 2"), "in test_a\nAssertionError: assert 3 == 4")
    other = symptom(ErrorClass.CHECK, because("`make` exited 2"), "in test_b\nAssertionError: assert 7 == 8")
    assert one.line == other.line == "AssertionError: assert # == #"
    assert one.id != other.id


def test_a_conflict_is_known_by_its_files() -> None:
    text = "error: could not apply this change to the file"
    one, other = (symptom(ErrorClass.CONFLICT, because(f"conflicts in {name}"), text) for name in ("a", "b"))
    assert one.id != other.id
