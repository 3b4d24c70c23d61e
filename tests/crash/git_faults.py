"""A `git` that stands first on the PATH and strikes at one of the engine's git processes.

It strikes before git did anything, in the middle, or after its work but before the engine hears of it. "In
the middle" is exact: a file size limit of zero ends git by SIGXFSZ at the first byte that it writes to a
file, after it opened it. Git leaves its locks and half-written files behind, as after kill -9.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

WRAPPER = """\
#!/bin/sh
echo "$$ $*" >> '{seen}'
number=0
while read -r pid words; do
    case "$words" in *{only}*) number=$((number + 1));; esac
    if [ "$pid" = "$$" ]; then break; fi
done < '{seen}'
case "$*" in *{only}*) ;; *) number=0;; esac
if [ "$number" != {number} ]; then exec '{git}' "$@"; fi
echo "$*" > '{struck}'
case {moment} in
    middle) ulimit -c 0; ulimit -f 0; '{git}' "$@";;
    after) '{git}' "$@";;
esac
{strike}
kill -9 "$$"
"""
MOMENTS = ("before", "middle", "after")
GIT_ALONE = ":"
ENGINE_TOO = 'kill -9 "$PPID"'


@dataclass(frozen=True, slots=True)
class Point:
    """The git process that dies, and when."""

    moment: str
    number: int
    only: str = ""
    """Count only processes with these words."""
    strike: str = GIT_ALONE

    def __str__(self) -> str:
        """For the name of a test."""
        return f"{self.moment} {self.only or 'git'} {self.number}{'' if self.strike == GIT_ALONE else ' too'}"


class FaultyGit:
    """The wrapper in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self._seen, self._struck = folder / "seen", folder / "struck"

    def set(self, point: Point) -> None:
        """Strike there, in what runs with the folder first on the PATH."""
        self._seen.unlink(missing_ok=True)
        only = f'"{point.only}"' if point.only else ""
        fields = {"moment": point.moment, "number": point.number, "strike": point.strike, "only": only}
        program = WRAPPER.format(git=shutil.which("git"), seen=self._seen, struck=self._struck, **fields)
        (self.folder / "git").write_text(program)
        (self.folder / "git").chmod(0o755)

    @property
    def processes(self) -> int:
        """The git processes that were started."""
        return len(self._seen.read_text().splitlines())

    @property
    def struck(self) -> str:
        """The words of the one that died; empty if none did."""
        return self._struck.read_text().strip() if self._struck.exists() else ""
