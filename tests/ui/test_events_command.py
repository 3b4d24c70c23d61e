"""`events`: the log to read, verify and carry elsewhere (W10)."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.events.facts import ClutchDecided, PhaseStarted, TaskEstimated, kinds
from interlock.events.record import Recorded, seal
from interlock.events.state import State
from interlock.model.forecast import Beside, Forecast
from interlock.model.reason import Reason, Why, said
from interlock.model.task import TaskId
from interlock.ui.words.facts import describe
from interlock.ui.words.progress import PHRASES, sentence
from tests.ui.conftest import Lab, git, task


def test_programs_get_one_line_for_each_fact(lab: Lab) -> None:
    lab.accept(task("api"), task("web"))
    rows = lab.run("events", "--json").lines
    assert [(row["seq"], row["kind"], row["fact"]["task"]["id"]) for row in rows] == [
        (1, "TaskAccepted", "api"),
        (2, "TaskAccepted", "web"),
    ]
    assert [row["seq"] for row in lab.run("events", "--json", "--since", "1").lines] == [2]


def test_people_get_one_line_for_each_fact(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.fail("api", "agent exited 1")
    lines = lab.run("events").out.splitlines()
    assert len(lines) == 4
    assert "PhaseFailed api #1 implement error=agent-exit why=agent exited 1" in lines[2]


def test_a_whole_chain_is_said_to_be_whole(lab: Lab) -> None:
    lab.accept(task("api"), task("web"))
    last = lab.run("events", "--json").lines[-1]["hash"]
    assert lab.run("events", "--verify").out == f"the chain of 2 facts is intact; its last hash is {last}\n"


@pytest.mark.parametrize(
    ("tamper", "named"),
    [
        ("UPDATE facts SET body = replace(body, 'Make b', 'Make x') WHERE seq = 2", "fact 2 "),
        ("DELETE FROM facts WHERE seq = 2", "fact 2 is missing"),
        (
            "UPDATE facts SET seq = 9 - seq WHERE seq > 1; UPDATE facts SET seq = seq - 4 WHERE seq > 1",
            "fact 2 ",
        ),
    ],
)
def test_a_changed_missing_or_moved_fact_is_named(lab: Lab, tamper: str, named: str) -> None:
    lab.accept(task("a"), task("b"), task("c"))
    with sqlite3.connect(lab.log) as db:
        db.executescript(tamper)
    db.close()
    result = lab.run("events", "--verify")
    assert result.code == 7
    assert named in result.err


def test_a_log_is_exported_and_imported_into_a_fresh_clone(lab: Lab, tmp_path: Path) -> None:
    lab.accept(task("a"), task("b"))
    file = tmp_path / "log.ndjson"
    assert lab.run("events", "--export", str(file)).code == 0
    git(tmp_path, "clone", "-q", str(lab.root), "clone")
    clone = Lab(tmp_path / "clone", lab.capsys)
    assert clone.run("events", "--import", str(file)).code == 0
    assert clone.facts() == lab.facts()
    assert clone.run("events", "--verify").code == 0
    again = clone.run("events", "--import", str(file))
    assert (again.code, "not empty" in again.err) == (2, True)


def test_an_export_replaces_only_what_the_log_has(lab: Lab, tmp_path: Path) -> None:
    lab.accept(task("a"))
    file, notes, link = tmp_path / "log.ndjson", tmp_path / "notes.md", tmp_path / "link"
    assert lab.run("events", "--export", str(file)).code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    lab.accept(task("b"))
    assert lab.run("events", "--export", str(file)).code == 0
    good = file.read_text()
    assert good.count("\n") == 2
    (tmp_path / "out").symlink_to("/dev/null")  # as /dev/stdout is a link
    assert lab.run("events", "--export", str(tmp_path / "out")).code == 0
    assert (tmp_path / "out").is_symlink()
    notes.write_text("mine\n")
    link.symlink_to(notes)
    for path, why in ((notes, "is not an export of this log"), (link, "is a link")):
        refused = lab.run("events", "--export", str(path))
        assert (refused.code, f"{path} {why}" in refused.err) == (2, True), refused.err
        assert f"`interlock events --export {path} --force` replaces it" in refused.err
    assert notes.read_text() == "mine\n"
    Path(lab.log).rename(tmp_path / "lost.db")
    refused = lab.run("events", "--export", str(file))
    assert (refused.code, "holds 2 facts, and the log only 0" in refused.err) == (2, True)
    lab.accept(task("c"), task("d"), task("e"))
    refused = lab.run("events", "--export", str(file))
    assert (refused.code, "is not an export of this log" in refused.err) == (2, True)
    assert file.read_text() == good
    assert lab.run("events", "--export", str(link), "--force").code == 0
    assert (link.is_symlink(), notes.read_text(), link.read_text().count("\n")) == (False, "mine\n", 3)
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith(".")} <= {".git"}


def test_an_export_that_cannot_be_written_leaves_the_old_one(lab: Lab, tmp_path: Path) -> None:
    lab.accept(task("a"))
    file = tmp_path / "log.ndjson"
    lab.run("events", "--export", str(file))
    before = file.read_bytes()
    lab.accept(*(task(f"t{number}") for number in range(150)))
    limited = 'ulimit -f 64; trap "" XFSZ; exec "$0" -m interlock events --export "$1"'
    done = subprocess.run(
        ["bash", "-c", limited, sys.executable, str(file)],
        cwd=lab.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, f"cannot write {file}" in done.stderr) == (7, True), done.stderr
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if "log.ndjson" in path.name] == ["log.ndjson"]


def test_an_export_goes_to_stdout_with_a_dash(lab: Lab) -> None:
    lab.accept(task("a"))
    assert len(lab.run("events", "--export", "-").lines) == 1


def test_only_one_thing_at_a_time(lab: Lab) -> None:
    assert lab.run("events", "--verify", "-f").code == 2


def test_every_phrase_belongs_to_a_fact() -> None:
    assert {kind.__name__ for kind in PHRASES} <= set(kinds())


DB = (Beside(TaskId("db"), 0.5),)


def started(
    beside: tuple[Beside, ...] = DB,
    agent_why: Reason | None = None,
    phase: str = "implement",
    agent: str = "steady",
) -> PhaseStarted:
    why = Reason(Why.NEXT_IN_ORDER, {"priority": 2})
    return PhaseStarted(TaskId("api"), 2, phase, 1, why=why, agent=agent, beside=beside, agent_why=agent_why)


def in_a_log(fact: PhaseStarted) -> Recorded:
    return seal("", 1, 0.0, "test", fact)


def test_what_is_within_a_fact_is_told_without_the_marks_of_a_program() -> None:
    forecast = Forecast("docs", Reason(Why.DECLARED), "quick", 12.0, 65.0, 0.85)
    assert describe(TaskEstimated(TaskId("api"), forecast)) == (
        "TaskEstimated api: docs (declared) by quick, median 12s, 9 of 10 under 1m5s, 85% land"
    )
    clutch = ClutchDecided(2, "goodput", said("it paid"), "docs", evidence={"landed_per_hour_at_1": 4.25})
    assert "evidence=(landed_per_hour_at_1=4.2)" in describe(clutch)
    assert "beside=(task=db paths=0.5)" in describe(started())


def test_a_start_is_told_in_one_short_line_with_what_is_unusual_about_it() -> None:
    told, text = "api: implement started, attempt 2 by steady", "quick failed at it in attempt 1"
    failed = Reason(Why.AGENT_FAILED, {"agent": "quick", "attempt": 1, "cause": said("exit 1")})
    for fact, aside in (
        (started(()), ""),
        (started((), failed), f" ({text})"),
        (started(DB, failed), f" (may overlap with db; {text})"),
    ):
        line = sentence(in_a_log(fact), State())
        assert line is not None
        assert line[1][9:] == told + aside
    assert sentence(in_a_log(started(phase="verify", agent="")), State()) is None
