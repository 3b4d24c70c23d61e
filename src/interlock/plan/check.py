"""Checks of the whole graph: needs, agents, and globs that match no file."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from interlock.model.globs import is_literal, matches, stem
from interlock.model.kinds import KINDS
from interlock.model.nearest import suggest
from interlock.plan.cycles import find_cycle
from interlock.plan.leases import note_leases, note_services
from interlock.plan.problem import Notes
from interlock.plan.routes import note_routes
from interlock.plan.schema import CheckPart, GraphPart, TaskPart
from interlock.plan.staffing import note_staff
from interlock.plan.yaml_text import Document, Places

SUGGESTIONS = 25
"""Comparing a word with thousands of ids takes a while, so only so many unknown needs get a suggestion."""
CYCLE_SHOWN = 12
LOGIN_HINT = "fine if you trust the code it works on; with `key_env` its credential stays outside the sandbox"
GLOB_FIELDS = ("touches", "exclusive", "shared")


def note_all(part: GraphPart, document: Document, notes: Notes, files: Collection[str] | None) -> None:
    places = document.places
    note_staff(part, places, notes)
    note_routes(part, places, notes)
    _note_kinds(part, places, notes)
    _note_needs(part, places, notes)
    _note_cycle(part, places, notes)
    if not part.tasks and not places.inside("tasks"):
        notes.warn(places.of(("tasks",)), "there are no tasks", "add one below `tasks:`")
    note_leases(part, places, notes)
    note_services(part, places, notes)
    _note_differing_inputs(part, places, notes)
    if files is not None:
        _note_missing_inputs(part, places, files, notes)
        _note_missing_folders(part, places, _files_and_folders(files), notes)


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


def _note_needs(part: GraphPart, places: Places, notes: Notes) -> None:
    # Valid or not: a reference to an invalid task is not a second problem.
    written = places.inside("tasks")
    suggestions = SUGGESTIONS
    for id, position, need in _needs(part.tasks.items()):
        if need in written and need != id:
            continue
        place = places.of(("tasks", id, "needs", position))
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
            notes.add(place, f"unknown task `{need}`", suggest(need, written, hint) if suggestions else hint)
            suggestions = max(0, suggestions - 1)


def _needs(tasks: Iterable[tuple[str, TaskPart]]) -> Iterator[tuple[str, int, str]]:
    return ((id, position, need) for id, task in tasks for position, need in enumerate(task.needs))


def _note_cycle(part: GraphPart, places: Places, notes: Notes) -> None:
    if cycle := find_cycle({id: task.needs for id, task in part.tasks.items()}):
        position = part.tasks[cycle[0]].needs.index(cycle[1])
        place = places.of(("tasks", cycle[0], "needs", position))
        notes.add(place, f"the needs form a cycle: {_drawn(cycle)}", "remove one of these needs")


def _drawn(cycle: Sequence[str]) -> str:
    if len(cycle) <= CYCLE_SHOWN:
        return " -> ".join([*cycle, cycle[0]])
    shown = " -> ".join(cycle[: CYCLE_SHOWN - 1])
    return f"{shown} -> ... {len(cycle) - CYCLE_SHOWN} more ... -> {cycle[-1]} -> {cycle[0]}"


def _files_and_folders(files: Collection[str]) -> set[str]:
    found = set(files)
    for path in files:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found


def _note_missing_folders(part: GraphPart, places: Places, there: set[str], notes: Notes) -> None:
    """Warn of globs in a folder that does not exist. A new file in one that does is worth no warning."""
    hint = "fine if the task creates it; otherwise check the spelling"
    for id, task in part.tasks.items():
        for field in GLOB_FIELDS:
            for position, glob in enumerate(getattr(task, field)):
                folders = stem(glob)[:-1] if is_literal(glob) else stem(glob)
                if folders and "/".join(folders) not in there:
                    place = places.of(("tasks", id, field, position))
                    notes.warn(place, f"`{glob}` matches no file of the repository", hint)


def _checks(part: GraphPart) -> Iterator[tuple[tuple[str | int, ...], str | CheckPart]]:
    """Every check of the graph with its place."""
    for position, check in enumerate(part.defaults.verify or ()):
        yield ("defaults", "verify", position), check
    for id, task in part.tasks.items():
        for key in ("verify", "done_when"):
            for position, check in enumerate(getattr(task, key) or ()):
                yield ("tasks", id, key, position), check


def _note_differing_inputs(part: GraphPart, places: Places, notes: Notes) -> None:
    """Refuse a command with two sets of inputs: its results would be those of two checks."""
    known: dict[str, set[str]] = {}
    for path, check in _checks(part):
        command, inputs = (check.run, set(check.inputs)) if isinstance(check, CheckPart) else (check, set())
        if known.setdefault(command, inputs) != inputs:
            hint = "write the same `inputs` wherever the command stands"
            notes.add(places.of(path), f"`{command}` has other inputs elsewhere in this file", hint)


def _note_missing_inputs(part: GraphPart, places: Places, files: Collection[str], notes: Notes) -> None:
    """Warn of inputs that match no file. No error: the change that deleted their last file has landed, and
    the one that undoes it must be able to run."""
    hint = (
        "fine if its last file was deleted; otherwise check the spelling: the check cannot see what is meant"
    )
    for path, check in _checks(part):
        for position, glob in enumerate(check.inputs if isinstance(check, CheckPart) else ()):
            if not any(matches(glob, file) for file in files):
                place = places.of((*path, "inputs", position))
                notes.warn(place, f"the input `{glob}` matches no file of the repository", hint)
