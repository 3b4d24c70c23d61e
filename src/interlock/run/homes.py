"""The home folders of agents: configuration, transcripts and whatever else a program keeps about a session.

A home outlives its attempt, so that a session that was cut off can go on in the next one. It is removed when
an attempt of its task has come home well. An account that was lent to it does not stay that long: it is taken
back when the attempt ends, so what was lent is noted down beside the home, where its agent does not write.
"""

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from interlock.model.errors import EnvironmentProblem
from interlock.model.task import TaskId
from interlock.sandbox.folders import remove_folder


class Homes:
    """The homes below a state folder, one an attempt."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "homes"

    def path(self, task: TaskId, attempt: int) -> Path:
        return self._folder / task / str(attempt)

    def open(self, task: TaskId, attempt: int, before: int = 0) -> Path:
        """A home for an attempt: new, or the very one that attempt `before` had.

        That one stays where it is, since programs note down where they keep things; a link leads there.
        """
        home = self._itself(task, attempt)
        try:
            if before and not home.exists() and (old := self._itself(task, before)).is_dir():
                home.symlink_to(old.name)
                return old
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentProblem(f"cannot make {home}: {error.strerror}") from error
        return home

    def _itself(self, task: TaskId, attempt: int) -> Path:
        home = self.path(task, attempt)
        return home.with_name(str(home.readlink())) if home.is_symlink() else home

    def write(self, home: Path, files: Mapping[str, str]) -> None:
        """Put files there. A link that an earlier session left in the way is not followed."""
        for name, text in files.items():
            path = self._within(home, name)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                path.write_text(text, encoding="utf-8")
            except OSError as error:
                raise EnvironmentProblem(f"cannot write {path}: {error.strerror}") from error

    def _within(self, home: Path, name: str) -> Path:
        path = home / name
        try:
            is_inside = path.parent.resolve().is_relative_to(home.resolve())
        except (OSError, RuntimeError):  # links in a circle
            is_inside = False
        if ".." in path.parts or not is_inside:
            raise EnvironmentProblem(f"{path} would be outside of the agent's home")
        return path

    def lend(self, home: Path, names: tuple[str, ...], user_home: Path) -> None:
        """Copy the files that the user's own home has under these names: the account a program is logged in
        with. A link that an earlier session left in the way is not followed."""
        if not names:
            return
        try:
            _lent(home).write_text("\n".join(names), encoding="utf-8")
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {_lent(home)}: {error.strerror}") from error
        for name in names:
            source, target = user_home / name, self._within(home, name)
            try:
                if source.is_file():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.unlink(missing_ok=True)
                    shutil.copy2(source, target)
            except (OSError, shutil.Error) as error:
                raise EnvironmentProblem(f"cannot copy {source} for the agent: {error}") from error

    def take_back(self, task: TaskId, attempt: int) -> None:
        """Remove what was lent to the home of an attempt, as far as that is possible."""
        home = self._itself(task, attempt)
        try:
            names = _lent(home).read_text(encoding="utf-8").splitlines()
        except OSError:
            return  # nothing was
        for name in names:
            with contextlib.suppress(EnvironmentProblem, OSError):
                self._within(home, name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            _lent(home).unlink(missing_ok=True)

    def left(self, home: Path, names: tuple[str, ...], limit_bytes: int = 1 << 20) -> list[str]:
        """Return the text that the program wrote into these files, if it is plain and not too long. A link on
        the way there is not followed."""
        found = []
        for name in names:
            with contextlib.suppress(EnvironmentProblem, OSError):
                path = self._within(home, name)
                if path.is_file() and not path.is_symlink() and path.stat().st_size <= limit_bytes:
                    found.append(path.read_text(encoding="utf-8", errors="replace"))
        return found

    def forget(self, task: TaskId, up_to: int) -> None:
        """Remove the homes of a task's attempts up to this one, as far as that is possible."""
        folder = self._folder / task
        if not folder.is_dir():
            return
        for home in folder.iterdir():
            if not home.name.isdigit() or int(home.name) > up_to:
                continue
            if home.is_symlink():
                home.unlink(missing_ok=True)
            else:
                remove_folder(str(home))


def _lent(home: Path) -> Path:
    """Return the file that lists what was lent to a home."""
    return home.with_name(f"{home.name}.lent")
