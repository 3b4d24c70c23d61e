"""The tutorial is true: every file in it is written and every command run, in this order."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ui.conftest import GIT

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_LINES = "..."
REAL_HOME = os.environ["HOME"]


@dataclass(frozen=True, slots=True)
class Step:
    """A file to write, or a command with what it prints."""

    text: str
    file: str = ""
    command: str = ""


def steps(page: str) -> list[Step]:
    found: list[Step] = []
    for block in BLOCK.finditer(page):
        if block["file"]:
            found.append(Step(block["text"], file=block["file"]))
        elif block["kind"] == "console":
            for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                found.append(Step(printed, command=command))
    return found


def pattern(printed: str) -> str:
    """`...` alone stands for any lines, in a line for anything."""
    parts = []
    for line in printed.splitlines():
        if line == ANY_LINES:
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(part) for part in line.split("...")) + r"\n")
    return "".join(parts)


class Reader:
    """Somebody who types what the tutorial says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        programs = folder / "bin"
        programs.mkdir()
        (programs / "interlock").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m interlock "$@"\n')
        (programs / "interlock").chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        self.env = os.environ | GIT | {"PATH": path, "COLUMNS": "200"}
        self._where = folder / "where"

    def type(self, command: str) -> str:
        """Run one line in a shell that remembers where it is."""
        done = subprocess.run(
            ["sh", "-c", f"{command}\ncode=$?\npwd > '{self._where}'\nexit $code"],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}"
        self.folder = Path(self._where.read_text().strip())
        return done.stdout


@pytest.mark.slow
def test_the_tutorial_is_what_a_first_time_user_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", REAL_HOME)  # where toolchains are
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    reader = Reader(tmp_path)
    for step in steps(TUTORIAL.read_text(encoding="utf-8")):
        if step.file:
            (reader.folder / step.file).write_text(step.text)
            continue
        printed = reader.type(step.command)
        assert re.fullmatch(pattern(step.text), printed), f"$ {step.command}\n{printed}\nnot\n{step.text}"


def test_a_tutorial_that_is_wrong_would_be_noticed() -> None:
    (one, two, three) = steps("```sh a.sh\nx\n```\n\n```console\n$ one\nout\n...\nend\n$ two\n```\n")
    assert (one.file, two.command, three.command) == ("a.sh", "one", "two")
    assert re.fullmatch(pattern(two.text), "out\nend\n")
    assert re.fullmatch(pattern(two.text), "out\nmore\nend\n")
    assert not re.fullmatch(pattern(two.text), "end\n")
    assert not re.fullmatch(pattern(three.text), "anything\n")
