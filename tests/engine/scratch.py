"""A real repository with a task graph and shell agents, and the real command run on it."""

import io
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from interlock.ui.cli import main
from interlock.ui.cli.output import AGENT_VARIABLES
from tests import warm

WAIT = 'while ! test -e "{gate}"; do sleep 0.05; done'
"""For an agent: go on when the gate is there."""
INTERLOCK = warm.INTERLOCK
GIVE_UP_SECONDS = 60
"""Nothing here takes longer; a test that waits for ever says nothing."""


class Scratch:
    """One repository in a temporary folder, as a person would have it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.started: list[Background] = []
        self.gates = root.parent / "gates"
        """A folder that agents may look into, as they may into a toolchain's."""
        root.mkdir(parents=True)
        self.gates.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *argv: str) -> str:
        """What git says, as the person."""
        identity = ("-c", "user.name=Person", "-c", "user.email=person@localhost")
        done = subprocess.run(
            ["git", *identity, *argv], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, **files: str) -> None:
        """Put files there; `__` in a name stands for a dot."""
        for name, text in files.items():
            (self.root / name.replace("__", ".")).write_text(text)

    def commit(self, message: str = "start") -> str:
        """Commit everything as the person; the new commit."""
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def graph(
        self, tasks: str, agent: str = 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"', **defaults: str
    ) -> None:
        """A committed task graph whose agent is a shell script."""
        lines = "".join(f"  {key}: {value}\n" for key, value in defaults.items())
        self.write(
            agent__sh=agent + "\n",
            **{
                "task-graph__yaml": (
                    f"version: 1\ndefaults:\n  agent: shell\n  timeout: 60s\n{lines}"
                    "agents:\n  shell: {use: command, run: [sh, agent.sh]}\n"
                    f"tasks:\n{tasks}"
                )
            },
        )
        self.commit("work to do")

    def interlock(self, *argv: str, code: int | None = 0) -> str:
        """Run the command; what it printed. Any exit code is fine with None."""
        done = warm.run([*INTERLOCK, *argv], self.root, self.env)
        assert code is None or done.returncode == code, (
            f"{argv}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return done.stdout + done.stderr

    def read(self, *argv: str) -> str:
        """What a command that only reads prints: in this process, for a new one takes longer to start."""
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = main(["--project", str(self.root), *argv])
        assert code == 0, f"{argv}: {code}\n{printed.getvalue()}"
        return printed.getvalue()

    @property
    def env(self) -> dict[str, str]:
        # How much memory this machine has, and how busy it is, must not decide who starts.
        # The repository is the person's own, so it may widen the sandbox.
        own = {name: text for name, text in os.environ.items() if name not in AGENT_VARIABLES}
        return own | {
            "INTERLOCK_TOOLCHAINS": f"auto,{self.gates}",
            "INTERLOCK_HOST_BRAKE": "false",
            "INTERLOCK_TRUST_FOLDERS": str(self.root.parent),
        }

    def wait_for_output(self, task: str, words: str) -> None:
        """Until the agent at work on a task has printed these words."""
        following = self.start("logs", task, "--follow")
        following.wait_for_line(words)
        following.close()

    def start(self, *argv: str) -> "Background":
        """Run the command in the background."""
        started = Background([*INTERLOCK, *argv], self.root, self.env)
        self.started.append(started)
        return started

    def close(self) -> None:
        """End what is still running."""
        for started in self.started:
            started.close()

    def status(self) -> dict[str, Any]:  # Any: parsed JSON
        """What `status --json` says."""
        found: dict[str, Any] = json.loads(self.read("status", "--json"))
        return found

    def states(self) -> dict[str, str]:
        """The state of each task."""
        return {task["id"]: task["state"] for task in self.status()["tasks"]}

    def facts(self, *kinds: str) -> list[dict[str, Any]]:  # Any: parsed JSON
        """The facts of these kinds, oldest first."""
        rows = [json.loads(line) for line in self.read("events", "--json").splitlines()]
        return [row for row in rows if not kinds or row["kind"] in kinds]


class Background:
    """A command that runs while the test goes on; its output is read all the time."""

    def __init__(self, argv: list[str], root: Path, env: Mapping[str, str] | None = None) -> None:
        printed, theirs = os.pipe()
        self._process = warm.start(argv, root, env, out=theirs, err=theirs)
        os.close(theirs)
        self._output = os.fdopen(printed)  # the thread that reads it closes it
        self.pid = self._process.pid
        self._lines: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with self._output as output:
            for line in output:
                with self._news:
                    self._lines.append(line)
                    self._news.notify_all()

    def wait_for_line(self, part: str) -> None:
        """Until a line holds `part`."""
        with self._news:
            found = self._news.wait_for(self._has(part), timeout=GIVE_UP_SECONDS)
            assert found, f"{part!r} never came: {''.join(self._lines)}"

    def _has(self, part: str) -> Callable[[], bool]:
        return lambda: any(part in line for line in self._lines)

    def interrupt(self) -> None:
        """What Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait(self) -> int:
        """Until it has ended; its exit code."""
        try:
            return self._process.wait(GIVE_UP_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end: {''.join(self._lines)}") from None

    def kill_after(self, seconds: float) -> bool:
        """Kill it after so long; False if it had ended by itself."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.close()
            return True
        return False

    @property
    def output(self) -> str:
        """All it has printed, once it has ended."""
        self.wait()
        self._reader.join()
        return "".join(self._lines)

    def close(self) -> None:
        """End it if it still runs."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
