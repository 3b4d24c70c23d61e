"""One flipped bit in the log: each command says that it is damaged, and the facts before it can be kept."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.ui.conftest import Lab, task

PAGE_BYTES = 4096
READERS = ("events --verify", "events", "doctor --no-checks", "run --no-input", "explain b", "show b")
GRAPH = """
version: 1
agents: {coder: {use: command, run: ["true"]}}
tasks:
  b: {goal: one, agent: coder}
"""


def tamper(lab: Lab, statement: str) -> None:
    with closing(sqlite3.connect(lab.log)) as db, db:
        db.execute(statement)


@pytest.fixture
def three(lab: Lab) -> Lab:
    """Three facts."""
    lab.accept(task("a"), task("b"), task("c"))
    (lab.root / "task-graph.yaml").write_text(GRAPH)
    return lab


@pytest.mark.parametrize("column", ["body", "actor", "kind", "hash"])
def test_a_text_that_is_not_utf8_is_named_and_the_facts_before_it_are_kept(
    three: Lab, column: str, tmp_path: Path
) -> None:
    """It was an internal error, which said that the log is intact; --export failed too."""
    statement = "UPDATE facts SET body = CAST(CAST(body AS BLOB) || x'c3' AS TEXT) WHERE seq = 2"
    tamper(three, statement.replace("body", column))
    for words in READERS if column == "body" else READERS[:2]:
        done = three.run(*words.split())
        assert done.code == 7, (words, done.err)
        assert "fact 2 has a text that is not UTF-8" in done.out + done.err, words
        assert "head -n 1 all.ndjson" in done.out + done.err
    exported, good = tmp_path / "all.ndjson", tmp_path / "good.ndjson"
    assert three.run("events", "--export", str(exported)).code == 0
    lines = exported.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == 3
    good.write_text(lines[0], encoding="utf-8")
    Path(three.log).rename(tmp_path / "old.db")
    refused = three.run("events", "--import", str(exported))
    assert (refused.code, "fact 2 " in refused.err) == (7, True)
    assert three.run("events", "--import", str(good)).code == 0
    assert three.run("events", "--verify").code == 0
    assert len(three.facts()) == 1


def test_a_page_that_is_damaged_beside_such_a_text_is_told(three: Lab) -> None:
    three.accept(*(task(f"t{number}") for number in range(99)))
    tamper(three, "UPDATE facts SET body = CAST(x'7bff7d' AS TEXT) WHERE seq = 2")
    tamper(three, "DELETE FROM snapshot")
    with closing(sqlite3.connect(three.log)) as db:
        db.execute("PRAGMA wal_checkpoint(truncate)")
    damaged = bytearray(Path(three.log).read_bytes())
    start = damaged.rfind(b'"t98"') // PAGE_BYTES * PAGE_BYTES
    damaged[start : start + 100] = b"\xee" * 100
    Path(three.log).write_bytes(damaged)
    for words in READERS:
        done = three.run(*words.split())
        assert done.code == 7 and "damaged" in done.out + done.err, (words, done.code, done.err)
        assert "the log is intact" not in done.out + done.err


def test_bytes_in_place_of_a_text_are_named(three: Lab, tmp_path: Path) -> None:
    """The lowest bit of a column's type makes bytes of a text."""
    with closing(sqlite3.connect(three.log, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        (length,) = db.execute("SELECT length(body) FROM facts WHERE seq = 2").fetchone()
    data = Path(three.log).read_bytes()
    kind = 13 + 2 * length
    column = bytes((0x80 | kind >> 7, kind & 0x7F))
    place = data.rindex(column, 0, data.index(b"Make b"))
    flipped = data[: place + 1] + bytes((data[place + 1] ^ 1,)) + data[place + 2 :]
    Path(three.log).write_bytes(flipped)
    done = three.run("events", "--verify")
    assert (done.code, "fact 2 has a value of another type" in done.err) == (7, True), done.err
    assert three.run("events", "--export", str(tmp_path / "all.ndjson")).code == 0


def test_an_export_with_a_byte_that_is_no_text_is_refused_with_the_number_of_its_fact(
    three: Lab, tmp_path: Path
) -> None:
    file = tmp_path / "log.ndjson"
    three.run("events", "--export", str(file))
    file.write_bytes(file.read_bytes().replace(b"Make b", b"Make \xe2"))
    Path(three.log).rename(tmp_path / "old.db")
    done = three.run("events", "--import", str(file))
    assert (done.code, "fact 2 " in done.err) == (7, True), done.err


def test_a_log_that_has_lost_the_row_of_its_owner_is_owned_again(three: Lab) -> None:
    assert three.run("events").code == 0
    tamper(three, "DELETE FROM project")
    assert three.run("events", "--verify").code == 0
    assert three.run("status").code == 0
