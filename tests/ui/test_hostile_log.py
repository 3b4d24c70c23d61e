"""Every command over a log that holds anything at all: an answer, and never the end of the program."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from interlock.events.facts import Landed, MainSeen, PhaseStarted, TaskAccepted, WorkFinished
from interlock.events.fold import apply
from interlock.events.record import GENESIS, Recorded, chain, encode
from interlock.model.task import Agent, Commit, Task, TaskId, Tree
from interlock.model.usage import Usage
from interlock.ui.cli.exits import ExitCode
from tests.events.hostile import Villain
from tests.tiers import rest_at_night
from tests.ui.conftest import Lab, git

pytestmark = pytest.mark.slow

ROWS = 400
ROW = ("seq", "time", "actor", "kind", "body", "hash")
LOOKS = (
    *("status", "status --json", "doctor", "agents", "clutch", "errors", "lessons", "inbox"),
    *("replay", "what-if --max-parallel 2", "plan", "plan --estimate", "events"),
    *("gc", "show a", "explain a", "explain b", "prompt a", "logs a", "diff a", "show b"),
    *("replay 1", "wait --timeout 0", "config"),
)
AS_JSON = ("agents", "errors", "events", "show a", "explain a", "prompt a", "inbox", "plan")
ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, and what turns the direction of writing."""
EXACT = ("prompt a", "logs a", "diff a")
"""Into a pipe, these print what the agent got or made, sign by sign."""
ACTS = ("say a hello", "answer a yes", "pause a", "unpause a", "cancel b", "retry a", "retry b", "reset a")
GRAPH = """
version: 1
agents: {coder: {use: command, run: ["true"]}}
tasks:
  a: {goal: one, agent: coder}
  b: {goal: two, agent: coder}
"""


def hostile_log(seed: int, path: Path) -> Path:
    """An export with an honest chain over rows that no honest program wrote."""
    villain, before = Villain(seed), GENESIS
    with path.open("w") as export:
        while villain.state.seq < ROWS:
            row = villain.row()
            time = row.time if 0 <= row.time < 1e300 else 5.0
            sealed = chain(before, row.seq, time, row.actor, row.kind, row.body)
            row = Recorded(row.seq, time, row.actor, row.kind, row.body, sealed)
            apply(villain.state, row)
            before = sealed
            export.write(json.dumps({key: getattr(row, key) for key in ROW}) + "\n")
    return path


def exported(path: Path, facts: Iterable[tuple[str, str]]) -> Path:
    """An export of these facts, each with its kind and body."""
    before = GENESIS
    with path.open("w") as export:
        for seq, (kind, body) in enumerate(facts, 1):
            sealed = chain(before, seq, 5.0 + seq, "old", kind, body)
            row = Recorded(seq, 5.0 + seq, "old", kind, body, sealed)
            export.write(json.dumps({key: getattr(row, key) for key in ROW}) + "\n")
            before = sealed
    return path


@pytest.mark.parametrize("seed", rest_at_night(range(5), by_day=[0]))
@pytest.mark.thorough
def test_every_command_answers_over_a_log_that_holds_anything(seed: int, lab: Lab, tmp_path: Path) -> None:
    (lab.root / "task-graph.yaml").write_text(GRAPH)
    assert lab.run("events", "--import", str(hostile_log(seed, tmp_path / "log.ndjson"))).code == 0
    for words in (*LOOKS, *ACTS, *LOOKS, *(f"{look} --json" for look in AS_JSON)):
        done = lab.run(*words.split())
        assert done.code != ExitCode.INTERNAL, (words, done.err)
        assert "Traceback" not in done.err
        if words in EXACT:
            continue
        found = ACTING.search(done.out + done.err)
        assert not found, (words, (done.out + done.err)[max(0, found.start() - 80) :][:120])


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_an_error_repeats_nothing_that_a_terminal_obeys(form: tuple[str, ...], lab: Lab) -> None:
    done = lab.run("show", "a\x9b2J\x1b[2J\u202eb", *form)
    assert done.code == ExitCode.USAGE
    assert "2J" in done.out + done.err
    assert not ACTING.search(done.out + done.err), done


def test_a_branch_with_a_line_feed_in_its_name_stops_no_command(lab: Lab, tmp_path: Path) -> None:
    (lab.root / "task-graph.yaml").write_text(GRAPH)
    main = Commit(git(lab.root, "rev-parse", "HEAD"))
    accepted = TaskAccepted(Task(TaskId("a"), "one", Agent("coder", "command", ("true",))))
    landed = Landed(TaskId("a"), 1, "land", 1, commit=main)
    facts = (accepted, MainSeen("con\n", main, Tree("")), PhaseStarted(TaskId("a"), 1, "land", 1), landed)
    assert lab.run("events", "--import", str(exported(tmp_path / "log.ndjson", map(encode, facts)))).code == 0
    for words in ("status", "status --json", "retry a", "explain a", "run"):
        done = lab.run(*words.split())
        assert done.code != ExitCode.INTERNAL, (words, done.err)


def test_a_forged_sum_of_tokens_in_an_old_log_stops_no_command(lab: Lab, tmp_path: Path) -> None:
    """One line of an agent's output bricked the project: a sum of tokens below 0 has no logarithm."""
    (lab.root / "task-graph.yaml").write_text(GRAPH)
    accepted = TaskAccepted(Task(TaskId("a"), "one", Agent("coder", "command", ("true",))))
    started = PhaseStarted(TaskId("a"), 1, "implement", 1)
    kind, body = encode(WorkFinished(TaskId("a"), 1, "implement", 1, usage=Usage(1, 1), seconds=1.0))
    forged = body.replace('"input_tokens":1', '"input_tokens":-5000')
    assert forged != body
    path = exported(tmp_path / "log.ndjson", (encode(accepted), encode(started), (kind, forged)))
    assert lab.run("events", "--import", str(path)).code == 0
    for words in ("status", "doctor", "plan --estimate", "show a", "reset a", "run"):
        done = lab.run(*words.split())
        assert done.code != ExitCode.INTERNAL, (words, done.err)
    assert lab.run("status").code == 0
