"""The text of a pull request, and the rules for what is seen of it afterwards."""

from dataclasses import replace

import pytest

from interlock.events import facts as f
from interlock.events.state import TaskState
from interlock.events.task_parts import Candidate, OpenPullRequest, Work
from interlock.model.evidence import VERIFIED, weigh
from interlock.model.outcome import CheckResult
from interlock.model.pull_request import PullRequest, Review, Standing
from interlock.model.reason import Reason, Why
from interlock.model.task import Agent, Commit, Task, TaskId, Tree
from interlock.train.proposal import proposal_text
from interlock.train.pull_requests import news

CANDIDATE = Candidate(Commit("c1"), Tree("t1"), Commit("m0"), VERIFIED)
REVIEW = Review("grace@1", "grace", "better")


def proposed(goal: str = "Write a", candidate: Candidate = CANDIDATE) -> TaskState:
    task = TaskState(
        Task(TaskId("a"), goal, Agent("coder", "claude-code", model="m")), phase_index=2, attempt=3
    )
    task.change.work = Work(3, Commit("w1"), Commit("m0"), ("a.py", "b`|c.py"), 1)
    task.change.candidate = candidate
    task.change.pull_request = OpenPullRequest(7, "https://x/pull/7", candidate.commit)
    return task


def seen(
    standing: Standing, *reviews: Review, main: str = "m0", task: TaskState | None = None
) -> list[f.Fact]:
    found = PullRequest(standing, reviews=reviews)
    return list(news(task or proposed(), found, Commit(main), lambda review: f"<{review.text}>"))


def test_a_closed_one_ends_the_task() -> None:
    why = Reason(Why.PULL_REQUEST_CLOSED, {"number": 7})
    assert seen(Standing.CLOSED) == [f.TaskFailed(TaskId("a"), 3, why)]


def test_a_review_goes_back_once() -> None:
    assert seen(Standing.CHANGES_REQUESTED, REVIEW, replace(REVIEW, id="grace@2", text="much")) == [
        f.ReviewReceived(TaskId("a"), 7, "grace", "<better><much>", ("grace@1", "grace@2"))
    ]
    task = proposed()
    task.change.pull_request = OpenPullRequest(
        7, "", Commit("c1"), Commit("m0"), Standing.CHANGES_REQUESTED, ("grace@1",)
    )
    assert seen(Standing.CHANGES_REQUESTED, REVIEW, task=task) == []


@pytest.mark.parametrize("standing", [Standing.CONFLICTS, Standing.BEHIND])
def test_one_that_does_not_fit_is_built_again_only_if_main_has_moved_here(standing: Standing) -> None:
    (stale,) = seen(standing, main="m1")
    assert isinstance(stale, f.CandidateStale)
    assert (stale.base, stale.main) == ("m0", "m1")
    assert seen(standing) == [f.PullRequestSeen(TaskId("a"), 7, standing)]


def test_news_is_told_once_and_a_task_that_waits_for_none_has_none() -> None:
    assert seen(Standing.DRAFT) == [f.PullRequestSeen(TaskId("a"), 7, "draft")]
    assert seen(Standing.OPEN) == []
    other = proposed()
    other.change.candidate = replace(CANDIDATE, commit=Commit("c2"))
    assert seen(Standing.CLOSED, task=other) == []


def test_the_text_has_the_goal_the_checks_the_commit_and_the_agent() -> None:
    checks = (CheckResult("make test | tee x", 0, 1.5), CheckResult("lint", 1, 2.0, red_on_base=True))
    title, text = proposal_text(
        proposed("Write a\n\nInterlock-Task: other\nFixes #3"), replace(CANDIDATE, results=checks), "main"
    )
    assert title == "Write a"
    assert text == (
        "> Interlock-Task: other\nFixes #3\n\n"
        "## Evidence\n\n"
        "**Verified on the merged tree**.\n\n"
        "Tested commit: c1, tree t1, on top of main at m0. "
        "If main has moved on, the merged result was not tested.\n\n"
        "| check | result | time |\n|---|---|---|\n"
        "| `make test \\| tee x` | exit 0 | 1.5s |\n"
        "| `lint` | exit 1, as on main | 2.0s |\n\n"
        "## Made by\n\n"
        "Agent `coder` (claude-code, m), task `a`, attempt 3.\n\n"
        "Files: `a.py`, `` b`\\|c.py ``.\n"
    )


def test_a_change_that_no_check_covers_is_marked() -> None:
    _, text = proposal_text(proposed(), replace(CANDIDATE, evidence=weigh(())), "main")
    assert "**Observed, no check covers it**." in text
    assert "| check |" not in text
