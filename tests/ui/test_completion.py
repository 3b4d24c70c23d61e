"""Task ids complete in bash, zsh and fish: with the shells themselves, where they are installed."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.ui.cli.completion import script
from tests.ui.conftest import Lab, task
from tests.warm import pieces

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A project with tasks, and `interlock` on the PATH of a person who stands in it."""
    lab.accept(task("parser"), task("parser-tests"), task("docs"))
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "interlock").write_text(f'#!/bin/sh\nexec {sys.executable} -m interlock "$@"\n')
    (programs / "interlock").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(lab.root)
    return lab


def asked(words: str) -> list[str]:
    """What Interlock answers a shell that completes the last of these words."""
    count = len(words.split(" ")) - 1
    done = subprocess.run(
        [sys.executable, "-m", "interlock"],
        env=os.environ
        | {"_INTERLOCK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


OFTEN = ("show", "say", "run --only")
BY_NIGHT = ("explain", "retry", "cancel", "logs", "diff", "attach", "wait")


@pytest.mark.parametrize(
    "command", [*OFTEN, *(pytest.param(command, marks=pytest.mark.night) for command in BY_NIGHT)]
)
def test_every_command_that_takes_a_task_completes_it(shop: Lab, command: str) -> None:
    assert asked(f"interlock {command} pars") == ["parser", "parser-tests"]


def test_a_part_of_a_name_is_enough_where_no_name_begins_so(shop: Lab) -> None:
    assert asked("interlock show tests") == ["parser-tests"]


def test_outside_of_a_repository_there_is_nothing_and_no_error(
    shop: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert asked("interlock show ") == []


def needs(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    return path


def test_in_bash(shop: Lab, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(script("bash"))
    words = "COMP_WORDS=(interlock show pars); COMP_CWORD=2"
    asks = f"{words}; _interlock_completion interlock; echo ${{COMPREPLY[@]}}"
    command = [needs("bash"), "-c", f"source {tmp_path}/script; {asks}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [
        "parser",
        "parser-tests",
    ]


def test_in_fish_where_install_has_put_it(shop: Lab) -> None:
    fish = needs("fish")
    assert shop.run("completion", "install", "fish").code == 0
    done = subprocess.run(
        [fish, "-c", 'complete -C "interlock show pars"'], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["parser\twaiting", "parser-tests\twaiting"]


def test_in_zsh_where_install_has_put_it(shop: Lab, tmp_path: Path) -> None:
    zsh = needs("zsh")
    assert "fpath=(~/.zfunc $fpath)" in shop.run("completion", "install", "zsh").out
    (tmp_path / ".zshrc").write_text(
        "PS1='> '; unsetopt beep; fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit -u; echo loaded\n"
    )
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [zsh, "-i"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "30"},
        start_new_session=True,
    )
    os.close(theirs)
    seen, is_asked = "", False
    for piece in pieces(mine):
        seen += piece
        if "loaded" in seen and not is_asked:
            is_asked = True
            os.write(mine, b"interlock show do\t")
        if "docs" in seen.partition("loaded")[2]:
            break
    process.kill()
    process.wait()
    os.close(mine)
    assert "docs" in seen.partition("loaded")[2]


def test_installing_changes_no_other_file_and_knows_your_shell(
    shop: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/bash")
    result = shop.run("completion", "install", "--json")
    path = tmp_path / ".local/share/bash-completion/completions/interlock"
    assert result.json == {"shell": "bash", "path": str(path)}
    assert "_INTERLOCK_COMPLETE" in path.read_text()
    assert not (tmp_path / ".bashrc").exists()
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "there is no completion for `tcsh`" in shop.run("completion", "install").err
