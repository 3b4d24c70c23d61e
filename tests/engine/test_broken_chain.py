"""A log that somebody edited: no run goes by it, and what is before the edit can be used again."""

import sqlite3

import pytest

from tests.engine.scratch import Scratch
from tests.engine.test_recovery import NEW_EACH_TIME

pytestmark = pytest.mark.slow


def test_a_run_refuses_a_broken_chain_before_anything_starts_and_says_how_to_go_on(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: x}\n", NEW_EACH_TIME)
    scratch.interlock("run")
    log = scratch.root / ".git" / "interlock" / "log.db"
    with sqlite3.connect(log) as db:
        bad = db.execute("SELECT max(seq) / 2 FROM facts").fetchone()[0]
        last = db.execute("SELECT max(seq) FROM facts").fetchone()[0]
        db.execute("UPDATE facts SET actor = 'mallory' WHERE seq = ?", (bad,))
    db.close()
    scratch.graph("  a: {goal: x}\n  b: {goal: y}\n", NEW_EACH_TIME)
    said = scratch.interlock("run", code=7)
    assert f"the log is broken: fact {bad} (" in said
    assert f"head -n {bad - 1} all.ndjson > good.ndjson" in said
    assert len(scratch.facts()) == last, "nothing was written"
    scratch.interlock("events", "--export", "../all.ndjson")
    lines = (scratch.root.parent / "all.ndjson").read_text().splitlines(keepends=True)
    (scratch.root.parent / "good.ndjson").write_text("".join(lines[: bad - 1]))
    for path in log.parent.glob("log.db*"):
        path.unlink()
    scratch.interlock("events", "--import", "../good.ndjson")
    scratch.interlock("run")
    assert set(scratch.states().values()) == {"done"}
