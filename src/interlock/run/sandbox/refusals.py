"""What a sandbox says when it does not work, and what a person can do about it."""

import re

from interlock.model.errors import CannotStart, EnvironmentProblem

_NO_PROGRAM = re.compile(r"^bwrap: execvp (?P<program>.*): (?P<why>[^:]*)$", re.MULTILINE)
_SAID = re.compile(r"^bwrap: (?P<why>.*)$", re.MULTILINE)


class BrokenSandbox(EnvironmentProblem):
    """A sandbox that was found to work does not any more."""

    code = "sandbox"
    hint = "interlock doctor"


def unstartable(program: str, why: str) -> str:
    """Why a program cannot be started, as the kernel put it."""
    if why == "No such file or directory":
        where = ", nor the interpreter its first line names" if "/" in program else ""
        return f"program not found: {program}{where}"
    return f"program cannot be started: {program}: {why}"


def got_nowhere(program: str, tail: str) -> EnvironmentProblem:
    """Bubblewrap ended before the program was one: it could not start it, or could not confine it."""
    if found := _NO_PROGRAM.search(tail):
        return CannotStart(unstartable(program, found["why"]))
    said = _SAID.search(tail)
    return BrokenSandbox(
        f"the sandbox of {program} could not be made: {said['why'] if said else tail[-200:]}"
    )
