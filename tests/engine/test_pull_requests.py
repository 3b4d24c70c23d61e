"""`land = "pull-request"`: tested changes are proposed, and land when they are merged there (T7)."""

from pathlib import Path

import pytest

from interlock.ui.cli.exits import ExitCode
from tests.crash.git_faults import ENGINE_TOO, FaultyGit, Point
from tests.engine.github import GitHub
from tests.engine.remotes import Remote
from tests.engine.scratch import Scratch
from tests.tiers import rest_thorough

pytestmark = pytest.mark.slow

SETTINGS = 'land = "pull-request"\nforge = "gh"\nfetch_every = "1s"\npull_request_poll = "1s"\n'
WAITING = ExitCode.NEEDS_PERSON
AGENT = """\
if grep -q 'asks for changes' "$INTERLOCK_PROMPT_FILE"; then word=better; else word=first; fi
echo "$INTERLOCK_TASK_ID $word" > "$INTERLOCK_TASK_ID.txt"
"""


@pytest.fixture
def hub(scratch: Scratch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitHub:
    """A repository with tasks a and b (which needs a), its remote and its pull requests."""
    scratch.write(interlock__toml=SETTINGS)
    tasks = "  a: {goal: Write the file a}\n  b: {goal: x, needs: [a]}\n"
    scratch.graph(tasks, AGENT, verify='"true"')
    return GitHub(tmp_path / "hub", Remote(scratch), monkeypatch)


def reason(scratch: Scratch, task: str) -> str:
    """Why a task is where it is, in words."""
    return next(str(row["reason"]["text"]) for row in scratch.status()["tasks"] if row["id"] == task)


def test_a_change_is_proposed_with_its_evidence_and_main_does_not_move(scratch: Scratch, hub: GitHub) -> None:
    before = scratch.git("rev-parse", "main")
    scratch.interlock("run", code=WAITING)
    (pull,) = hub.pulls
    (passed,) = scratch.facts("CandidatePassed")
    assert scratch.git("rev-parse", "main") == before == hub.remote.git("rev-parse", "main")
    assert hub.remote.git("rev-parse", "interlock/a") == passed["fact"]["commit"]
    assert (pull["title"], pull["headRefName"]) == ("Write the file a", "interlock/a")
    assert "attempt 1: land proposed" in scratch.read("explain", "a")
    for part in (
        passed["fact"]["commit"],
        passed["fact"]["tree"],
        "| `true` | exit 0 |",
        "Agent `shell`",
        "`a.txt`",
    ):
        assert part in pull["body"]
    assert reason(scratch, "a") == f"pull request #12 is open: {pull['url']}"
    assert reason(scratch, "b") == "waits for a (waiting)"
    assert "pull request #12 is open" in scratch.read("inbox")


@pytest.mark.parametrize("how", ["merge", pytest.param("squash", marks=pytest.mark.thorough)])
def test_a_merged_pull_request_has_landed_and_what_needs_it_starts(
    scratch: Scratch, hub: GitHub, how: str
) -> None:
    scratch.interlock("run", code=WAITING)
    hub.merge(12, how)
    scratch.interlock("run", code=WAITING)
    assert scratch.states() == {"a": "done", "b": "waiting"}
    assert [pull["headRefName"] for pull in hub.pulls] == ["interlock/a", "interlock/b"]
    assert scratch.facts("WorkFinished")[1]["fact"]["base"] == hub.remote.git("rev-parse", "main")
    hub.merge(13, how)
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}
    assert (scratch.root / "b.txt").read_text() == "b first\n"
    assert "observed" not in scratch.read("explain", "a")


def test_a_squash_onto_a_main_that_moved_is_recognized_by_its_patch(scratch: Scratch, hub: GitHub) -> None:
    scratch.interlock("run", code=WAITING)
    hub.remote.push(theirs__txt="1\n")
    commit = hub.merge(12, "squash")
    scratch.interlock("run", code=WAITING)
    (landed,) = scratch.facts("Landed")
    assert landed["fact"]["commit"] == commit
    assert landed["fact"]["proposed"] == scratch.facts("CandidatePassed")[0]["fact"]["commit"]
    assert ", observed" in scratch.read("explain", "a")  # with theirs below it, it was not tested
    assert scratch.states()["a"] == "done"


def test_a_run_goes_on_while_pull_requests_are_open_as_long_as_it_is_told(
    scratch: Scratch, hub: GitHub
) -> None:
    scratch.write(interlock__toml=SETTINGS + 'pull_request_wait = "10m"\n')
    run = scratch.start("run")
    run.wait_for_line("a: proposed as pull request #12")
    hub.merge(12)
    run.wait_for_line("b: proposed as pull request #13")
    hub.merge(13)
    assert run.wait() == 0
    assert scratch.states() == {"a": "done", "b": "done"}


def test_a_review_goes_back_to_the_agent_and_the_same_pull_request_is_updated(
    scratch: Scratch, hub: GitHub
) -> None:
    scratch.interlock("run", code=WAITING)
    first = hub.remote.git("rev-parse", "interlock/a")
    hub.review(12, "I would not merge this.", association="NONE", by="stranger")
    hub.review(12, "Say it better.", "this word")
    scratch.interlock("run", code=WAITING)
    (pull,) = hub.pulls
    assert hub.remote.git("show", "interlock/a:a.txt") == "a better"
    assert hub.remote.git("rev-parse", "interlock/a") != first
    (received,) = scratch.facts("ReviewReceived")
    told = received["fact"]["feedback"]
    assert "What grace wrote about pull request #12" in told
    assert "Say it better." in told
    assert "a.txt:1: this word" in told
    assert "stranger" not in told
    assert scratch.facts("PhaseFailed") == []
    scratch.interlock("run", code=WAITING)  # the review is about the earlier commit, and counts once
    assert len(scratch.facts("ReviewReceived")) == 1
    hub.merge(pull["number"])
    scratch.interlock("run", code=WAITING)
    assert scratch.states()["a"] == "done"


def test_an_undo_is_proposed_like_any_change(scratch: Scratch, hub: GitHub) -> None:
    scratch.interlock("run", code=WAITING)
    hub.merge(12)
    scratch.interlock("run", code=WAITING)
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=None)
    (pull,) = [pull for pull in hub.pulls if "undo" in pull["headRefName"]]
    assert "a.txt" not in hub.remote.git("ls-tree", "--name-only", str(pull["headRefName"])).split()
    hub.merge(pull["number"])
    scratch.interlock("run", code=None)
    assert not (scratch.root / "a.txt").exists()
    assert scratch.states()["a"] != "done"


def test_a_closed_pull_request_fails_its_task_and_a_retry_opens_another(
    scratch: Scratch, hub: GitHub
) -> None:
    scratch.interlock("run", code=WAITING)
    hub.change(12, state="CLOSED")
    scratch.interlock("run", code=ExitCode.FAILED)
    assert scratch.states()["a"] == "failed"
    assert "pull request #12 was closed unmerged" in reason(scratch, "a")
    scratch.interlock("retry", "a")
    scratch.interlock("run", code=WAITING)
    assert [pull["state"] for pull in hub.pulls] == ["CLOSED", "OPEN"]


def test_a_pull_request_that_conflicts_is_built_again_on_the_new_main(scratch: Scratch, hub: GitHub) -> None:
    scratch.interlock("run", code=WAITING)
    theirs = hub.remote.push(a__txt="theirs\n")
    scratch.interlock("run", code=None)
    assert "pull request #12 conflicts with main" in str(scratch.facts("CandidateStale")[0]["reason"]["text"])
    assert scratch.facts("PhaseFailed")[0]["fact"]["error"] == "merge-conflict"
    assert hub.remote.git("merge-base", "interlock/a", "main") == theirs
    assert len(hub.pulls) == 1


STANDINGS: list[tuple[dict[str, object], str]] = [
    ({"isDraft": True}, "it is a draft"),
    ({"statusCheckRollup": [{"status": "IN_PROGRESS", "conclusion": ""}]}, "its checks are pending"),
    ({"statusCheckRollup": [{"status": "COMPLETED", "conclusion": "FAILURE"}]}, "its checks fail there"),
    ({"mergeStateStatus": "BLOCKED"}, "it waits for a review"),
]


def test_what_a_pull_request_waits_for_is_shown(scratch: Scratch, hub: GitHub) -> None:
    scratch.interlock("run", code=WAITING)
    for change, words in STANDINGS:
        plain: dict[str, object] = {"isDraft": False, "statusCheckRollup": [], "mergeStateStatus": ""}
        hub.change(12, **(plain | change))
        scratch.interlock("run", code=WAITING)
        assert reason(scratch, "a").startswith(f"pull request #12 is open, {words}: ")
    assert len(scratch.facts("PullRequestSeen")) == len(STANDINGS)
    scratch.interlock("run", code=WAITING)
    assert len(scratch.facts("PullRequestSeen")) == len(STANDINGS)


def test_labels_are_set_and_the_forge_merges_by_itself_what_is_verified(
    scratch: Scratch, hub: GitHub
) -> None:
    more = 'auto_merge = true\npull_request_labels = ["agents"]\npull_request_wait = "1m"\n'
    scratch.write(interlock__toml=SETTINGS + more)
    tasks = "  a: {goal: x}\n  b: {goal: x, review: required}\n  c: {goal: x, verify: []}\n"
    scratch.graph(tasks, AGENT, verify='"cat [ab].txt || true"')
    hub.remote.theirs.append(scratch.git("rev-parse", "main"))
    scratch.git("push", "-q")
    run = scratch.start("run")
    run.wait_for_line("a: landed as")
    run.wait_for_line("b: proposed as pull request")
    run.wait_for_line("c: proposed as pull request")
    run.interrupt()
    run.wait()
    assert scratch.facts("ReviewOpened") == [], "the pull request is the review"
    merges = [call[2] for call in hub.calls if call[:2] == ["pr", "merge"]]
    pulls = {pull["headRefName"]: pull for pull in hub.pulls}
    assert [pull["labels"] for pull in pulls.values()] == [[{"name": "agents"}]] * 3
    assert merges == [str(pulls["interlock/a"]["number"])]
    states = {name: pull["state"] for name, pull in pulls.items()}
    assert states == {"interlock/a": "MERGED", "interlock/b": "OPEN", "interlock/c": "OPEN"}
    assert "**Observed, no check covers it**." in pulls["interlock/c"]["body"]


def test_a_merge_that_somebody_pulls_while_the_forge_is_asked_is_the_landing_of_what_was_proposed(
    scratch: Scratch, hub: GitHub
) -> None:
    scratch.interlock("run", code=WAITING)
    hub.set(pulled_into=str(scratch.root))
    run = scratch.start("run")
    run.wait_for_line("a: landed as")
    run.interrupt()
    run.wait()
    assert scratch.facts("LandingSeen") == []


def test_a_forge_that_does_not_answer_is_waited_for(scratch: Scratch, hub: GitHub) -> None:
    scratch.write(interlock__toml=SETTINGS)
    said = []
    run = scratch.start("run")
    run.wait_for_line("a: change made")
    hub.set(down=True)
    run.wait_for_line("postponed: `gh pr list")
    hub.set(down=False)
    assert run.wait() == WAITING
    said.append(run.output)
    assert len(hub.pulls) == 1
    assert scratch.facts("PhaseFailed") == []
    hub.set(down=True)
    assert "gh auth status" in scratch.interlock("run", code=7)


ODD = [
    "not JSON",
    "[]",
    "[" * 100_000,
    '{"state": null}',
    '{"state": "OPEN", "reviews": [null]}',
    '{"state": "OPEN", "reviews": [{"authorAssociation": 1}]}',
    '{"state": "MERGED", "mergeCommit": {"oid": 5}}',
    '{"state": "MERGED", "mergeCommit": {"oid": "--output=leaked"}}',
]


def test_an_odd_answer_of_the_forge_is_said_and_the_run_goes_on(scratch: Scratch, hub: GitHub) -> None:
    scratch.interlock("run", code=WAITING)
    for answer in ODD:
        hub.set(odd={"view": answer})
        said = scratch.interlock("run", code=WAITING)
        assert "--output" in answer or "`gh pr view 12` failed: it printed" in said, answer
    assert not list(scratch.root.rglob("leaked"))
    hub.set(odd={})
    hub.merge(12)
    scratch.interlock("run", code=WAITING)
    assert scratch.states()["a"] == "done"


@pytest.mark.parametrize(
    ("command", "answer"),
    [("list", '[{"number": "x"}]'), ("create", "9"), ("create", "https://h/o/n/pull/" + "9" * 5000)],
)
def test_an_odd_answer_to_a_proposal_postpones_it(
    scratch: Scratch, hub: GitHub, command: str, answer: str
) -> None:
    run = scratch.start("run")
    run.wait_for_line("a: change made")
    hub.set(odd={command: answer})
    run.wait_for_line(f"postponed: `gh pr {command}")
    hub.set(odd={})
    assert run.wait() == WAITING
    assert len(hub.pulls) == 1
    assert scratch.facts("PhaseFailed") == []


def test_a_merge_that_the_forge_reports_counts_only_if_git_finds_the_change(
    scratch: Scratch, hub: GitHub
) -> None:
    old = scratch.git("rev-parse", "main")
    scratch.interlock("run", code=WAITING)
    for named in (old, hub.remote.push(theirs__txt="1\n"), hub.remote.git("rev-parse", "interlock/a")):
        hub.change(12, state="MERGED", mergeCommit={"oid": named})
        scratch.interlock("run", code=WAITING)
        assert scratch.states() == {"a": "waiting", "b": "waiting"}
        assert "main here does not have it yet" in reason(scratch, "a")
    hub.change(12, state="OPEN", mergeCommit=None)
    hub.merge(12)
    scratch.interlock("run", code=WAITING)
    assert scratch.states()["a"] == "done"


@pytest.mark.parametrize("how", ["merge", pytest.param("squash", marks=pytest.mark.thorough)])
def test_commits_that_a_reviewer_pushed_to_the_branch_are_not_taken_away(
    scratch: Scratch, hub: GitHub, how: str
) -> None:
    scratch.interlock("run", code=WAITING)
    hub.review(12, "Go on from the commit that I push now.")
    hub.remote.colleague_git("fetch", "-q")
    hub.remote.colleague_git("switch", "-q", "interlock/a")
    (hub.remote.colleague / "more.txt").write_text("1\n")
    hub.remote.colleague_git("add", "-A")
    hub.remote.colleague_git("commit", "-qm", "mine")
    hub.remote.colleague_git("push", "-q")
    theirs = hub.remote.git("rev-parse", "interlock/a")
    run = scratch.start("run")
    run.wait_for_line("origin/interlock/a has commits that Interlock did not push")
    assert hub.remote.git("rev-parse", "interlock/a") == theirs
    hub.merge(12, how)
    run.wait_for_line("b: implement started")
    run.wait()
    assert scratch.git("show", "main:more.txt") == "1"


BOUNDARIES = [
    Point("before", 1, "ls-remote", ENGINE_TOO),
    Point("before", 2, "push --porcelain", ENGINE_TOO),
    Point("after", 2, "push --porcelain", ENGINE_TOO),
]


@pytest.mark.crash
@pytest.mark.parametrize("point", rest_thorough(BOUNDARIES, BOUNDARIES[2:]), ids=str)
def test_a_kill_around_a_proposal_leaves_one_pull_request(
    scratch: Scratch, hub: GitHub, tmp_path: Path, point: Point, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty = FaultyGit(tmp_path / "bin")
    faulty.set(point)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(faulty.folder), prepend=":")
        scratch.interlock("run", code=None)
    assert faulty.struck
    scratch.interlock("run", "--no-input", code=WAITING)
    (pull,) = hub.pulls
    (passed,) = scratch.facts("CandidatePassed")
    assert hub.remote.git("rev-parse", "interlock/a") == passed["fact"]["commit"]
    assert pull["state"] == "OPEN"


@pytest.mark.crash
def test_a_kill_after_the_forge_has_opened_a_pull_request_leads_to_no_second_one(
    scratch: Scratch, hub: GitHub
) -> None:
    hub.set(kill_after=["pr", "create"])
    scratch.interlock("run", code=None)
    assert scratch.facts("PullRequestOpened") == []
    scratch.interlock("run", "--no-input", code=WAITING)
    assert [pull["number"] for pull in hub.pulls] == [12]
    assert reason(scratch, "a").startswith("pull request #12 is open")


@pytest.mark.parametrize("has_remote", [True, False], ids=["remote", "alone"])
def test_without_a_forge_there_is_a_branch_and_a_patch_with_its_evidence(
    scratch: Scratch, has_remote: bool
) -> None:
    scratch.write(interlock__toml='land = "pull-request"\n')
    scratch.graph("  a: {goal: Write a}\n  b: {goal: x, needs: [a]}\n", AGENT, verify='"true"')
    remote = Remote(scratch) if has_remote else None
    scratch.interlock("run", code=WAITING)
    folder = scratch.root / ".git/interlock/pull-requests"
    (passed,) = scratch.facts("CandidatePassed")
    where = remote.git("rev-parse", "interlock/a") if remote else scratch.git("rev-parse", "interlock/a")
    assert where == passed["fact"]["commit"]
    assert "| `true` | exit 0 |" in (folder / "a.md").read_text()
    assert reason(scratch, "a") == f"waits until a person merges {folder / 'a.patch'}"
    scratch.git("am", "-q", str(folder / "a.patch"))  # as another commit, with the same patch
    if remote:
        scratch.git("push", "-q")
    scratch.interlock("run", code=WAITING)
    assert scratch.states() == {"a": "done", "b": "waiting"}
