"""Problems of assignment: unknown agents, and tasks that no agent can take."""

from collections.abc import Iterator

from interlock.model.nearest import suggest
from interlock.model.task import ANY, COMPLEXITIES
from interlock.plan.candidates import Candidates, Found, Wanted, named_by
from interlock.plan.problem import Notes
from interlock.plan.routes import routes_of
from interlock.plan.schema import GraphPart, TaskSettings
from interlock.plan.yaml_text import Places

Path = tuple[str | int, ...]


def note_staff(part: GraphPart, places: Places, notes: Notes) -> None:
    """Note tasks without an agent, agents without a description, and tasks that no agent can take."""
    described = places.inside("agents")
    if not described and part.tasks:
        first = places.of(("tasks",), at_key=True)
        hint = 'add `agents: {worker: {use: command, run: [sh, -c, "..."]}}` and `defaults: {agent: worker}`'
        notes.add(first, "no agents are described", hint)
        return
    if ANY in described:
        message = f"`{ANY}` stands for every agent and cannot be the name of one"
        notes.add(places.of(("agents", ANY), at_key=True), message, "choose another name")
    staff = _Staff(part, places, notes)
    staff.note_names(part.defaults, ("defaults", "agent"))
    for id, task in part.tasks.items():
        staff.note_names(task, ("tasks", id, "agent"))
    staff.note_unmanned()


class _Staff:
    """The agents of a graph beside its tasks."""

    def __init__(self, part: GraphPart, places: Places, notes: Notes) -> None:
        self._part = part
        self._places = places
        self._notes = notes
        self._described = places.inside("agents")
        self._labels = {label for agent in part.agents.values() for label in agent.labels}
        self._able = {word for agent in part.agents.values() for word in agent.capabilities}

    def note_names(self, said: TaskSettings, path: Path) -> None:
        if "agent" not in said.model_fields_set:
            return
        for position, name in enumerate(said.agent):
            if name == ANY or name in self._described or name in self._labels:
                continue
            hint = suggest(name, {*self._described, *self._labels}, self._listing())
            self._notes.add(self._places.of((*path, position)), f"unknown agent `{name}`", hint)

    def note_unmanned(self) -> None:
        candidates = Candidates(self._part.defaults, self._part.agents, routes_of(self._part))
        has_default = "agent" in self._places.inside("defaults")
        for id, task in self._part.tasks.items():
            want = candidates.want(task, id)
            if not (has_default or want.route or "agent" in self._places.inside("tasks", id)):
                hint = f"add `agent:` here or under `defaults:`; {self._listing()}"
                self._notes.add(self._places.of(("tasks", id), at_key=True), f"`{id}` has no agent", hint)
                continue
            found = candidates.of(want)
            if not found.able and found.short and self._all_described(want):
                self._note_unable(id, want, found)
            elif found.able and "agent" in task.model_fields_set:
                self._warn_of_unable(id, want, found)

    def _all_described(self, want: Wanted) -> bool:
        """True if no agent that it names is left out because of another problem."""
        agents = self._part.agents
        return len(agents) == len(self._described) and all(named_by(name, agents) for name in want.names)

    def _note_unable(self, id: str, want: Wanted, found: Found) -> None:
        key, message, hint = next(self._lacks(want, found))
        is_here = key[0] in self._places.inside("tasks", id)  # else it is one of the defaults
        place = self._places.of(("tasks", id, *key) if is_here else ("tasks", id), at_key=not is_here)
        self._notes.add(place, f"`{id}` {message}", hint)

    def _lacks(self, want: Wanted, found: Found) -> Iterator[tuple[Path, str, str]]:
        """The requirement that all agents miss; if they differ, all of them."""
        agents = [self._part.agents[name] for name in found.short]
        names = ", ".join(found.short)
        for position, word in enumerate(want.requires):
            if not any(word in agent.capabilities for agent in agents):
                hint = suggest(word, self._able, f"add `capabilities: [{word}]` to an agent that is able to")
                if word in self._able:
                    who = ", ".join(n for n, a in self._part.agents.items() if word in a.capabilities)
                    hint = f"name an agent that has it: {who}"
                yield (
                    ("requires", position),
                    f"requires `{word}`, which none of its agents has: {names}",
                    hint,
                )
        if not any(want.role in agent.roles for agent in agents):
            hint = f"add `roles: [{want.role}]` to an agent"
            yield ("role",), f"is for a {want.role}, and none of its agents is one: {names}", hint
        if want.complexity and all(_is_weaker(agent.complexity, want.complexity) for agent in agents):
            hint = f"name a stronger agent, or write `complexity: {want.complexity}` for one of them"
            yield (
                ("complexity",),
                f"has {want.complexity} complexity, too high for its agents: {names}",
                hint,
            )
        each = "; ".join(f"{name} {text}" for name, text in found.short.items())
        yield ("agent",), f"has no agent that could take it: {each}", "name another agent, or `agent: any`"

    def _warn_of_unable(self, id: str, want: Wanted, found: Found) -> None:
        """Named one by one and of no use here. A label or `any` says: those who can."""
        for name in want.names:
            if name in found.short:
                place = self._places.of(("tasks", id), at_key=True)
                message = f"`{id}` cannot go to `{name}`, which {found.short[name]}"
                self._notes.warn(place, message, f"it goes to {', '.join(found.able)}; leave `{name}` out")

    def _listing(self) -> str:
        return f"the agents are {', '.join(self._described)}"


def _is_weaker(agent: str, task: str) -> bool:
    return COMPLEXITIES.index(agent) < COMPLEXITIES.index(task)
