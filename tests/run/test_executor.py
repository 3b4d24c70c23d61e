"""One attempt from order to report, with real git, real processes and a real workspace (W5, D10)."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.model.errors import EnvironmentProblem, StaleEpoch
from interlock.model.outcome import ErrorClass, Report
from interlock.model.task import AttemptKey, Commit
from interlock.process import LocalProcesses
from interlock.run import LocalExecutor
from interlock.sandbox.confinement import Unconfined
from tests.run.desk import FIRST, TASK, Desk
from tests.run.network import ALONE
from tests.run.tree import DAEMON, linux, marked, until

pytestmark = [linux, pytest.mark.slow]

HALF = "echo half > file; echo working; "


def test_what_the_agent_made_is_imported_and_its_workspace_given_up(desk: Desk) -> None:
    report = desk.carry_out("echo new > file; echo done")
    assert (report.error, report.exit_code, report.touched) == (None, 0, ("file",))
    assert report.commit is not None
    assert desk.git("show", f"{report.commit}:file") == "new"
    assert desk.git("rev-parse", report.archived) == report.commit
    assert report.tail == "done"
    assert desk.left() is None


def test_the_agent_gets_its_prompt_its_names_and_its_workspace(desk: Desk) -> None:
    report = desk.carry_out(
        'cat "$INTERLOCK_PROMPT_FILE"; echo $INTERLOCK_TASK_ID $INTERLOCK_ATTEMPT; cat file'
    )
    assert report.tail == "Make it so.\na 1\nold"


def test_the_log_names_the_attempt_and_has_everything(desk: Desk) -> None:
    report = desk.carry_out("echo to the log")
    header, line = (desk.place.state / report.log).read_text().splitlines()
    assert report.log == "logs/a/1.log"
    assert line == "to the log"
    assert "task a, attempt 1" in header


def test_secrets_of_the_host_reach_the_agent_only_by_name(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hidden")
    monkeypatch.setenv("NAMED_KEY", "given")
    options = replace(ALONE, pass_env=("NAMED_*",))
    processes = LocalProcesses(choose=Unconfined)
    desk.executor = LocalExecutor(desk.workspaces, processes, desk.place.state, options)
    report = desk.carry_out('echo "$SOME_API_KEY-$NAMED_KEY-$OWN"', agent_env={"OWN": "own"})
    assert report.tail == "-given-own"


def test_an_agent_that_ends_well_but_changed_nothing_has_failed(desk: Desk) -> None:
    report = desk.carry_out("true")
    assert (report.error, report.commit) == (ErrorClass.NO_CHANGE, None)
    assert desk.left() is None


@pytest.mark.parametrize(
    ("script", "limits", "error", "says"),
    [
        ("exit 3", {}, ErrorClass.EXIT, "exited with status 3"),
        ("printf 'Not logged in\\n\\n'; exit 3", {}, ErrorClass.EXIT, 'status 3: "Not logged in"'),
        ("kill -9 $$", {}, ErrorClass.EXIT, "killed by signal 9"),
        ("sleep 600", {"timeout_seconds": 2.5}, ErrorClass.TIMEOUT, "longer than 2.5 s"),
        ("sleep 600", {"idle_seconds": 2.5}, ErrorClass.IDLE, "nothing for 2.5 s"),
    ],
)
def test_a_failed_attempt_says_how_and_its_work_is_kept(
    desk: Desk, script: str, limits: dict[str, float], error: ErrorClass, says: str
) -> None:
    """D10: also what a failing agent wrote can be looked at afterwards."""
    report = desk.carry_out(HALF + script, **limits)
    assert report.error is error
    assert says in report.text
    kept(desk, report)


def kept(desk: Desk, report: Report) -> None:
    """What the agent said and wrote before it failed is there, and its workspace is not."""
    assert report.tail.splitlines()[0] == "working"
    assert desk.git("show", f"{report.archived}:file") == "half"
    assert desk.left() is None


def test_an_attempt_whose_lease_ends_says_so_and_its_work_is_kept(desk: Desk) -> None:
    async def scenario() -> Report:
        running = asyncio.create_task(desk.executor.carry_out(desk.order(f"{HALF}sleep 600")))
        await asyncio.to_thread(until, lambda: desk.executor.last_line(FIRST) == "working")
        desk.lease.renew(0.2)
        return await running

    report = asyncio.run(scenario())
    assert report.error is ErrorClass.OUTSIDE
    assert "lease was not renewed" in report.text
    kept(desk, report)


def test_too_much_output_is_its_own_failure(desk: Desk) -> None:
    processes = LocalProcesses(grace_seconds=0.1, log_limit_bytes=2 * 1024**2, choose=Unconfined)
    desk.executor = LocalExecutor(desk.workspaces, processes, desk.place.state, ALONE)
    report = desk.carry_out("yes")
    assert (report.error, report.text) == (
        ErrorClass.OUTPUT,
        "stopped: it wrote more than 2 MiB of output",
    )


def test_a_missing_program_names_the_agent_and_the_place_to_fix_it(desk: Desk) -> None:
    report = desk.carry_out("", agent_run=("no-such-agent",))
    assert report.error is ErrorClass.MISSING
    assert report.text == (
        'agent "scripted": program not found: no-such-agent; check agents.scripted.run in task-graph.yaml'
    )
    assert desk.left() is None


def test_a_missing_program_of_the_repository_may_just_not_be_committed(desk: Desk) -> None:
    assert "the program is committed" in desk.carry_out("", agent_run=("./my-agent.sh",)).text


def test_a_state_folder_that_cannot_be_written_is_said_and_loses_nothing(desk: Desk) -> None:
    desk.place.state.mkdir()
    (desk.place.state / "logs").write_text("a file where a folder should be")
    report = desk.carry_out("echo new > file")
    assert report.error is ErrorClass.OUTSIDE
    assert "cannot write" in report.text


def test_objects_that_git_refuses_are_not_imported_and_the_workspace_is_evidence(desk: Desk) -> None:
    """The agent commits a tree that holds a `.git` folder, which git itself would never write."""
    script = (
        "blob=$(echo x | git hash-object -w --stdin) && "
        "inner=$(printf '100644 blob %s\\tconfig\\n' $blob | git mktree) && "
        "tree=$(printf '040000 tree %s\\t.git\\n' $inner | git mktree) && "
        "commit=$(git -c user.name=E -c user.email=e@example.org commit-tree -m evil -p HEAD $tree) && "
        'git update-ref "$(git symbolic-ref HEAD)" $commit'
    )
    report = desk.carry_out(script)
    assert report.error is ErrorClass.REJECTED, report
    assert report.commit is None
    assert report.text.endswith(f"kept at {desk.evidence()}")


def test_a_workspace_that_cannot_be_collected_is_kept_and_named(desk: Desk) -> None:
    report = desk.carry_out('rm -rf "$(dirname "$INTERLOCK_PROMPT_FILE")"/index; exit 3')
    assert report.error is ErrorClass.EXIT
    assert report.text.endswith(f"kept at {desk.evidence()}")


@pytest.mark.parametrize("end", ["recovered", "brought home"])
def test_an_agent_that_deletes_its_git_dir_loses_its_history_and_not_its_files(desk: Desk, end: str) -> None:
    script = 'echo new > file; rm -rf "$(git rev-parse --absolute-git-dir)"'
    ref = desk.carry_out(script).archived if end == "brought home" else desk.recovered_after(script)
    assert desk.git("show", f"{ref}:file") == "new"


def test_what_cannot_be_recovered_is_evidence_and_the_task_goes_on(desk: Desk) -> None:
    """D10: an attempt that fails to be archived for ever would hold its task for ever."""
    script = "echo new > file; rm -rf ../index"
    assert desk.recovered_after(script) == ""
    assert (desk.evidence() / "tree" / "file").read_text() == "new\n"
    assert asyncio.run(desk.executor.recover(FIRST)) == ""
    assert desk.carry_out("echo again > file", attempt=2).error is None


def test_a_full_disk_is_raised_so_that_recovering_is_tried_again(desk: Desk) -> None:
    script = "echo new > file; ln -sf /dev/full ../trusted.git/objects/info/alternates"
    with pytest.raises(EnvironmentProblem, match="No space left"):
        desk.recovered_after(script)
    workspace = desk.left()
    assert workspace is not None
    (workspace.home / "trusted.git/objects/info/alternates").unlink()
    assert desk.git("show", f"{asyncio.run(desk.executor.recover(FIRST))}:file") == "new"


def test_marks_of_attempts_that_were_given_up_go_when_a_later_one_comes_home(desk: Desk) -> None:
    for attempt in (1, 2, 4):
        asyncio.run(desk.executor.recover(AttemptKey(TASK, attempt)))
    desk.carry_out("echo new > file", attempt=3)
    assert [mark.name for mark in (desk.place.state / "given-up" / TASK).iterdir()] == ["4"]
    desk.carry_out("echo new > file", attempt=5)
    assert not (desk.place.state / "given-up" / TASK).exists()


def test_the_prompt_reaches_the_agent_in_utf_8(desk: Desk) -> None:
    report = desk.carry_out('od -An -tx1 "$INTERLOCK_PROMPT_FILE" | tr -d " \\n"', prompt="né 项")
    assert report.tail == "né 项".encode().hex()


def test_the_last_line_of_a_running_agent_can_be_asked_for(desk: Desk, tmp_path: Path) -> None:
    here = marked(tmp_path)
    long = "x" * 500

    async def scenario() -> tuple[str, str]:
        order = desk.order(
            f"printf 'first\\n\\033[31mre\\007d\\033[0m\\t{long}\\n\\n  \\n'; {DAEMON} sleep 600",
            agent_env=here.env,
        )
        running = asyncio.create_task(desk.executor.carry_out(order))
        await asyncio.to_thread(here.wait_until, lambda: desk.executor.last_line(FIRST).startswith("red"))
        said = desk.executor.last_line(FIRST)
        running.cancel()
        await asyncio.wait([running])
        return said, desk.executor.last_line(FIRST)

    assert asyncio.run(scenario()) == (f"red {long}"[:200], "")


def test_a_base_that_does_not_exist_is_reported_and_not_raised(desk: Desk) -> None:
    report = desk.carry_out("true", base=Commit("0" * 39 + "1"))
    assert report.error is ErrorClass.OUTSIDE


def test_an_engine_that_was_paused_longer_than_its_lease_does_not_start_the_agent(desk: Desk) -> None:
    """D4: whoever is in charge by now may have an agent on this task."""
    desk.lease.renew(60.0, since=desk.lease.now() - 61.0)
    with pytest.raises(StaleEpoch):
        desk.carry_out("echo late > file")
    workspace = desk.left()
    assert workspace is None or "late" not in (workspace.path / "file").read_text()


def test_an_attempt_that_was_recovered_never_starts_any_more(desk: Desk) -> None:
    """D4: a clock that jumps replaces an engine early; what it was about to start must not start then."""
    assert asyncio.run(desk.executor.recover(FIRST)) == ""
    with pytest.raises(StaleEpoch):
        desk.carry_out("echo new > file")
    assert desk.carry_out("echo new > file", attempt=2).error is None


def test_a_lease_that_is_renewed_while_the_workspace_is_made_counts(desk: Desk) -> None:
    async def renewed() -> Report:
        desk.lease.renew(0.1)
        running = asyncio.create_task(desk.executor.carry_out(desk.order("echo new > file")))
        await asyncio.sleep(0)
        desk.lease.renew(60.0)
        return await running

    assert asyncio.run(renewed()).error is None
