"""Starts the program of a forge, the user's own `gh` or `glab`, which asks nothing and opens nothing."""

import shutil
from collections.abc import Sequence
from typing import Any

import msgspec

from interlock.git.command import run_beside
from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem

_LINE_CHARS = 300


class ForgeFailed(EnvironmentProblem):
    """The program of the forge failed."""

    code = "forge"

    def __init__(self, program: str, words: Sequence[str], said: str) -> None:
        self.command = " ".join((program, *words[:3]))
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        self.said = lines[0][:_LINE_CHARS] if lines else "it printed no error"
        super().__init__(f"`{self.command}` failed: {self.said}", f"{program} auth status")


async def start_forge(place: Place, program: str, words: Sequence[str], **variables: str) -> bytes:
    """Return what the program prints; `ForgeFailed` unless it ends well."""
    where = place.work_tree or place.common_dir
    if not shutil.which(program):
        raise ForgeFailed(program, words, f"{program} is not on the PATH")
    try:
        said = await run_beside((program, *words), where, NO_COLOR="1", **variables)
    except GitFailed as failed:
        raise ForgeFailed(program, words, failed.said) from failed
    if said.code:
        raise ForgeFailed(program, words, said.err)
    return said.out


def printed_json(program: str, words: Sequence[str], said: bytes) -> Any:  # Any: what the program printed
    """Return the JSON that it printed."""
    try:
        return msgspec.json.decode(said)
    except msgspec.DecodeError as error:
        raise ForgeFailed(program, words, f"it printed no JSON: {error}") from error
