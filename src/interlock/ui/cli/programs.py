"""The cheapest look at a check: is the program there that it begins with."""

import shlex
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from interlock.ui.plain import inert


def missing_programs(commands: Iterable[str], root: Path) -> Iterator[str]:
    """A warning for each command whose program is not there. Nothing is run."""
    for command in dict.fromkeys(commands):
        program = _program(command)
        if program and program not in BUILT_IN.split() and not _is_there(program, root):
            yield f"`{inert(command)}`: there is no program `{inert(program)}` here"


BUILT_IN = (
    ". : [ alias break case cd command continue echo eval exec exit export false for hash if printf pwd read "
    "readonly return set shift source test times trap true type ulimit umask unset until wait while { ( !"
)
"""Words that the shell knows itself."""


def _program(command: str) -> str:
    """The first word that is no assignment; empty if that is for the shell to say."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return ""
    first = next((word for word in words if "=" not in word), "")
    return "" if any(char in first for char in "$`(){};&|<>*?") else first


def _is_there(program: str, root: Path) -> bool:
    return (root / program).exists() if "/" in program else shutil.which(program) is not None
