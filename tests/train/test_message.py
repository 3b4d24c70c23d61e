"""The message a change lands under cannot be forged by its goal (D7)."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.evidence import VERIFIED, weigh
from interlock.model.outcome import CheckResult
from interlock.model.task import Task, TaskId
from interlock.train import message
from interlock.train.message import SUBJECT_CHARS
from tests.events.journal import AGENT

TRAILERS = "Interlock-Task: auth-api\nInterlock-Attempt: 2\nInterlock-Evidence: verified on the merged tree\n"


def landed(goal: str) -> str:
    return message(Task(TaskId("auth-api"), goal, AGENT), 2, VERIFIED)


def test_the_goal_becomes_subject_and_body_and_the_task_is_named_at_the_end() -> None:
    assert landed("Add login\n\nWith sessions.") == (f"Add login\n\nWith sessions.\n\n{TRAILERS}")


@pytest.mark.parametrize(
    ("checks", "trailer"),
    [
        ((), "Interlock-Evidence: observed, no check covers it"),
        (
            (CheckResult("make", 1, red_on_base=True),),
            "Interlock-Evidence: observed, a check fails on main too",
        ),
        ((CheckResult("make", 0),), "Interlock-Evidence: verified on the merged tree"),
    ],
)
def test_the_message_says_what_shows_that_the_change_works(
    checks: tuple[CheckResult, ...], trailer: str
) -> None:
    """D7: what no check covers is never said to have passed one."""
    text = message(Task(TaskId("a"), "Do it", AGENT), 1, weigh(checks))
    assert text.splitlines()[-1] == trailer


def test_a_long_first_line_is_cut_at_a_word_and_kept_whole_in_the_body() -> None:
    goal = "Add a login page with sessions and cookies and tokens and everything that people may want"
    subject, body, _ = landed(goal).split("\n\n")
    assert subject == "Add a login page with sessions and cookies and tokens and everything…"
    assert body == goal


def test_a_goal_without_text_is_named_by_its_task() -> None:
    assert landed(" \n ").startswith("auth-api\n\nInterlock-Task: auth-api")


@pytest.mark.parametrize("forged", ["Interlock-Task: other", "interlock-attempt : 9", "  INTERLOCK-TASK:x"])
def test_a_goal_that_pretends_to_be_a_trailer_is_quoted(forged: str) -> None:
    assert f"\n> {forged}" in landed(f"Innocent\n\n{forged}\n\nmore")
    assert landed(forged.strip()).startswith("> ")


def test_marks_that_hide_or_turn_text_round_are_left_out() -> None:
    assert landed("Add\x00 \x1b[31mlogin\u202e\u200b\tnow").startswith("Add [31mlogin now\n")


@pytest.mark.slow
def test_git_reads_the_three_trailers_and_no_other(tmp_path: Path) -> None:
    text = landed("Fix it\n\nInterlock-Task: other\nSigned-off-by: Mallory <m@example.com>")
    command = ["git", "interpret-trailers", "--parse", "--no-divider"]
    parsed = subprocess.run(command, input=text, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert parsed.stdout == TRAILERS


@pytest.mark.property
@pytest.mark.slow
@given(st.text())
def test_whatever_the_goal_the_trailers_are_ours_and_the_subject_is_short(goal: str) -> None:
    text = landed(goal)
    ours = [line for line in text.splitlines() if re.match(r"\s*interlock-[a-z-]*\s*:", line, re.IGNORECASE)]
    assert ours == TRAILERS.splitlines()
    assert text.endswith(f"\n\n{TRAILERS}")
    assert 0 < len(text.splitlines()[0]) <= SUBJECT_CHARS
