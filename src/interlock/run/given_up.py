"""Marks on attempts that were recovered: they never start any more."""

import contextlib
from pathlib import Path

from interlock.model.errors import EnvironmentProblem
from interlock.model.task import TaskId


class GivenUp:
    """The marks below a state folder, so that other processes see them too."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "given-up"

    def add(self, task: TaskId, attempt: int) -> None:
        mark = self._mark(task, attempt)
        try:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {error.filename}: {error.strerror}") from error

    def has(self, task: TaskId, attempt: int) -> bool:
        return self._mark(task, attempt).exists()

    def forget_before(self, task: TaskId, attempt: int) -> None:
        """Forget the marks before an attempt that was brought home: those that knew of them were replaced."""
        marks = self._mark(task, attempt).parent
        with contextlib.suppress(OSError):
            for mark in marks.iterdir():
                if int(mark.name) < attempt:
                    mark.unlink()
            marks.rmdir()

    def _mark(self, task: TaskId, attempt: int) -> Path:
        return self._folder / task / str(attempt)
