"""Make the golden log of the installed release: `python -m tests.golden.make FOLDER`.

A scratch repository gets tasks in every stage. Then the second run is killed with one agent at work and one
check under way, and its log is written to FOLDER as the other folders here have it. As root, under
`unshare --uts sh -c 'hostname golden; ...'`, no name of the machine is in it.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from interlock.events.facts import kinds
from tests.agents.model_server import running_model
from tests.events.test_versions import shape

AGENT = r"""
case "$INTERLOCK_TASK_ID" in
  fails) echo "cannot do this"; exit 3;;
  asks) if grep -q "A person answered" "$INTERLOCK_PROMPT_FILE"; then echo ok > asks.ok
    else echo "I read the code."; echo; echo "Should it accept strings as well?"; fi; exit;;
  half-implementing) echo ok > half-implementing.part.ok; while ! test -e ../gates/go; do sleep 0.05; done;;
  red-then-green) grep -q "is not ok" "$INTERLOCK_PROMPT_FILE" || { echo bad > red-then-green.ok; exit; };;
esac
echo ok > "$INTERLOCK_TASK_ID.ok"
"""
CHECK = r"""
for file in *.ok; do grep -q ok "$file" || { echo "$file is not ok"; exit 1; }; done
if test -e half-verifying.ok; then while ! test -e ../gates/go; do sleep 0.05; done; fi
"""
HEAD = """\
version: 1
defaults: {agent: shell, timeout: 10m, idle_timeout: 10m, check_timeout: 10m, verify: "sh check.sh"}
agents:
  shell: {use: command, run: [sh, agent.sh]}
"""
FIRST = """\
  landed: {goal: Write landed.ok, category: files, touches: ["landed.ok"]}
  red-then-green: {goal: Write red-then-green.ok, category: files, needs: [landed]}
  fails: {goal: Do what cannot be done, retries: 1}
  asks: {goal: Read numbers, priority: 1}
  cancelled: {goal: Not wanted any more, needs: [fails]}
"""
ONCE = """\
  waits: {goal: Wait for half-implementing, needs: [fails]}
  removed: {goal: Leaves the graph, needs: [fails]}
  paid: {goal: Write hello.txt with a model, agent: model}
"""
SECOND = """\
  waits: {goal: Wait for half-implementing, needs: [half-implementing]}
  half-implementing: {goal: Write half-implementing.ok, uses: [database], exclusive: ["half-implementing*"]}
  half-verifying: {goal: Write half-verifying.ok, category: files}
  leased: {goal: Wait for the database, uses: [database], priority: 3}
"""
HALF_DONE = {("CandidateBuilt", "half-verifying"), ("SessionOpened", "half-implementing")}


class Scene:
    """The repository, and what is done in it."""

    def __init__(self, folder: Path) -> None:
        self.root, gates = folder / "repository", folder / "gates"
        for path in (self.root, gates, folder / "home"):
            path.mkdir()
        who = {
            f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in PERSON.items()
        }
        self.env = {"PATH": os.environ["PATH"], "USER": "person", "HOME": str(folder / "home"), **who} | {
            "INTERLOCK_HOST_BRAKE": "false",
            "INTERLOCK_TRUST_FOLDERS": str(folder),
            "INTERLOCK_TOOLCHAINS": f"auto,{gates}",
        }
        self.do("git", "init", "-q", "-b", "main")
        for name, text in {"agent.sh": AGENT, "check.sh": CHECK, "first.ok": "ok\n"}.items():
            (self.root / name).write_text(text)

    def do(self, *argv: str, check: bool = True) -> str:
        """Run a program there; what it printed."""
        done = subprocess.run(
            argv, cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=check
        )
        return done.stdout.decode()

    def graph(self, tasks: str, agents: str = "") -> None:
        (self.root / "task-graph.yaml").write_text(f"{HEAD}{agents}tasks:\n{tasks}")
        self.do("git", "add", "-A")
        self.do("git", "commit", "-qm", "work to do")

    def run_and_kill(self) -> None:
        """The second run, until two of its tasks are half done."""
        argv = ["interlock", "run", "--max-parallel", "3", "--no-input", "--yes"]
        run = subprocess.Popen(argv, cwd=self.root, env=self.env, stdin=subprocess.DEVNULL)
        seen: set[tuple[str, str]] = set()
        while not seen >= HALF_DONE and run.poll() is None:
            rows = map(json.loads, self.do("interlock", "events", "--json").splitlines())
            seen = {(row["kind"], str(row["fact"].get("task"))) for row in rows}
        run.kill()
        run.wait()

    def keep(self, target: Path) -> None:
        """Write it all down."""
        target.mkdir(parents=True, exist_ok=True)
        state = self.root / ".git/interlock"
        shutil.copy(state / "lineage", target)
        self.do("interlock", "events", "--export", str(target / "log.ndjson"))
        self.do("git", "bundle", "create", "-q", str(target / "repository.bundle"), "--all")
        with closing(sqlite3.connect(state / "log.db")) as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            lines = [*db.iterdump(), f"PRAGMA user_version = {version};"]
        (target / "log.sql").write_text("\n".join(lines) + "\n")
        shapes = ",\n".join(
            f"{json.dumps(kind)}: {json.dumps(shape(made))}" for kind, made in kinds().items()
        )
        (target / "shapes.json").write_text(f"{{\n{shapes}\n}}\n")


PERSON = {"NAME": "Person", "EMAIL": "person@localhost"}


def main(target: Path) -> None:
    """Play all of it."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        scene = Scene(Path(folder))
        with running_model() as model:
            agent = f"  model: {{use: built-in, url: '{model.url('basic')}/v1', model: tiny}}\n"
            scene.graph(FIRST + ONCE, agent)
            scene.do("interlock", "run", "--max-parallel", "2", "--no-input", check=False)
        for command in (
            "cancel cancelled -m 'not wanted'",
            "say asks 'Look at first.ok.'",
            "pause waits",
            "unpause waits",
        ):
            scene.do("sh", "-c", f"interlock {command}")
        scene.graph(FIRST + SECOND)
        scene.run_and_kill()
        scene.keep(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
