"""Whole runs through the real command: real git, real processes, a real database."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.tiers import rest_at_night

pytestmark = pytest.mark.slow


def test_tasks_land_in_the_order_of_their_needs(scratch: Scratch) -> None:
    """W1, T2, A1: nothing starts before what it needs has landed."""
    scratch.graph("  b: {goal: b, needs: [a]}\n  a: {goal: a}\n  c: {goal: c, needs: [b]}\n")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done", "c": "done"}
    subjects = scratch.git("log", "--format=%s", "-3", "main").splitlines()
    assert subjects == ["c", "b", "a"]
    assert scratch.git("status", "--porcelain") == ""
    trailers = scratch.git("log", "-1", "--format=%(trailers)", "main").splitlines()
    assert trailers[:2] == ["Interlock-Task: c", "Interlock-Attempt: 1"]


def test_the_failure_of_a_check_is_told_to_the_next_attempt(scratch: Scratch) -> None:
    """W12, D7: implement, verify, feed the failure back."""
    agent = (
        'if grep -q "expected-word" "$INTERLOCK_PROMPT_FILE"; then echo right; else echo wrong; fi > t.txt'
    )
    scratch.write(check__sh="grep -q right t.txt || { echo expected-word is missing; exit 1; }\n")
    scratch.graph("  t: {goal: t, done_when: sh check.sh}\n", agent)
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}
    assert scratch.status()["tasks"][0]["attempts"] == 2
    assert scratch.git("show", "main:t.txt") == "right"


def test_the_same_failure_twice_stops_the_task_and_what_needs_it(scratch: Scratch) -> None:
    """W11: the breaker of one lineage; others go on."""
    scratch.graph(
        "  bad: {goal: x, done_when: 'false'}\n  next: {goal: x, needs: [bad]}\n  good: {goal: x}\n"
    )
    said = scratch.interlock("run", code=1)
    assert scratch.states() == {"bad": "failed", "next": "waiting", "good": "done"}
    assert "twice in a row in the same way" in scratch.interlock("explain", "bad")
    assert "interlock retry bad" in said
    assert "bad" in scratch.interlock("explain", "next")


def test_two_changes_to_the_same_line_conflict_and_the_second_sees_the_first(scratch: Scratch) -> None:
    """D1, W12: the conflict is found in memory, and what landed is in the feedback."""
    agent = 'cp "$INTERLOCK_PROMPT_FILE" "$INTERLOCK_TASK_ID.prompt"; sed -i "1i $INTERLOCK_TASK_ID" list.txt'
    scratch.write(list__txt="end\n")
    scratch.graph("  one: {goal: x}\n  two: {goal: x}\n", agent)
    scratch.interlock("run")
    lines = scratch.git("show", "main:list.txt").split()
    assert sorted(lines) == ["end", "one", "two"]
    failures = scratch.facts("PhaseFailed")
    assert [failure["fact"]["error"] for failure in failures] == ["merge-conflict"]
    assert "list.txt" in failures[0]["fact"]["feedback"]


def test_a_check_that_is_red_on_the_base_is_not_held_against_the_change_if_a_person_allows_it(
    scratch: Scratch,
) -> None:
    """Judged as a delta: red before is not the candidate's fault."""
    scratch.graph("  t: {goal: x}\n", verify='["false", "true"]', red_main="allow")
    scratch.interlock("run")
    passed = scratch.facts("CandidatePassed")[0]["fact"]
    assert [(check["command"], check["red_on_base"]) for check in passed["checks"]] == [
        ("false", True),
        ("true", False),
    ]
    assert "fails on main too" in scratch.interlock("show", "t")


def test_when_someone_else_moves_main_during_the_checks_the_candidate_is_built_again(
    scratch: Scratch,
) -> None:
    """T4: main is never overwritten, and what was tested is what lands."""
    check = (
        "test -e t.txt || exit 0\n"  # main itself is tried first
        'test -e "$ROOT/moved" && exit 0\n'
        'touch "$ROOT/moved"; cd "$ROOT"\n'
        "git -c user.name=o -c user.email=o@localhost commit -q --allow-empty -m 'from outside'\n"
    )
    scratch.write(check__sh=f'ROOT="{scratch.root}"\n{check}')
    (scratch.root / ".git" / "info").mkdir(exist_ok=True)
    (scratch.root / ".git" / "info" / "exclude").write_text("moved\n")
    scratch.graph("  t: {goal: x}\n", verify="sh check.sh")
    scratch.interlock("run", "--unsafe-no-sandbox")  # so that a check can play somebody else
    assert scratch.git("log", "--format=%s", "-2", "main").splitlines() == ["x", "from outside"]
    assert len(scratch.facts("CandidateStale")) == 1


def test_an_agent_that_fails_is_tried_again_and_its_output_is_kept(scratch: Scratch) -> None:
    """A1, T6."""
    scratch.graph("  t: {goal: x, retries: 2}\n", 'echo "attempt $INTERLOCK_ATTEMPT says $RANDOM$$"; exit 3')
    scratch.interlock("run", code=1)
    assert scratch.states() == {"t": "failed"}
    assert "attempt 1 says" in scratch.interlock("logs", "t", "--attempt", "1")


def test_a_program_that_is_not_there_says_which_and_where_to_name_it(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: x}\n")
    graph = (scratch.root / "task-graph.yaml").read_text().replace("[sh, agent.sh]", "[no-such-program]")
    scratch.write(**{"task-graph__yaml": graph})
    scratch.commit()
    said = scratch.interlock("run", code=1)
    assert "no-such-program" in said
    assert "agents.shell.run" in said


# Other files and spellings: tests/engine/test_reserved_files.py.
@pytest.mark.parametrize(
    "file", rest_at_night(["interlock.toml", "task-graph.yaml"], by_day=["interlock.toml"])
)
def test_an_agent_cannot_land_what_says_what_agents_may_do(scratch: Scratch, file: str) -> None:
    """D11: a change of its own settings would let it out at the next run."""
    scratch.graph("  a: {goal: a}\n", agent=f"echo '# {file}' >> {file}; echo a > a.txt", retries="0")
    main = scratch.git("rev-parse", "main")
    scratch.interlock("run", "--no-input", code=1)
    (failed,) = scratch.facts("PhaseFailed")
    assert failed["fact"]["error"] == "denied"
    assert f"it changed {file}" in failed["reason"]["text"]
    assert scratch.git("rev-parse", "main") == main


@pytest.mark.parametrize("changed", ["plans/other.yaml", "plans/real.yaml"])
def test_an_agent_cannot_land_a_change_of_a_graph_that_was_named(scratch: Scratch, changed: str) -> None:
    """D11: nor of the file that a link to it leads to."""
    scratch.graph("  a: {goal: a}\n", agent=f"echo '# more' >> {changed}; echo a > a.txt", retries="0")
    (scratch.root / "plans").mkdir()
    (scratch.root / "task-graph.yaml").rename(scratch.root / "plans/real.yaml")
    (scratch.root / "plans/other.yaml").symlink_to("real.yaml")
    scratch.commit()
    main = scratch.git("rev-parse", "main")
    scratch.interlock("run", "--no-input", "plans/other.yaml", code=1)
    assert scratch.facts("PhaseFailed")[0]["fact"]["error"] == "denied"
    assert scratch.git("rev-parse", "main") == main


def test_a_graph_cannot_send_a_key_to_a_host_that_the_user_did_not_name(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11: whoever writes a graph must not be able to collect the keys of whoever runs it."""
    scratch.graph("  a: {goal: a}\n")
    wanted = "wire: openai, url: 'https://keys.example.invalid/v1', key_env: SOME_KEY"
    text = (scratch.root / "task-graph.yaml").read_text()
    (scratch.root / "task-graph.yaml").write_text(
        text.replace("[sh, agent.sh]}", f"[sh, agent.sh], {wanted}}}")
    )
    scratch.commit("keys")
    said = scratch.interlock("run", "--no-input", code=2)
    assert "would send the key in SOME_KEY to keys.example.invalid" in said
    assert scratch.facts() == []
    monkeypatch.setenv("INTERLOCK_KEY_HOSTS", "SOME_KEY@keys.example.invalid")
    scratch.interlock("run", "--no-input")


def test_a_second_run_is_refused_and_says_who_is_in_charge(scratch: Scratch, gate: Path) -> None:
    """W1, T3: nothing is claimed twice."""
    scratch.graph("  t: {goal: x}\n", WAIT.format(gate=gate) + "\necho x > x.txt")
    first = scratch.start("run")
    first.wait_for_line("t: implement started")
    said = scratch.interlock("run", code=7)
    assert f"{first.pid}" in said
    assert "interlock status" in said
    scratch.interlock("wait", "--timeout", "0s", code=8)
    gate.touch()
    assert first.wait() == 0
    assert len(scratch.facts("PhaseStarted")) == 3


def test_cancel_from_another_terminal_ends_the_agent_and_keeps_what_it_wrote(
    scratch: Scratch, gate: Path
) -> None:
    """T6, D10, D4."""
    scratch.graph("  t: {goal: x}\n", "echo half > half.txt; echo half done; " + WAIT.format(gate=gate))
    run = scratch.start("run")
    run.wait_for_line("t: implement started")
    scratch.wait_for_output("t", "half done")
    scratch.interlock("cancel", "t")
    assert run.wait() == 1
    assert scratch.states() == {"t": "cancelled"}
    archived = scratch.facts("WorkspaceArchived")[0]["fact"]["ref"]
    assert scratch.git("show", f"{archived}:half.txt") == "half"


def test_reset_from_another_terminal_fences_the_holder_and_starts_again(scratch: Scratch, gate: Path) -> None:
    """T6, D4: the stuck attempt is ended and its result does not count."""
    stuck = f"touch stuck.txt; echo stuck now; {WAIT.format(gate=gate)}"
    agent = f'if test "$INTERLOCK_ATTEMPT" = 1; then {stuck}; fi; echo x > x.txt'
    scratch.graph("  t: {goal: x}\n", agent)
    run = scratch.start("run")
    run.wait_for_line("t: implement started")
    scratch.wait_for_output("t", "stuck now")
    scratch.interlock("reset", "t")
    assert run.wait() == 0
    assert scratch.states() == {"t": "done"}
    assert scratch.git("ls-tree", "--name-only", "main").count("stuck") == 0


def test_pause_holds_new_starts_until_unpause(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: x}\n")
    scratch.interlock("plan")
    scratch.interlock("pause")
    run = scratch.start("run")
    run.wait_for_line("paused")
    assert scratch.facts("PhaseStarted") == []
    scratch.interlock("unpause")
    assert run.wait() == 0
    assert scratch.states() == {"t": "done"}


def test_ctrl_c_once_finishes_what_runs_and_starts_nothing_new(scratch: Scratch, gate: Path) -> None:
    scratch.graph(
        "  a: {goal: x}\n  b: {goal: x, needs: [a]}\n",
        WAIT.format(gate=gate) + '\necho > "$INTERLOCK_TASK_ID"',
    )
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    run.interrupt()
    run.wait_for_line("Ctrl-C again")
    gate.touch()
    assert run.wait() == 130
    assert scratch.states() == {"a": "done", "b": "waiting"}
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}


def test_ctrl_c_twice_ends_the_agents_and_deletes_nothing(scratch: Scratch, gate: Path) -> None:
    scratch.graph("  a: {goal: x}\n", "echo precious > p.txt; echo written\n" + WAIT.format(gate=gate))
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.wait_for_output("a", "written")
    run.interrupt()
    run.wait_for_line("Ctrl-C again")
    run.interrupt()
    assert run.wait() == 130
    assert scratch.states() == {"a": "waiting"}
    ref = scratch.facts("WorkspaceArchived")[0]["fact"]["ref"]
    assert scratch.git("show", f"{ref}:p.txt") == "precious"
    gate.touch()
    scratch.interlock("run")
    assert scratch.states() == {"a": "done"}


def test_the_log_is_whole_and_explains_every_commit(scratch: Scratch) -> None:
    """W10, D9: both directions of the trail."""
    scratch.graph("  t: {goal: x}\n")
    scratch.interlock("run")
    scratch.interlock("events", "--verify")
    commit = scratch.git("rev-parse", "main")
    assert scratch.status()["tasks"][0]["landed_commit"] == commit
    assert "t" in scratch.interlock("explain", commit)


def test_a_run_with_nothing_to_do_says_so(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: x}\n")
    scratch.interlock("run")
    before = scratch.git("rev-parse", "main")
    said = scratch.interlock("run")
    assert "1 done" in said
    assert "no tasks left" in said
    assert "started" not in said
    assert scratch.git("rev-parse", "main") == before


def test_only_what_was_selected_runs(scratch: Scratch) -> None:
    """T5."""
    scratch.graph("  a: {goal: x, story: one}\n  b: {goal: x, story: two}\n")
    scratch.interlock("run", "--story", "one")
    assert scratch.states() == {"a": "done", "b": "waiting"}


def test_the_demo_lands_twelve_of_twelve_and_every_commit_of_main_is_green(tmp_path: Path) -> None:
    """The promise of `make demo`."""
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "demo", "--json", "--dir", str(tmp_path / "demo")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert (told["landed"], told["commits_red"], told["commits_checked"]) == (12, [], 13)
    # Whether a pair worked at the same time is up to the machine; what must follow if it did is not.
    bases = _first_bases(tmp_path / "demo")
    assert told["conflicts"] >= (bases["greet-en"] == bases["greet-de"])
    assert told["red_checks"] >= 1 + (bases["rename-price"] == bases["invoice"])
    assert told["one_worker_seconds_estimated"] > 0
    _assert_opens_the_dashboard(told["next"])


def _assert_opens_the_dashboard(line: str) -> None:
    """The line at the end of the demo does what it says, if a person pastes it."""
    words = shlex.split(line.rpartition("&& ")[2])  # a checkout without the pages builds them first
    with subprocess.Popen([*words, "--no-open", "--json"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            said = json.loads(process.stdout.readline())
            asked = Request(f"{said['address']}/api/snapshot")  # noqa: S310 - our own server
            asked.add_header("Authorization", f"Bearer {said['token']}")
            with urlopen(asked) as answer:  # noqa: S310 - as above
                assert json.load(answer)["frame"]["buckets"]["landed"] == 12
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()


def _first_bases(root: Path) -> dict[str, str]:
    """What each task's first attempt was built on."""
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "--project", str(root), "events", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    facts = [
        row["fact"] for row in map(json.loads, done.stdout.splitlines()) if row["kind"] == "WorkFinished"
    ]
    return {fact["task"]: fact["base"] for fact in reversed(facts)}


def test_a_checkout_of_another_branch_is_told_that_it_stays_and_what_nothing_checks(scratch: Scratch) -> None:
    """W6: work lands on main while the person is elsewhere."""
    scratch.graph("  t: {goal: x}\n")
    scratch.git("switch", "-q", "-c", "mine")
    said = scratch.interlock("run")
    assert "lands on main (you are on mine; --branch mine lands there)" in said
    assert "no check runs on t before it lands" in said
    assert scratch.git("show", "main:t.txt") == "t"
    assert not (scratch.root / "t.txt").exists()
