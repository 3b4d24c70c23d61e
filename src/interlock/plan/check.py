"""Checks of the whole graph: needs, agents, and globs that match no file."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from interlock.model.globs import is_literal
from interlock.model.kinds import KINDS
from interlock.model.nearest import suggest
from interlock.plan.cycles import find_cycle
from interlock.plan.files import FileIndex
from interlock.plan.problem import Notes
from interlock.plan.schema import GraphPart, TaskPart
from interlock.plan.staffing import note_staff
from interlock.plan.yaml_text import Document, Places

SUGGESTIONS = 25
"""Comparing a word with thousands of ids takes a while, so only so many unknown needs get a suggestion."""
CYCLE_SHOWN = 12
LOGIN_HINT = "fine if you trust the code it works on; with `key_env` its credential stays outside the sandbox"
GLOB_FIELDS = ("touches", "exclusive", "shared")


def note_all(part: GraphPart, document: Document, notes: Notes, files: Collection[str] | None) -> None:
    written = _Written(document)
    note_staff(part, document.places, notes)
    _note_kinds(part, written.places, notes)
    _note_needs(part, written, notes)
    _note_cycle(part, written, notes)
    if not part.tasks and not written.tasks:
        notes.warn(written.places.of(("tasks",)), "there are no tasks", "add one below `tasks:`")
    if files is not None:
        _note_empty_globs(part, written.places, FileIndex(files), notes)


class _Written:
    """All names in the file, valid or not: a reference to an invalid task is not a second problem."""

    def __init__(self, document: Document) -> None:
        self.places = document.places
        self.tasks = document.places.inside("tasks")


def _note_kinds(part: GraphPart, places: Places, notes: Notes) -> None:
    """Check the keys that an agent of this kind must have, and those that have no effect."""
    for name, agent in part.agents.items():
        kind = KINDS[agent.use]
        for key in kind.needs:
            if key not in agent.model_fields_set:
                place = places.of(("agents", name), at_key=True)
                notes.add(place, f"`{name}` has no `{key}`", f"`use: {agent.use}` does not work without it")
        for key in kind.refuses:
            if key in agent.model_fields_set:
                place = places.of(("agents", name, key), at_key=True)
                notes.add(place, f"`{key}` has no effect with `use: {agent.use}`", "remove it")
        if agent.login:
            place = places.of(("agents", name, "login"), at_key=True)
            notes.warn(place, f"`{name}` can read and send out the credentials of its login", LOGIN_HINT)


def _note_needs(part: GraphPart, written: _Written, notes: Notes) -> None:
    suggestions = SUGGESTIONS
    for id, position, need in _needs(part.tasks.items()):
        if need in written.tasks and need != id:
            continue
        place = written.places.of(("tasks", id, "needs", position))
        if need == id:
            notes.add(place, f"`{id}` needs itself", "remove it from its own `needs`")
        elif ":" in need:
            notes.add(
                place,
                f"`{need}` is in another project, which is not supported yet",
                "name a task of this file",
            )
        else:
            hint = "`needs` names tasks of this file"
            notes.add(
                place, f"unknown task `{need}`", suggest(need, written.tasks, hint) if suggestions else hint
            )
            suggestions = max(0, suggestions - 1)


def _needs(tasks: Iterable[tuple[str, TaskPart]]) -> Iterator[tuple[str, int, str]]:
    return ((id, position, need) for id, task in tasks for position, need in enumerate(task.needs))


def _note_cycle(part: GraphPart, written: _Written, notes: Notes) -> None:
    if cycle := find_cycle({id: task.needs for id, task in part.tasks.items()}):
        position = part.tasks[cycle[0]].needs.index(cycle[1])
        place = written.places.of(("tasks", cycle[0], "needs", position))
        notes.add(place, f"the needs form a cycle: {_drawn(cycle)}", "remove one of these needs")


def _drawn(cycle: Sequence[str]) -> str:
    if len(cycle) <= CYCLE_SHOWN:
        return " -> ".join([*cycle, cycle[0]])
    shown = " -> ".join(cycle[: CYCLE_SHOWN - 1])
    return f"{shown} -> ... {len(cycle) - CYCLE_SHOWN} more ... -> {cycle[-1]} -> {cycle[0]}"


def _is_new_file(path: str, index: FileIndex) -> bool:
    """A plain path in a folder that is there: most tasks make a file, and that is worth no warning."""
    folder = path.rstrip("/").rpartition("/")[0]
    return is_literal(path) and (not folder or not index.is_empty(folder))


def _note_empty_globs(part: GraphPart, places: Places, index: FileIndex, notes: Notes) -> None:
    hint = "fine if the task creates it; otherwise check the spelling"
    for id, task in part.tasks.items():
        for field in GLOB_FIELDS:
            for position, glob in enumerate(getattr(task, field)):
                if index.is_empty(glob) and not _is_new_file(glob, index):
                    place = places.of(("tasks", id, field, position))
                    notes.warn(place, f"`{glob}` matches no file of the repository", hint)
