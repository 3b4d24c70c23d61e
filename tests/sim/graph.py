"""A small random task graph, what each agent will do in it, and what the project's checks think of a tree.

All three are data and pure functions of it, so the fakes and the invariants share one truth.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Any

from interlock.model.leases import Leasable
from interlock.model.provider import provider_of
from interlock.model.task import Agent, Task, TaskId
from tests.sim.fake_git import Files

LEASE_SECONDS = 20.0
TIMEOUT_SECONDS = 60.0
SUITE, LINT = "suite", "lint"
TOOL_IS_GONE = "no lint"
"""A tree with this file has nothing to run its lint with."""
AGENT = Agent("scripted", "command", ("agent",), wire="openai", url="http://127.0.0.1:8000/v1")
PROVIDER = provider_of(AGENT)


class Act(StrEnum):
    """What an agent does with one attempt."""

    WORKS = "works"
    WRONG = "wrong"
    """Leaves a change that its own check rejects."""
    BREAKS = "breaks"
    """Does what it should, and breaks a test of the project."""
    EXITS = "exits"
    HANGS = "hangs"
    SILENT = "silent"
    IDLES = "idles"
    """Ends well and has changed nothing."""
    ASKS = "asks"
    """Ends well with a question to a person."""


@dataclass(frozen=True, slots=True)
class Script:
    """How the agent of one task behaves: one act per attempt, the last one from then on."""

    acts: tuple[Act, ...]
    seconds: float
    paths: tuple[str, ...]
    """Files it adds a line to."""
    rival: TaskId | None = None
    """Another task whose change is fine alone and fatal together with this one's, until told."""
    moody: bool = False
    """Its failures differ from each other, so that the breaker does not see a repetition."""

    def act(self, attempt: int) -> Act:
        return self.acts[min(attempt, len(self.acts)) - 1]


@dataclass(frozen=True, slots=True)
class Graph:
    """Everything one simulated project is made of."""

    tasks: tuple[Task, ...]
    scripts: dict[TaskId, Script]
    start: Files
    max_parallel: int
    leases: tuple[Leasable, ...] = ()
    inputs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The files that its checks see, by command; empty: each sees all."""
    is_in_a_hurry: bool = False

    def task(self, name: TaskId) -> Task:
        return next(task for task in self.tasks if task.id == name)


def edits(name: TaskId, script: Script, act: Act, base: Files) -> dict[str, str]:
    """What the agent changes, knowing what it sees in the base."""
    changes = {path: f"{base.get(path, '')}{name}\n" for path in script.paths}
    changes[f"done/{name}"] = "ok" if act in (Act.WORKS, Act.BREAKS) else f"{act} "
    if act is Act.BREAKS:
        changes[f"bad/{name}"] = "a test fails because of this"
    if script.rival is not None:
        knows = base.get(f"pair/{script.rival}") == "old way"
        changes[f"pair/{name}"] = "new way" if knows else "old way"
    return changes


def passes(command: str, files: Files) -> bool:
    """Is this check green on a tree with these files."""
    return runs(command, files) and all(tests_of(command, files).values())


def runs(command: str, files: Files) -> bool:
    """Can this check run on a tree with these files."""
    return command != LINT or TOOL_IS_GONE not in files


def tests_of(command: str, files: Files) -> dict[str, bool]:
    """The tests of a check, and whether they pass on a tree with these files."""
    if command == SUITE:
        old = sum(files.get(path) == "old way" for path in files if path.startswith("pair/"))
        return {"starts": True, "pairs": old <= 1}
    if command == LINT:
        bad = {path: False for path in files if path.startswith("bad/")}
        return {"style": True, "types": "broken" not in files, **bad}
    return {command: files.get(f"done/{command.removeprefix('done ')}") == "ok"}


def random_graph(dice: Random) -> Graph:
    """Three to twelve tasks with everything that makes scheduling and landing hard."""
    most = dice.choice([6, 6, 12])
    names = [TaskId(f"t{number:02}") for number in range(dice.randint(3, most))]
    pair = dice.sample(names, 2) if dice.random() < 0.6 else []
    rivals = dict(zip(pair, reversed(pair), strict=True))
    scripts = {name: _random_script(dice, rivals.get(name)) for name in names}
    tasks = tuple(
        _random_task(dice, name, names[:place], scripts[name], name in rivals)
        for place, name in enumerate(names)
    )
    start = {"readme": "hello\n"} | ({"broken": "since ever"} if dice.random() < 0.15 else {})
    graph = _with_leases(Graph(tasks, scripts, start, max_parallel=dice.randint(1, 4)))
    return _with_inputs(_with_one_alone(_in_a_hurry(graph)))


def _in_a_hurry(graph: Graph) -> Graph:
    """In every fourth graph the changes come faster than they can be checked: then some land as one.

    With dice of its own: the rest of a graph is the same with and without them.
    """
    dice = Random(f"hurry {[task.estimate_seconds for task in graph.tasks]}")
    if dice.random() < 0.75:
        return graph
    own = dice.random() < 0.5
    tasks = (
        replace(task, needs=(), exclusive=(), leases=(), done_when=task.done_when if own else ())
        for task in graph.tasks
    )
    scripts = {
        name: replace(script, seconds=dice.uniform(0.5, 0.7)) for name, script in graph.scripts.items()
    }
    return replace(graph, tasks=tuple(tasks), scripts=scripts, max_parallel=4, is_in_a_hurry=True)


def _with_one_alone(graph: Graph) -> Graph:
    """In every tenth graph a slow task holds files alone that a fast one edits without having said so.

    With dice of its own: the other graphs are the same with and without it.
    """
    dice = Random(f"alone {[task.estimate_seconds for task in graph.tasks]}")
    if graph.is_in_a_hurry or dice.random() < 0.9:
        return graph
    slow, fast = (task.id for task in dice.sample(graph.tasks, 2))
    free = {"needs": (), "touches": (), "exclusive": (), "shared": (), "lease_seconds": 0.0}
    own: dict[TaskId, dict[str, Any]]  # Any: fields of a task
    own = {slow: {**free, "exclusive": ("src/**",)}, fast: free}
    scripts = {
        slow: replace(graph.scripts[slow], seconds=30.0, acts=(Act.WORKS,)),
        fast: replace(graph.scripts[fast], seconds=1.0, acts=(Act.WORKS,), paths=("src/a",)),
    }
    tasks = tuple(replace(task, **own.get(task.id, {})) for task in graph.tasks)
    return replace(graph, tasks=tasks, scripts=graph.scripts | scripts, max_parallel=4)


def _with_inputs(graph: Graph) -> Graph:
    """In every fifth graph, of those without hurry, each check declares what it reads.

    What its lint would find in other files, like that it cannot run, does not count there.
    With dice of its own: the other graphs are the same with and without it.
    """
    dice = Random(f"inputs {[task.estimate_seconds for task in graph.tasks]}")
    if graph.is_in_a_hurry or dice.random() < 0.75:
        return graph
    own = tuple((f"done {task.id}", (f"done/{task.id}",)) for task in graph.tasks)
    inputs = ((SUITE, ("pair/**", "src/**")), (LINT, ("bad/**", "broken")), *own)
    return replace(graph, tasks=tuple(replace(task, inputs=inputs) for task in graph.tasks), inputs=inputs)


def _with_leases(graph: Graph) -> Graph:
    """In every other graph some tasks lease things, of which there are one or two. No two have equal values.

    With dice of its own: the rest of a graph is the same with and without them.
    """
    dice = Random(f"leases {[task.estimate_seconds for task in graph.tasks]}")
    if dice.random() < 0.5:
        return graph
    names = ["port", "port:web", "gpu"]
    tasks = tuple(
        replace(task, leases=tuple(dice.sample(names, dice.choice([0, 1, 1, 2])))) for task in graph.tasks
    )
    return replace(
        graph, tasks=tasks, leases=(Leasable("port", 2, 3000), Leasable("gpu", dice.randint(1, 2)))
    )


def _random_script(dice: Random, rival: TaskId | None) -> Script:
    first = dice.choices(
        [
            (),
            (Act.WRONG,),
            (Act.BREAKS,),
            (Act.EXITS,),
            (Act.HANGS,),
            (Act.IDLES,),
            (Act.SILENT,),
            (Act.ASKS,),
        ],
        [60, 7, 7, 8, 4, 4, 4, 6],
    )[0]
    last = Act.WORKS if dice.random() < 0.93 else dice.choice([Act.EXITS, Act.WRONG, Act.BREAKS])
    paths = tuple(dice.sample(["src/a", "src/b", "docs/c"], dice.choice([0, 0, 1, 1, 2])))
    return Script(
        (*first, last), min(45.0, 0.5 + dice.expovariate(0.1)), paths, rival, moody=dice.random() < 0.5
    )


def _random_task(dice: Random, name: TaskId, earlier: list[TaskId], script: Script, is_rival: bool) -> Task:
    needs = dice.sample(earlier, min(len(earlier), dice.choice([0, 0, 1, 1, 2]))) if not is_rival else []
    hard = dice.choices(["exclusive", "shared", ""], [15, 10, 75])[0]
    return Task(
        id=name,
        goal=f"do {name}",
        agent=AGENT,
        needs=tuple(sorted(needs)),
        touches=script.paths if dice.random() < 0.7 else (),
        uses=tuple(sorted(dice.sample(["database", "port"], dice.choice([0, 0, 0, 1, 2])))),
        done_when=(f"done {name}",),
        verify=(SUITE, LINT),
        priority=dice.choice([0, 2, 2, 2, 4]),
        estimate_seconds=script.seconds,
        timeout_seconds=TIMEOUT_SECONDS,
        idle_seconds=TIMEOUT_SECONDS / 2,
        check_seconds=TIMEOUT_SECONDS,
        retries=dice.choice([1, 3, 3]),
        exclusive=("src/**",) if hard == "exclusive" else (),
        shared=("src/**",) if hard == "shared" else (),
        lease_seconds=dice.choice([0.0, 0.0, 0.0, 40.0]),
    )
