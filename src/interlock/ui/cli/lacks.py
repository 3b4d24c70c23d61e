"""Missing parts of a checkout that its own files name: dependency folders, submodules, LFS files."""

from dataclasses import dataclass

from interlock.engine.project import Project
from interlock.git.parts import AbsentPart, PartKind, absent_parts
from interlock.model.setup import Setup
from interlock.ui.cli.detecting import SetupFound, detect
from interlock.ui.cli.findings import Finding, Health

MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Lack:
    """One thing that is missing, and the command that brings it."""

    text: str
    fix: str

    def __str__(self) -> str:
        return f"{self.text}: {self.fix}"


async def lacks(project: Project, setup: Setup | None = None) -> list[Lack]:
    """Everything that agents and checks would miss, but for the folders that the graph's `setup` makes."""
    if project.place.work_tree is None:
        return []
    made = set(setup.folders) if setup else set[str]()
    folders = [lack_of(found) for found in detect(project.root).absent if not made.issuperset(found.absent)]
    return [*folders, *_of_parts(await absent_parts(project.place))]


async def lack_findings(project: Project) -> list[Finding]:
    """Rows for `doctor`: what is missing, or that nothing is."""
    missing = await lacks(project)
    rows = [Finding("set-up", Health.WARNING, lack.text, lack.fix) for lack in missing]
    return rows or [Finding("set-up", Health.OK, "dependencies, submodules and LFS files are complete")]


def lack_of(setup: SetupFound) -> Lack:
    """A lock file without its folder."""
    first = f"install {setup.needs}, then " if setup.needs else ""
    lacking = f"{setup.source} exists, but {' and '.join(setup.absent)} does not"
    return Lack(lacking, f"{first}run `{setup.command}`")


def _of_parts(parts: tuple[AbsentPart, ...]) -> list[Lack]:
    found = [
        Lack(f"submodule {part.path} is not checked out", f"git submodule update --init -- {part.path}")
        for part in parts
        if part.kind is PartKind.SUBMODULE
    ]
    found += [
        Lack(
            f"agents and checks see submodule {part.path} as it was committed, without your edits",
            f"git -C {part.path} stash",
        )
        for part in parts
        if part.kind is PartKind.EDITED
    ]
    pointers = [part.path for part in parts if part.kind is PartKind.LFS]
    if pointers:
        some = ", ".join(pointers[:MOST_NAMED]) + (" ..." if len(pointers) > MOST_NAMED else "")
        found.append(Lack(f"git LFS files are not downloaded: {some}", "git lfs pull"))
    return found
