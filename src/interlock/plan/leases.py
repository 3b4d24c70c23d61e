"""What the graph offers below `leases`, and what its tasks name of it in `uses`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from interlock.model.leases import Leasable, counts, offered, variable
from interlock.model.process import INHERITED
from interlock.plan.parts import DATABASES, LeasePart
from interlock.plan.problem import Notes
from interlock.plan.schema import OURS, GraphPart
from interlock.plan.yaml_text import Places

NOT_OURS = (*INHERITED, f"{OURS}*", "LD_*", "GIT_*", "PYTHON*", "NODE_*")
"""Variables that say how programs run: a value of a lease there would break them."""
_ROLE = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


def leasables(parts: Mapping[str, LeasePart]) -> tuple[Leasable, ...]:
    return tuple(_leasable(name, part) for name, part in parts.items())


def _leasable(name: str, part: LeasePart) -> Leasable:
    if "range" not in part.model_fields_set:
        template = part.template if "template" in part.model_fields_set else ""
        count = part.count if "count" in part.model_fields_set else DATABASES if template else 1
        return Leasable(name, count, template=template)
    first, last = map(int, part.range.split("-"))
    return Leasable(name, last - first + 1, first)


def split_uses(uses: Iterable[str], declared: Mapping[str, LeasePart]) -> dict[str, tuple[str, ...]]:
    """Return what a task uses: the names that one task at a time has, and those that the graph declares."""
    leases = tuple(name for name in uses if offered(name) in declared)
    return {"uses": tuple(name for name in uses if name not in leases), "leases": leases}


def note_leases(part: GraphPart, places: Places, notes: Notes) -> None:
    offers = {each.name: each for each in leasables(part.leases)}
    for name in offers:
        _note_variable(name, places, ("leases", name), notes)
    named: list[tuple[tuple[str | int, ...], Sequence[str]]] = [
        (("defaults", "uses"), part.defaults.uses or ()),
        *((("tasks", id, "uses"), task.uses or ()) for id, task in part.tasks.items()),
    ]
    for path, uses in named:
        own = {
            name: variable(name, is_database=bool(offers[offered(name)].template))
            for name in uses
            if offered(name) in offers
        }
        _note_uses(own, uses, places, path, notes)
        for name, many in counts(own).items():
            if many > offers[name].count:
                message = f"this uses {many} of `{name}`, and there are {offers[name].count}"
                notes.add(places.of(path), message, f"raise it below `leases`: `{name}: {{count: {many}}}`")


def note_services(part: GraphPart, places: Places, notes: Notes) -> None:
    """A service is started for tasks that use its port."""
    used = {name for task in (part.defaults, *part.tasks.values()) for name in task.uses or ()}
    for name in part.services:
        port = f"port:{name}"
        if port not in used or "port" not in part.leases:
            message = f"no task uses `{port}`, so the service `{name}` would never start"
            hint = f"write `uses: [{port}]` into the tasks whose checks need it, and `port` below `leases`"
            notes.add(places.of(("services", name)), message, hint)


def _note_uses(
    own: Mapping[str, str], uses: Sequence[str], places: Places, path: tuple[str | int, ...], notes: Notes
) -> None:
    """`own`: what it uses of `leases`, each with its variable."""
    seen: dict[str, str] = {}
    for name, wanted in own.items():
        place = (*path, uses.index(name))
        _, colon, role = name.partition(":")
        if colon and not _ROLE.fullmatch(role):
            hint = "write it like port:web, in small letters"
            notes.add(places.of(place), f"`{name}` has no name after the colon", hint)
        elif (same := seen.setdefault(wanted, name)) != name:
            message = f"`{name}` and `{same}` would both be in {wanted}"
            notes.add(places.of(place), message, "rename one of them")
        else:
            _note_variable(name, places, place, notes)


def _note_variable(name: str, places: Places, path: tuple[str | int, ...], notes: Notes) -> None:
    if any(fnmatchcase(variable(name), pattern) for pattern in NOT_OURS):
        message = f"`{name}` would change the variable {variable(name)}, which programs need"
        notes.add(places.of(path), message, "choose another name")
