"""`land = "push"`: the remote gets what was tested, on what it was tested on, and nothing else (T7)."""

from pathlib import Path

import pytest

from tests.crash.git_faults import ENGINE_TOO, FaultyGit, Point
from tests.engine.remotes import Remote, Server
from tests.engine.scratch import WAIT, Scratch
from tests.tiers import rest_thorough

pytestmark = pytest.mark.slow

PUSH = "push --porcelain --no-verify --no-follow-tags --recurse-submodules=no --force-with-lease"
CHECK = '"if test -e check.sh; then sh check.sh; fi"'
SETTINGS = 'land = "push"\nfetch_every = "1s"\n'


def published(
    scratch: Scratch, tasks: str, agent: str = "", url: str = "", settings: str = SETTINGS
) -> Remote:
    """A repository whose changes are pushed, with a remote."""
    scratch.write(interlock__toml=settings)
    scratch.graph(tasks, agent or 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"', verify=CHECK)
    return Remote(scratch, url)


def assert_all_landed(scratch: Scratch, remote: Remote, *tasks: str) -> None:
    """Each task landed once, there and here."""
    assert scratch.states() == dict.fromkeys(tasks, "done")
    assert scratch.git("rev-parse", "main") == remote.git("rev-parse", "main")
    # Some may have landed as one merge, which names them all above the commit of each.
    named = "--format=%(trailers:key=Interlock-Task,valueonly,separator=)"
    assert sorted(remote.git("log", "--no-merges", named, "main").split()) == sorted(tasks)
    assert scratch.git("status", "--porcelain") == ""
    remote.assert_nothing_is_lost_or_untested(scratch)


def test_a_tested_change_is_on_the_remote_and_here(scratch: Scratch) -> None:
    remote = published(scratch, "  a: {goal: x}\n  b: {goal: x}\n")
    said = scratch.interlock("run")
    assert ": pushed to origin/main as" in said
    assert_all_landed(scratch, remote, "a", "b")


def test_what_the_checkout_holds_up_is_named_once_and_the_hint_for_the_way_out_works(
    scratch: Scratch, gate: Path
) -> None:
    """The remote has the change; committed edits of the same file go another way than main there."""
    scratch.write(same__txt="1\n2\n3\n")
    agent = WAIT.format(gate=gate) + "\necho 4 >> same.txt"
    remote = published(scratch, "  a: {goal: x}\n", agent)
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.write(same__txt="0\n2\n3\n")
    gate.touch()
    assert run.wait() == 6, run.output
    assert run.output.count("a: pushed to origin/main as") == 1
    scratch.git("commit", "-qam", "mine")
    refused = scratch.interlock("run", code=7)
    assert "git pull --rebase && git push origin main" in refused
    scratch.git("pull", "-q", "--rebase")
    scratch.git("push", "-q", "origin", "main")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done"}
    assert scratch.git("show", "main:same.txt") == "0\n2\n3\n4"
    assert scratch.git("rev-parse", "main") == remote.git("rev-parse", "main")


def test_a_push_that_a_colleague_was_faster_than_is_built_again_on_theirs(
    scratch: Scratch, gate: Path
) -> None:
    """Their push comes while our change is checked, and no fetch tells of it before we push."""
    scratch.write(check__sh=f"test ! -e a.txt || {WAIT.format(gate=gate)}\n")
    remote = published(scratch, "  a: {goal: x}\n", settings='land = "push"\nfetch_every = "10m"\n')
    run = scratch.start("run")
    run.wait_for_line("a: change made")
    theirs = remote.push(theirs__txt="1\n")
    gate.touch()
    assert run.wait() == 0
    (stale,) = scratch.facts("CandidateStale")
    assert stale["fact"]["main"] == theirs
    assert_all_landed(scratch, remote, "a")


def test_a_remote_that_moves_all_the_time_loses_nothing_and_gets_nothing_untested(
    scratch: Scratch, tmp_path: Path
) -> None:
    names = [f"t{number}" for number in range(4)]
    with Server(scratch.root.parent / "served").on() as server:
        remote = published(scratch, "".join(f"  {name}: {{goal: x}}\n" for name in names), url=server.url)
        run = scratch.start("run", "--max-parallel", "2")
        for name in names:
            run.wait_for_line(f"{name}: change made")
            remote.push(f"beside {name}", **{f"beside-{name}__txt": "1\n"})
        assert run.wait() == 0
        assert len(remote.theirs) == 5
        assert_all_landed(scratch, remote, *names)


def test_a_remote_that_cannot_be_reached_is_waited_for_and_the_task_has_not_failed(
    scratch: Scratch, gate: Path
) -> None:
    with Server(scratch.root.parent / "served").on() as server:
        remote = published(
            scratch, "  a: {goal: x}\n", f"{WAIT.format(gate=gate)}\necho a > a.txt", server.url
        )
        run = scratch.start("run")
        run.wait_for_line("implement started")
        server.down.set()
        gate.touch()
        run.wait_for_line("a: land postponed: origin/main cannot be reached")
        before = scratch.git("rev-parse", "main")
        server.down.clear()
        assert run.wait() == 0
        assert before != scratch.git("rev-parse", "main")
        assert scratch.facts("PhaseFailed") == []
        assert_all_landed(scratch, remote, "a")


def test_a_remote_that_refuses_leaves_main_where_it_was_and_says_so(scratch: Scratch) -> None:
    remote = published(scratch, "  a: {goal: x}\n")
    hook = remote.hook("pre-receive", "echo 'error: only on Fridays' >&2; exit 1")
    before = scratch.git("rev-parse", "main")
    run = scratch.start("run")
    run.wait_for_line("a: land postponed: origin/main refuses the push: remote: error: only on Fridays")
    assert before == scratch.git("rev-parse", "main") == remote.git("rev-parse", "main")
    hook.unlink()
    assert run.wait() == 0
    assert_all_landed(scratch, remote, "a")


def test_a_commit_that_a_person_makes_here_meanwhile_is_not_pushed(scratch: Scratch, gate: Path) -> None:
    remote = published(scratch, "  a: {goal: x}\n", f"{WAIT.format(gate=gate)}\necho a > a.txt")
    run = scratch.start("run")
    run.wait_for_line("implement started")
    scratch.write(mine__txt="not tested\n")
    mine = scratch.commit("mine")
    gate.touch()
    run.wait_for_line("main has commits that origin/main does not have")
    assert remote.line() == remote.theirs
    scratch.git("push", "-q")
    remote.theirs.append(mine)
    assert run.wait() == 0
    assert_all_landed(scratch, remote, "a")


def test_edits_of_the_person_hold_main_up_here_and_nothing_is_pushed_twice(
    scratch: Scratch, gate: Path
) -> None:
    scratch.write(same__txt="1\n")
    remote = published(scratch, "  a: {goal: x}\n", f"{WAIT.format(gate=gate)}\necho 2 > same.txt")
    run = scratch.start("run")
    run.wait_for_line("implement started")
    scratch.write(same__txt="mine\n")
    gate.touch()
    run.wait_for_line("a: land postponed: this change edits same.txt")
    assert remote.git("show", "main:same.txt") == "2"
    assert scratch.git("show", "main:same.txt") == "1"
    scratch.git("checkout", "-q", "same.txt")
    assert run.wait() == 0
    assert_all_landed(scratch, remote, "a")


BOUNDARIES = [
    Point("before", 1, PUSH, ENGINE_TOO),
    Point("middle", 1, PUSH, ENGINE_TOO),
    Point("after", 1, PUSH, ENGINE_TOO),
    Point("before", 1, "update-ref -m", ENGINE_TOO),
    Point("after", 1, "update-ref -m", ENGINE_TOO),
]


@pytest.mark.crash
@pytest.mark.parametrize("point", rest_thorough(BOUNDARIES, BOUNDARIES[2:4]), ids=str)
def test_a_kill_around_a_push_is_finished_by_the_next_run_without_a_question(
    scratch: Scratch, tmp_path: Path, point: Point, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = published(scratch, "  a: {goal: x}\n  b: {goal: x, needs: [a]}\n")
    faulty = FaultyGit(tmp_path / "bin")
    faulty.set(point)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(faulty.folder), prepend=":")
        scratch.interlock("run", code=None)
    assert faulty.struck
    scratch.interlock("run", "--no-input")
    assert_all_landed(scratch, remote, "a", "b")
    assert len(scratch.facts("Landed")) == 2


def test_an_undo_is_pushed_like_any_change(scratch: Scratch) -> None:
    remote = published(scratch, "  a: {goal: x}\n")
    scratch.interlock("run")
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=None)
    assert scratch.git("rev-parse", "main") == remote.git("rev-parse", "main")
    assert "a.txt" not in remote.git("ls-tree", "--name-only", "main").split()
    remote.assert_nothing_is_lost_or_untested(scratch)


def test_no_hook_of_the_person_runs_and_no_other_ref_is_pushed(scratch: Scratch) -> None:
    remote = published(scratch, "  a: {goal: x}\n")
    hook = scratch.root / ".git/hooks/pre-push"
    hook.write_text(f"#!/bin/sh\ntouch {scratch.gates}/ran\n")
    hook.chmod(0o755)
    scratch.git("config", "push.followTags", "true")
    scratch.git("tag", "-a", "-m", "x", "v1")
    scratch.interlock("run")
    assert not (scratch.gates / "ran").exists()
    assert remote.git("for-each-ref", "--format=%(refname)") == "refs/heads/main\nrefs/notes/interlock"


def test_credentials_come_from_the_helper_of_the_person_and_nothing_asks(scratch: Scratch) -> None:
    with Server(scratch.root.parent / "served", login="ada:secret").on() as server:
        scratch.git("config", "credential.helper", "!printf 'username=ada\\npassword=secret\\n'; :")
        remote = published(scratch, "  a: {goal: x}\n", url=server.url)
        scratch.interlock("run")
        assert_all_landed(scratch, remote, "a")
        assert "secret" not in scratch.read("events", "--json")


REFUSALS = [
    (("branch", "--unset-upstream", "main"), "follows no branch of a remote", "git push -u origin main"),
    (("remote", "set-url", "origin", "/nowhere"), "origin/main cannot be fetched", "git fetch origin"),
    (
        ("commit", "--allow-empty", "-qm", "mine"),
        "main has 1 commit that origin/main",
        "git push origin main",
    ),
]


@pytest.mark.parametrize(("change", "says", "fix"), REFUSALS)
def test_a_repository_that_cannot_push_is_refused_before_an_agent_starts(
    scratch: Scratch, change: tuple[str, ...], says: str, fix: str
) -> None:
    published(scratch, "  a: {goal: x}\n")
    scratch.git(*change)
    said = scratch.interlock("run", code=7)
    assert says in said
    assert fix in said
    assert says in scratch.interlock("doctor", code=None)
    assert scratch.facts() == []


def test_a_remote_that_is_pushed_elsewhere_is_refused(scratch: Scratch) -> None:
    """The commit that was expected was read from the one repository, and pushed to the other."""
    remote = published(scratch, "  a: {goal: x}\n")
    other = remote.bare.with_name("other.git")
    scratch.git("clone", "-q", "--bare", str(remote.bare), str(other))
    before = remote.git("rev-parse", "main")
    fix = "git config --unset-all remote.origin.pushurl"
    for address, says in (
        (str(other), "origin is fetched from one repository and pushed to another"),
        (str(remote.bare), "origin is pushed to 2 addresses"),
    ):
        scratch.git("config", "--add", "remote.origin.pushurl", address)
        for command in ("run", "doctor"):
            said = scratch.interlock(command, code=None)
            assert says in said
            assert fix in said
    assert scratch.git("-C", str(other), "rev-parse", "main") == before == remote.git("rev-parse", "main")
    # Another address of the same repository, as with https to read and ssh to push.
    scratch.git("config", "--unset-all", "remote.origin.pushurl")
    scratch.git("config", "remote.origin.pushurl", f"file://{remote.bare}")
    scratch.interlock("run")
    assert remote.git("show", "main:a.txt") == "a"


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:1/r.git?private_token=hunter2",
        "http://bob:secret@127.0.0.1:1/r.git?private_token=hunter2",
        "http://bob:hunter2/secret@127.0.0.1:1/r.git",
        "own:r.git",
    ],
)
def test_no_password_or_token_in_the_address_of_the_remote_is_printed(scratch: Scratch, address: str) -> None:
    published(scratch, "  a: {goal: x}\n")
    scratch.git("config", "url.http://127.0.0.1:1/?private_token=hunter2/.insteadOf", "own:")
    scratch.git("remote", "set-url", "origin", address)
    for command in ("run", "doctor"):
        said = scratch.interlock(command, code=None)
        assert "origin/main cannot be fetched: fatal: unable to access" in said
        assert "hunter2" not in said


def test_a_repository_asks_the_user_before_it_pushes(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(scratch, "  a: {goal: x}\n")
    mine = {**scratch.env, "INTERLOCK_TRUST_FOLDERS": "/elsewhere"}
    monkeypatch.setattr(Scratch, "env", mine)
    said = scratch.interlock("run", code=7)
    assert "land = push: what agents make is pushed to your remote, with your credentials" in said
