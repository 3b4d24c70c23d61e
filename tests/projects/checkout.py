"""A person's checkout of one of the projects, and what the person does in it."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.engine.scratch import Scratch
from tests.projects.cells import PYTHON_FILES, Cell, Files, Words

INSTALL_SECONDS = 300
PATH = os.pathsep.join([os.environ["PATH"], str(Path(sys.prefix) / "projects/node_modules/.bin")])
"""The person's own, with the tools that `make test-projects` installs behind everything else."""


class Checkout(Scratch):
    """A project as a person has it: committed, set up by its own tools, main checked out."""

    def __init__(self, folder: Path, cell: Cell, environ: Mapping[str, str]) -> None:
        super().__init__(folder / "shapes-project")
        self.cell = cell
        self._environ = dict(environ)
        self.git("config", "user.name", "Person")
        self.git("config", "user.email", "person@localhost")

    @property
    def env(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
        return {**inherited, "INTERLOCK_HOST_BRAKE": "false", **self._environ}

    def make(self) -> None:
        """Write the files, run the set-up commands of the project, commit."""
        if self.cell.name == "submodule":
            self._make_library()
        self.put({**self.cell.files, ".gitignore": self.cell.ignored})
        for words in self.cell.install:
            self.run(words)
        self.commit("the project")

    def _make_library(self) -> None:
        library = Scratch(self.root.parent / "elsewhere" / "library")
        for name, text in PYTHON_FILES.items():
            if name.startswith("shapes/"):
                _write(library.root / name, text)
        library.commit()
        library.root.rename(self.root.parent / "library")

    def put(self, files: Files) -> None:
        """Write files of the person."""
        for name, text in files.items():
            _write(self.root / name, text)

    def run(self, words: Words) -> str:
        """A command of the person, in the person's own shell."""
        done = subprocess.run(
            words,
            cwd=self.root,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{shlex.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def plan(self, changes: Mapping[str, Files]) -> None:
        """Put tasks for an agent that writes these files into the graph that `init` wrote."""
        graph = self.root / "task-graph.yaml"
        head = graph.read_text().partition("\nagents:")[0]
        script = "".join(
            f'if test "$INTERLOCK_TASK_ID" = {task}; then\n{_written(files)}fi\n'
            for task, files in changes.items()
        )
        tasks = "".join(f"  {task}:\n    goal: Do {task}\n    retries: 1\n" for task in changes)
        agent = "\nagents:\n  coder: {use: command, run: [sh, agent.sh]}\n"
        self.put({"agent.sh": script, "task-graph.yaml": f"{head}{agent}tasks:\n{tasks}"})
        self.commit("work to do")

    def outside_git(self) -> dict[str, float]:
        """The person's own files that git does not know, with their times."""
        listed = self.git("ls-files", "-o", "-z").split("\0")
        return {name: (self.root / name).lstat().st_mtime for name in listed if name}

    def landed_after(self, task: str, began: float) -> float:
        """Minutes from a moment to the landing of a task."""
        landed = next(row for row in self.facts("Landed") if row["fact"]["task"] == task)
        return (float(landed["time"]) - began) / 60


def lacks(cell: Cell) -> str:
    """The first program that the cell needs and this machine has not."""
    return next((name for name in cell.needs if shutil.which(name, path=PATH) is None), "")


def now() -> float:
    """The time of the log."""
    return time.time()


def _written(files: Files) -> str:
    """Shell lines that write files."""
    lines = []
    for name, text in files.items():
        folder = str(Path(name).parent)
        lines.append(f"mkdir -p {folder}\ncat > {name} <<'END_OF_FILE'\n{text}END_OF_FILE\n")
    return "".join(lines)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
