"""Where tasks edit, through the real command: forecast, avoided, drifted, asked for (D3, D5, W13)."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.tiers import rest_at_night

pytestmark = pytest.mark.slow
HOOKED = Path(__file__).with_name("hooked_claude.py")
ASK = "echo '::interlock scope notes.md -- the change belongs there'"


def habits(scratch: Scratch, companions: dict[str, str]) -> None:
    """A history in which two modules change with another file each, and a third one by itself."""
    for number in range(12):
        module = "abc"[number % 3]
        for path in filter(None, (f"{module}/code.py", companions.get(module))):
            file = scratch.root / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{number}\n")
        scratch.commit(f"change {number}")


def started(scratch: Scratch) -> list[str]:
    facts = scratch.facts("PhaseStarted")
    return [row["fact"]["task"] for row in facts if row["fact"]["phase"] == "implement"]


def footprints(scratch: Scratch, task: str) -> dict[str, Any]:  # Any: parsed JSON
    found: dict[str, Any] = json.loads(scratch.interlock("show", task, "--json"))
    return found


MEETINGS = [("CHANGES", {"p", "r"}), ("NOTES", {"p", "q"})]


@pytest.mark.parametrize(("of_b", "first"), rest_at_night(MEETINGS, by_day=MEETINGS[:1]))
def test_tasks_that_would_meet_in_a_companion_are_not_started_together_when_another_could_run(
    scratch: Scratch, of_b: str, first: set[str]
) -> None:
    """D3, A17: with a companion of its own each of them starts as if there were none."""
    habits(scratch, {"a": "CHANGES", "b": of_b})
    tasks = zip("pqr", "abc", strict=True)
    scratch.graph("".join(f"  {task}: {{goal: Change {module}/code.py}}\n" for task, module in tasks))
    scratch.interlock("run", "--max-parallel", "2")
    assert set(scratch.states().values()) == {"done"}
    assert set(started(scratch)[:2]) == first
    found = {chance["path"]: chance for chance in footprints(scratch, "q")["forecast"]["footprint"]}
    assert found[of_b]["source"] == "companion"
    assert found[of_b]["why"]["text"] == "changes with b/code.py in 4 of 4 commits"


def test_what_a_task_declares_is_all_that_is_expected_of_it(scratch: Scratch) -> None:
    habits(scratch, {"a": "CHANGES"})
    scratch.graph("  p: {goal: Change a/code.py, touches: [a/code.py]}\n")
    scratch.interlock("run")
    assert [chance["path"] for chance in footprints(scratch, "p")["forecast"]["footprint"]] == ["a/code.py"]


def test_what_nobody_expected_is_drift(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: T, touches: [code.py]}\n", "for n in 1 2 3 4; do echo $n > $n.txt; done")
    scratch.interlock("run")
    drift = footprints(scratch, "t")["drift"]
    assert (drift["recall"], drift["precision"], drift["idle"]) == (0.0, 0.0, ["code.py"])
    assert drift["surprises"] == ["1.txt", "2.txt", "3.txt", "4.txt"]
    said = scratch.interlock("show", "t")
    assert "footprint 0 of 4 edited files expected, 0 of 1 expected path edited; also 1.txt" in said


def test_a_task_that_kept_to_its_forecast_has_no_drift(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: T, touches: [t.txt]}\n")
    scratch.interlock("run")
    said = scratch.interlock("show", "t")
    assert "footprint 1 of 1 edited file expected, 1 of 1 expected path edited" in said
    assert "expected   90%  t.txt  declared: the task says so" in said


def test_an_agent_asks_for_a_file_in_a_line_and_others_are_kept_from_it(scratch: Scratch, gate: Path) -> None:
    agent = f'{ASK}; if [ "$INTERLOCK_TASK_ID" = a ]; then {WAIT.format(gate=gate)}; fi; echo x > notes.md'
    tasks = "  a: {goal: A, touches: [a.txt]}\n  b: {goal: B, exclusive: [notes.md], needs: []}\n"
    scratch.graph(tasks, agent)
    running = scratch.start("run", "--max-parallel", "1")
    running.wait_for_line("a: may also edit notes.md: no other task works on it")
    gate.touch()
    running.wait()
    assert scratch.facts("ScopeRequested")[0]["fact"]["paths"] == ["notes.md"]
    assert footprints(scratch, "a")["scope"] == ["notes.md"]
    assert footprints(scratch, "a")["requests"][0]["answer"]["code"] == "scope-free"
    assert footprints(scratch, "a")["drift"]["surprises"] == []
    assert "attempt 1 asked for notes.md (the change belongs there): granted" in scratch.interlock(
        "show", "a"
    )


def test_what_another_task_holds_alone_is_refused_and_the_next_attempt_is_told(
    scratch: Scratch, gate: Path
) -> None:
    waits = WAIT.format(gate=gate)
    agent = f'if [ "$INTERLOCK_TASK_ID" = a ]; then {ASK}; {waits}; exit 3; fi; {waits}; echo x > notes.md'
    tasks = "  a: {goal: A, touches: [a.txt], retries: 0}\n  b: {goal: B, exclusive: [notes.md]}\n"
    scratch.graph(tasks, agent)
    running = scratch.start("run", "--max-parallel", "2")
    running.wait_for_line("a: may not edit notes.md: b holds notes.md alone until its change has landed")
    gate.touch()
    running.wait()
    assert scratch.states() == {"a": "failed", "b": "done"}
    told = scratch.interlock("prompt", "a", "--attempt", "2")
    assert "- notes.md (attempt 1 asked for it: refused, because b holds notes.md alone" in told


def test_a_program_that_asks_before_it_edits_is_kept_from_what_another_holds_alone_and_from_nothing_else(
    scratch: Scratch, gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = scratch.root.parent / "programs"
    programs.mkdir()
    shutil.copy(HOOKED, programs / "claude")
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("MY_MODEL_KEY", "sk-none")
    monkeypatch.setenv(
        "INTERLOCK_MODEL_BRAKE", "false"
    )  # no model listens there, and this program needs none
    scratch.write(
        keeper__sh=f"{WAIT.format(gate=gate)}; mkdir -p db; echo x > db/schema.sql\n",
        **{
            "task-graph__yaml": json.dumps(
                {
                    "version": 1,
                    "agents": {
                        "c": {"use": "claude-code", "url": "http://127.0.0.1:9", "key_env": "MY_MODEL_KEY"},
                        "sh": {"use": "command", "run": ["sh", "keeper.sh"]},
                    },
                    "tasks": {
                        "keeper": {"goal": "Keep", "agent": "sh", "exclusive": ["db/**"]},
                        "t": {
                            "goal": "Do it\nwrite src/a.py\nwrite db/mine.sql\nwrite docs/b.md\n",
                            "agent": "c",
                            "touches": ["src/**"],
                        },
                    },
                }
            )
        },
    )
    scratch.commit()
    running = scratch.start("run", "--max-parallel", "2")
    running.wait_for_line("t: may not edit db/mine.sql: keeper holds db/mine.sql alone")
    running.wait_for_line("t: landed as")
    gate.touch()
    assert running.wait() == 0
    assert scratch.git("ls-tree", "-r", "--name-only", "main", "src", "db", "docs").split() == [
        "db/schema.sql",
        "docs/b.md",
        "src/a.py",
    ]
    asked = {tuple(row["fact"]["paths"]): row["fact"]["granted"] for row in scratch.facts("ScopeAnswered")}
    assert asked == {("db/mine.sql",): False, ("docs/b.md",): True}
    log = (scratch.root / ".git/interlock/logs/t/1.hooks.jsonl").read_text()
    assert "leave db/mine.sql as it is" in log
