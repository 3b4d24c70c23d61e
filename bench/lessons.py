"""Does a lesson help? Real runs of two kinds of tasks, one where it does and one where it misleads.

1. `helps`: the check wants `strict = yes`, which no goal says. An agent knows of it only from its prompt.
2. `misleads`: only the first task needs `mode = fast`, and with it every other one is red. The agent does
   what a lesson shows it, as an agent does that trusts what it reads.

And, without processes, what becomes of many lessons of known worth.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.scratch import IDENTITY, scratch_repository
from bench.table import Row
from interlock.events.state_parts import LessonState
from interlock.learn.lessons import HOLD_OUT, MOST_HELD_OUT
from interlock.learn.usefulness import is_better, useless
from interlock.model.lesson import Lesson

TITLE = "lessons"
HELPS, MISLEADS = "helps", "misleads"
CHECK = """
for file in *.helps; do
  grep -q "^strict = yes" "$file" || { echo "error: option strict must be set"; exit 1; }
done
for file in *.misleads; do
  if grep -q "^mode = fast" "$file"; then found=yes; else found=no; fi
  case "$file $found" in
    "first.misleads no") echo "error: the first one must be fast"; exit 1 ;;
    "first.misleads yes" | "*.misleads no") ;;
    *" yes") echo "error: this one cannot be fast"; exit 1 ;;
  esac
done
"""
AGENT = """
kind=${INTERLOCK_TASK_ID##*-}
name=${INTERLOCK_TASK_ID%-*}
told() { grep -q "$1" "$INTERLOCK_PROMPT_FILE"; }
echo "name = $name" > "$name.$kind"
if test "$kind" = helps && told "strict"; then echo "strict = yes" >> "$name.$kind"; fi
if test "$kind" = misleads && told "fast" && ! told "cannot be fast"; then
  echo "mode = fast" >> "$name.$kind"
fi
"""
BASE = "strict = yes\n"
GRAPH = """version: 1
defaults: {agent: shell, timeout: 60s, retries: 3, verify: sh check.sh}
agents:
  shell: {use: command, run: [sh, agent.sh]}
tasks:
"""
WORTHS = {"helps much": (0.9, 0.4), "helps": (0.8, 0.6), "is of no use": (0.7, 0.7), "misleads": (0.2, 0.8)}
"""The chance to land with a lesson, and without."""


def tasks(names: Sequence[str]) -> str:
    """A task of each kind for each name, as the graph has them."""
    return "".join(
        f"  {name}-{kind}: {{goal: write {name}, category: {kind}, touches: [{name}.{kind}]}}\n"
        for name in names
        for kind in (HELPS, MISLEADS)
    )


def measure(short: bool) -> list[Row]:
    """Real runs with lessons and without, then lessons of known worth."""
    number = 2 if short else 30
    return [*_runs(number), *_worths(10 if short else 1_000)]


def _runs(number: int) -> list[Row]:
    lessons, attempts = _run(number, HOLD_OUT)
    _, attempts_without = _run(number, 1.0)
    rows = []
    for kind in (HELPS, MISLEADS):
        for arm, word in (("with", "with it"), ("without", "without it")):
            tried, landed = lessons[kind][arm]["tried"], lessons[kind][arm]["landed"]
            rows.append(Row(f"{kind}: landed {word}, of {tried:.0f} attempts", landed / max(1, tried), ""))
        rows.append(
            Row(
                f"{kind}: attempts a task",
                attempts[kind] / number,
                "",
                attempts[kind] / attempts_without[kind],
                "lessons off",
            )
        )
    retired = lessons[MISLEADS]["state"] == "retired"
    rows.append(
        Row(
            "misleads: attempts with it before it was retired",
            lessons[MISLEADS]["with"]["tried"],
            "",
            target=6,
        )
    )
    return [*rows, Row("misleads: still in use at the end", float(not retired), "", target=0)]


def _run(number: int, hold_out: float) -> tuple[dict[str, Any], dict[str, int]]:  # Any: parsed JSON
    """The lessons by kind, and the attempts that the tasks took that came after the first."""
    with tempfile.TemporaryDirectory() as folder:
        place = scratch_repository(Path(folder), GRAPH + tasks(("first",)))
        for name, text in (("agent.sh", AGENT), ("check.sh", CHECK), ("base.helps", BASE)):
            (place / name).write_text(text)
        _commit(place)
        _interlock(place, hold_out, "run", "--max-parallel", "2")
        (place / "task-graph.yaml").write_text(GRAPH + tasks(["first", *(f"n{n}" for n in range(number))]))
        _commit(place)
        _interlock(place, hold_out, "run", "--max-parallel", "4")
        lessons = json.loads(_interlock(place, hold_out, "lessons", "--all", "--json"))
        status = json.loads(_interlock(place, hold_out, "status", "--json"))
    attempts = dict.fromkeys((HELPS, MISLEADS), 0)
    for task in status["tasks"]:
        if not task["id"].startswith("first"):
            attempts[task["id"].rpartition("-")[2]] += task["attempts"]
    return {one["scope"]["category"]: one for one in lessons}, attempts


def _commit(place: Path) -> None:
    for words in (("add", "."), (*IDENTITY, "commit", "-q", "-m", "more")):
        subprocess.run(("git", *words), cwd=place, check=True)


def _interlock(place: Path, hold_out: float, *words: str) -> str:
    environ = os.environ | {"INTERLOCK_LESSONS_HELD_OUT_PERCENT": str(round(hold_out * 100))}
    return subprocess.run(
        (sys.executable, "-m", "interlock", *words),
        cwd=place,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def _worths(number: int) -> list[Row]:
    rows = []
    for name, (with_it, without) in WORTHS.items():
        lives = [_life(random.Random(seed), with_it, without) for seed in range(number)]
        gone = [known for known in lives if useless(known)]
        spent = sum(known.with_tried for known in gone) / max(1, len(gone))
        rows.append(
            Row(f"a lesson that {name} ({with_it:g} against {without:g}): retired", len(gone) / number, "")
        )
        if gone:
            rows.append(Row("  attempts with it until then", spent, ""))
    return rows


def _life(dice: random.Random, with_it: float, without: float, attempts: int = 60) -> LessonState:
    known = LessonState(Lesson("l", "m", "t", "f"))
    for _ in range(attempts):
        if dice.random() < max(HOLD_OUT, min(MOST_HELD_OUT, 1 - is_better(known))):
            known.without_tried += 1
            known.without_landed += dice.random() < without
        else:
            known.with_tried += 1
            known.with_landed += dice.random() < with_it
        if useless(known):
            break
    return known
