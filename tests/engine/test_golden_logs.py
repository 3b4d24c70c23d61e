"""Logs that released versions wrote, with tasks in every stage, opened by this version: nothing is lost."""

import asyncio
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from interlock.events.snapshot import pack
from interlock.events.state import State
from interlock.events.state_parts import DoneTasks
from interlock.store import open_store
from interlock.store.statements import SCHEMA
from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[1] / "golden"
RELEASES = sorted(path.parent.name for path in GOLDEN.glob("*/log.sql"))
STATES = {
    "landed": "done",
    "red-then-green": "done",
    "paid": "done",
    "fails": "failed",
    "asks": "waiting",
    "cancelled": "cancelled",
    "half-implementing": "running",
    "half-verifying": "running",
    "waits": "waiting",
    "leased": "waiting",
}
"""Of the tasks that `status` lists, when the second run was killed."""


def opened(scratch: Scratch, release: str) -> Scratch:
    """The repository and the state folder as that release left them."""
    made = GOLDEN / release
    scratch.git("fetch", "-q", "--update-head-ok", str(made / "repository.bundle"), "refs/*:refs/*")
    scratch.git("reset", "-q", "--hard")
    state = scratch.root / ".git/interlock"
    state.mkdir()
    shutil.copy(made / "lineage", state)
    with closing(sqlite3.connect(state / "log.db")) as db, db:
        db.executescript((made / "log.sql").read_text())
        # The next run watches a lease of another machine for half its time.
        db.execute("UPDATE claims SET expires = renewed + 2 WHERE resource = 'controller'")
    return scratch


@pytest.mark.parametrize("release", RELEASES)
def test_a_half_done_log_of_a_release_is_verified_explained_and_finished(
    scratch: Scratch, release: str
) -> None:
    opened(scratch, release)
    kinds = [json.loads(line)["kind"] for line in (GOLDEN / release / "log.ndjson").read_text().splitlines()]
    verified = scratch.interlock("events", "--verify")
    assert f"the chain of {len(kinds)} facts is intact" in verified
    if release == "0.1.0":
        older = "older versions of Interlock can no longer use it"
        assert f"was migrated from schema 1 to {SCHEMA}; {older}" in verified
    assert "schema" not in scratch.interlock("status")  # that is said once
    assert scratch.states() == STATES
    assert "its run ended, the next run continues it" in scratch.interlock("explain", "half-implementing")
    assert "half-verifying" in scratch.interlock("explain", "half-verifying")
    assert "not wanted" in scratch.interlock("explain", "cancelled")
    assert "Should it accept strings as well?" in scratch.interlock("explain", "asks")
    assert "no longer in the task graph" in scratch.interlock("explain", "removed")
    assert "cannot do this" in scratch.interlock("show", "fails")
    assert "Write ok into every file." in scratch.interlock("lessons")

    (scratch.gates / "go").touch()
    scratch.interlock("answer", "asks", "yes")
    scratch.interlock("run", "--no-input", code=1)
    ended = STATES | dict.fromkeys(("asks", "half-implementing", "half-verifying", "waits", "leased"), "done")
    assert scratch.states() == ended
    lost = {fact["fact"]["task"]: fact["fact"]["phase"] for fact in scratch.facts("PhaseLost")}
    assert lost == {"half-implementing": "implement", "half-verifying": "verify"}
    finished = [fact for fact in scratch.facts("WorkFinished") if fact["fact"]["task"] == "half-verifying"]
    assert len(finished) == 1  # what its agent had made was checked again, and not made again
    assert scratch.git("show", "main:half-implementing.part.ok") == "ok"
    assert len(scratch.facts("TaskAccepted")) == kinds.count(
        "TaskAccepted"
    )  # the file still has its tasks, as before origins
    scratch.interlock("events", "--verify")


@pytest.mark.parametrize("release", RELEASES)
def test_the_export_of_a_release_fills_an_empty_log(scratch: Scratch, release: str) -> None:
    export = GOLDEN / release / "log.ndjson"
    opened(scratch, release)
    (scratch.root / ".git/interlock/log.db").unlink()
    scratch.interlock("events", "--import", str(export))
    assert scratch.states() == STATES
    again = [json.loads(line) for line in scratch.read("events", "--export", "-").splitlines()]
    assert again == [json.loads(line) for line in export.read_text().splitlines()]


SAID = (
    "status --all",
    "status --json",
    "errors --all",
    "show landed",
    "show red-then-green --json",
    "explain landed",
    "explain {commit}",
    "wait landed",
    "prompt landed",
    "retry landed",
    "reset paid",
    "cancel paid",
    "replay last --at 100",
    "plan",
    "gc",
)


def test_commands_and_runs_treat_a_task_that_was_done_long_ago_like_any_other(scratch: Scratch) -> None:
    """A log of which State keeps no task that is done, beside the same log of which it keeps them all."""
    opened(scratch, RELEASES[0])
    landed = scratch.facts("Landed")[0]["fact"]["commit"]
    before = [_said(scratch, words, landed) for words in SAID]
    asyncio.run(_keep_none(scratch.root / ".git/interlock/log.db"))
    for words, told in zip(SAID, before, strict=True):
        assert _said(scratch, words, landed) == told, words

    (scratch.gates / "go").touch()
    scratch.interlock("add", "more", "make it", "--needs", "landed")
    scratch.interlock("run", "--no-input", code=1)
    ended = STATES | dict.fromkeys(("half-implementing", "half-verifying", "waits", "leased", "more"), "done")
    assert scratch.states() == ended
    scratch.interlock("add", "last", "make it", "--needs", "more")
    assert "and 2 added tasks" in scratch.interlock("plan")
    scratch.git("reset", "-q", "--soft", f"{landed}~")
    scratch.git("rm", "-q", "-f", "landed*", "more*")
    scratch.git("commit", "-q", "-m", "everything but landed and more, in one commit")
    assert "no longer on main" in scratch.interlock("status")
    assert set(scratch.states().values()) == {"failed", "waiting", "cancelled"}
    scratch.interlock("retry", "landed")
    scratch.interlock("reset", "more")
    assert "waits for landed" in scratch.interlock("explain", "more")
    scratch.interlock("run", "--yes", code=1)
    again = scratch.states()
    assert (again["landed"], again["more"]) == ("done", "done")
    scratch.interlock("events", "--verify")


async def _keep_none(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM snapshot")
    store = open_store(str(path), "")
    await store.save_snapshot(0, pack(State(done=DoneTasks(kept=0))))
    await store.close()


def _said(scratch: Scratch, words: str, commit: str) -> str:
    """What a command prints, without what depends on the time of day."""
    said = scratch.interlock(*words.format(commit=commit[:12]).split(), code=None)
    return re.sub(r'"(time|now|seconds)":[ 0-9.]+|\bfor [0-9hms.]+', "", said)
