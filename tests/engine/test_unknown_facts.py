"""A log with facts, fields and values of a newer Interlock, and what each command says of it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from interlock import __version__
from interlock.events.record import chain
from interlock.store.statements import SCHEMA
from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

NEEDED = '{"_v":1,"_needs":"0.9.0","task":"a","into":["b","c"]}'
HARMLESS = '{"_v":1,"_needs":"0","task":"a","stars":5}'
FIELD = '{"task":"a","text":"hello","tone":"friendly"}'
VALUE = (
    '{"task":{"id":"a","goal":"g","agent":{"name":"shell","use":"command","run":["true"]},'
    '"pipeline":[{"name":"review","kind":"review"}]}}'
)
ERROR = '{"task":"a","attempt":1,"phase":"implement","epoch":1,"error":"struck-by-lightning"}'
WRITES = 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'


def append(scratch: Scratch, kind: str, body: str) -> int:
    """Write a row as a newer version would; its number."""
    with closing(sqlite3.connect(scratch.root / ".git/interlock/log.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        seq, time, hash = db.execute("SELECT seq, time, hash FROM facts ORDER BY seq DESC LIMIT 1").fetchone()
        row = (seq + 1, time, "later", kind, body)
        db.execute("INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?)", (*row, chain(hash, *row)))
        db.execute("COMMIT")
    return int(seq) + 1


@pytest.fixture
def begun(scratch: Scratch) -> Scratch:
    """A task has landed, another waits for its selection."""
    scratch.graph("  a: {goal: Write, story: now}\n  b: {goal: Write}\n", WRITES)
    scratch.interlock("run", "--story", "now", code=None)
    return scratch


@pytest.mark.parametrize(
    ("kind", "body", "needs"),
    [("TaskSplit", NEEDED, "Interlock 0.9.0"), ("TaskAccepted", VALUE, "a newer Interlock")],
    ids=["kind", "value"],
)
def test_what_matters_and_is_not_known_is_refused_before_a_run(
    begun: Scratch, kind: str, body: str, needs: str
) -> None:
    seq = append(begun, kind, body)
    said = f"fact {seq} ({kind}) needs {needs}, and this is {__version__}"
    refused = begun.interlock("run", code=7)
    assert f"error: {said}" in refused
    assert f"`interlock events --since {seq - 1}` shows the fact" in refused
    for command in (("status",), ("explain", "a"), ("show", "a"), ("doctor", "--no-checks")):
        assert said in begun.interlock(*command, code=None), command
    assert f"{kind} (this version cannot read it)" in begun.interlock("events", "--since", str(seq - 1))
    assert json.loads(begun.read("status", "--json"))["unknown"]["seq"] == seq
    assert f"the chain of {seq} facts is intact" in begun.interlock("events", "--verify")
    assert len(begun.facts()) == seq  # nothing was written


def test_a_word_that_no_upgrade_explains_is_called_damaged_or_foreign(begun: Scratch) -> None:
    """It said: needs Interlock 0.2.0, and this is 0.2.0."""
    seq = append(begun, "TaskAccepted", f'{{"_v":2,"_needs":"{__version__}",{VALUE[1:]}')
    refused = begun.interlock("run", code=7)
    assert f"fact {seq} (TaskAccepted) is damaged or foreign" in refused
    assert f"{__version__} does not know `review`" in refused
    assert "install" not in refused
    assert f"head -n {seq - 1} all.ndjson" in refused


def test_a_newer_row_whose_marks_stand_elsewhere_is_refused_before_a_run(begun: Scratch) -> None:
    seq = append(begun, "Unpaused", '{ "_needs": "0.9.0", "_v": 9, "task": "a"}')
    assert f"fact {seq} (Unpaused) needs Interlock 0.9.0" in begun.interlock("run", code=7)


def test_what_does_not_matter_is_kept_and_passed_over(begun: Scratch) -> None:
    append(begun, "TaskPraised", HARMLESS)
    append(begun, "MessageSaid", FIELD)
    seq = append(begun, "PhaseFailed", ERROR)
    assert "warning" not in begun.interlock("status")
    doctor = begun.interlock("doctor", "--no-checks", code=None)
    assert "1 fact that this version cannot read and need not know" in doctor
    begun.interlock("run")
    assert begun.states() == {"a": "done", "b": "done"}
    shown = begun.interlock("events", "--since", str(seq - 3))
    assert 'TaskPraised (this version cannot read it) {"_v":1' in shown
    assert begun.facts("MessageSaid")[-1]["fact"]["tone"] == "friendly"
    assert begun.facts("PhaseFailed")[-1]["fact"]["error"] == "struck-by-lightning"


def test_a_loop_that_runs_survives_what_it_does_not_know(scratch: Scratch, gate: Path) -> None:
    scratch.graph(
        "  a: {goal: Write}\n  b: {goal: Write, needs: [a]}\n", f"{WAIT.format(gate=gate)}\n{WRITES}"
    )
    run = scratch.start("run", "--no-input")
    run.wait_for_line("a: implement started")
    append(scratch, "TaskPraised", HARMLESS)
    seq = append(scratch, "TaskSplit", NEEDED)
    run.wait_for_line(f"fact {seq} (TaskSplit) needs Interlock 0.9.0")
    gate.touch()
    assert run.wait() == 3, run.output
    assert scratch.states() == {"a": "done", "b": "waiting"}
    assert len(scratch.facts("AgentExited")) == 1
    stop = scratch.facts("StopRequested")[0]
    assert (stop["reason"]["code"], stop["reason"]["kind"]) == ("unknown-fact", "TaskSplit")
    assert "needs Interlock" in stop["reason"]["text"]
    scratch.interlock("events", "--verify")


def test_a_schema_of_a_newer_version_is_refused_by_every_command(begun: Scratch) -> None:
    with closing(sqlite3.connect(begun.root / ".git/interlock/log.db", isolation_level=None)) as db:
        db.execute("UPDATE project SET needs = '0.9.0'")
        db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    for command in (("run",), ("status",), ("explain", "a"), ("events",)):
        said = begun.interlock(*command, code=7)
        assert f"needs Interlock 0.9.0: it has schema {SCHEMA + 1}, and {__version__} knows {SCHEMA}" in said
        assert "hint: install Interlock 0.9.0 or newer" in said


def test_a_second_clone_cannot_use_the_log_of_the_first(scratch: Scratch, tmp_path: Path) -> None:
    """Each would take its own main for the one that the log speaks of (T2)."""
    scratch.graph("  a: {goal: Write}\n", WRITES)
    shared = tmp_path / "shared.db"
    (scratch.root / "interlock.toml").write_text(f'store = "{shared}"\n')
    scratch.commit("share the log")
    scratch.interlock("run")
    clone = Scratch(tmp_path / "clones/two")
    clone.git("pull", "-q", str(scratch.root), "main")
    owner = (scratch.root / ".git/interlock/lineage").read_text()
    refused = clone.interlock("run", code=7)
    assert f"the log {shared} belongs to another repository ({owner})" in refused
    assert "set another `store`" in refused
    assert scratch.interlock("status").startswith("1 done | main at ")
