"""Starts the program of a forge, the user's own `gh` or `glab`, which asks nothing and opens nothing."""

import re
import shutil
from collections.abc import Sequence
from typing import Annotated, TypeVar

import msgspec

from interlock.git.command import run_beside
from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem
from interlock.model.task import Commit

_LINE_CHARS = 300
_ANSWER_BYTES = 16 << 20
"""GitHub cuts a text at 64 KiB, and a page has 100 of them."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_T = TypeVar("_T")
Number = Annotated[int, msgspec.Meta(ge=1, lt=10**15)]
"""The number of a pull request."""
Url = Annotated[str, msgspec.Meta(pattern=r"^\S{1,2000}$")]


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
        said = await run_beside((program, *words), where, _ANSWER_BYTES, NO_COLOR="1", **variables)
    except EnvironmentProblem as failed:
        reason = failed.said if isinstance(failed, GitFailed) else str(failed)
        raise ForgeFailed(program, words, reason) from failed
    if said.cut:
        raise ForgeFailed(program, words, f"it printed more than {_ANSWER_BYTES >> 20} MiB")
    if said.code:
        raise ForgeFailed(program, words, said.err)
    return said.out


def read_answer(program: str, words: Sequence[str], said: bytes, shape: type[_T]) -> _T:
    """Read the JSON that it printed, of the shape that is expected."""
    try:
        return msgspec.json.decode(said, type=shape)
    except msgspec.ValidationError as error:
        raise ForgeFailed(program, words, f"it printed another answer than expected: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ForgeFailed(program, words, f"it printed no JSON: {error}") from error


def commit_of(text: str | None) -> Commit:
    """A commit that the forge names; empty if the text is no id of one."""
    return Commit(text if text and _COMMIT.fullmatch(text) else "")
