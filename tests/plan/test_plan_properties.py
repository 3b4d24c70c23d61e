"""What holds for any graph (MISSION W3, W4, T2; SAFETY B10)."""

from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bench.graphs import big_graph
from interlock.model.globs import overlap
from interlock.model.task import Agent, Task, TaskId
from interlock.plan import Analysis, GraphProblems, Standing, analyse, parse
from interlock.plan.conflicts import Clash
from interlock.plan.glob_index import GlobIndex
from interlock.ui.words.reasons import reason_text

pytestmark = [pytest.mark.property, pytest.mark.slow]

BOT = Agent("bot", "command", ("bot",))
GLOBS = (
    "src/**",
    "src/a/*.py",
    "src/a/b.py",
    "src/b/**",
    "**/b.py",
    "docs/",
    "docs/x.md",
    "*.md",
    "lib/[ab]/c",
)
HEAD = "version: 1\nagents: {bot: {use: command, run: [bot]}}\ndefaults: {agent: bot}\n"

globs = st.lists(st.sampled_from(GLOBS), max_size=2).map(tuple)


@st.composite
def plans(draw: st.DrawFn) -> tuple[Task, ...]:
    """Tasks in any order, each needing only some of those drawn before it."""
    tasks: list[Task] = []
    for number in range(draw(st.integers(0, 12))):
        known = [task.id for task in tasks]
        needs = draw(st.lists(st.sampled_from(known), max_size=3, unique=True)) if known else []
        tasks.append(
            Task(
                TaskId(f"t{number}"),
                draw(st.sampled_from(("Add it", "no", "a: b", "12", "- x", "ü", "'quoted' \"twice\""))),
                BOT,
                tuple(needs),
                touches=draw(globs),
                exclusive=draw(globs) if draw(st.booleans()) else (),
                shared=draw(globs) if draw(st.booleans()) else (),
                uses=draw(st.lists(st.sampled_from(("db", "port:web")), max_size=2, unique=True).map(tuple)),
                priority=draw(st.integers(0, 4)),
                estimate_seconds=float(draw(st.integers(1, 100))),
                has_estimate=True,
            )
        )
    return tuple(draw(st.permutations(tasks)))


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def written(tasks: tuple[Task, ...]) -> str:
    """The tasks as the text of a graph."""
    lines = [HEAD + ("tasks:" if tasks else "tasks: {}")]
    for task in tasks:
        lines += [f"  {task.id}:", f"    goal: {quoted(task.goal)}", f"    priority: {task.priority}"]
        lines.append(f"    estimate: {task.estimate_seconds:g}s")
        for field in ("needs", "touches", "exclusive", "shared", "uses"):
            if names := getattr(task, field):
                lines.append(f"    {field}: [{', '.join(map(quoted, names))}]")
    return "\n".join(lines)


def unique(task: Task) -> Task:
    fields = {name: tuple(dict.fromkeys(getattr(task, name))) for name in ("touches", "exclusive", "shared")}
    return Task(**{name: getattr(task, name) for name in Task.__dataclass_fields__} | fields)


@given(plans())
def test_a_written_graph_reads_as_the_tasks_it_was_written_from(tasks: tuple[Task, ...]) -> None:
    assert parse(written(tasks), "g").tasks == tuple(map(unique, tasks))


def exclude_each_other(a: Task, b: Task) -> bool:
    """May these two never run at once: the rule, said the slow way."""
    every_a, every_b = (*a.touches, *a.exclusive, *a.shared), (*b.touches, *b.exclusive, *b.shared)
    return (
        not set(a.uses).isdisjoint(b.uses)
        or any(overlap(x, y) for x in a.exclusive for y in every_b)
        or any(overlap(x, y) for x in every_a for y in b.exclusive)
    )


def needed(tasks: tuple[Task, ...], id: TaskId) -> set[TaskId]:
    by_id = {task.id: task for task in tasks}
    return {need for direct in by_id[id].needs for need in ({direct} | needed(tasks, direct))}


@given(plans(), st.integers(1, 5))
def test_waves_keep_needs_leases_and_the_limit(tasks: tuple[Task, ...], slots: int) -> None:
    found = analyse(tasks, slots)
    wave_of = {id: number for number, wave in enumerate(found.waves) for id in wave}
    assert wave_of.keys() == {task.id for task in tasks}
    assert all(1 <= len(wave) <= slots for wave in found.waves)
    assert all(wave_of[need] < wave_of[task.id] for task in tasks for need in task.needs)
    for a, b in combinations(tasks, 2):
        assert wave_of[a.id] != wave_of[b.id] or not exclude_each_other(a, b)


@given(plans(), st.integers(1, 5))
def test_no_schedule_beats_the_lower_bound_and_none_is_worse_than_one_by_one(
    tasks: tuple[Task, ...], slots: int
) -> None:
    found = analyse(tasks, slots)
    assert found.lower_bound_seconds <= found.makespan_seconds + 1e-6
    assert found.makespan_seconds <= found.work_seconds
    assert found.critical_seconds == sum(
        task.estimate_seconds for task in tasks if task.id in found.critical_path
    )


@given(plans())
def test_every_conflict_is_found_once_and_none_is_made_up(tasks: tuple[Task, ...]) -> None:
    found = {frozenset((one.first, one.second)): one.severity for one in analyse(tasks, 2).conflicts.listed}
    for a, b in combinations(tasks, 2):
        ordered = a.id in needed(tasks, b.id) or b.id in needed(tasks, a.id)
        soft = any(overlap(x, y) for x in a.touches for y in (*b.touches, *b.shared))
        soft = soft or any(overlap(x, y) for x in a.shared for y in b.touches)
        expected = Clash.HARD if exclude_each_other(a, b) else Clash.SOFT if soft else None
        assert found.get(frozenset((a.id, b.id))) == (None if ordered else expected)


def accounted(found: Analysis) -> list[TaskId]:
    return [*(id for wave in found.waves for id in wave), *found.unscheduled]


@given(plans(), st.data())
def test_every_task_is_done_in_a_wave_or_unscheduled_with_a_reason(
    tasks: tuple[Task, ...], data: st.DataObject
) -> None:
    some = st.sets(st.sampled_from([task.id for task in tasks])) if tasks else st.just(set[TaskId]())
    done, given_up, chosen = data.draw(some), data.draw(some), data.draw(some | st.none())
    found = analyse(tasks, 2, Standing(done, given_up - done, chosen))
    expected = {task.id for task in tasks if chosen is None or task.id in chosen} - done
    assert sorted(accounted(found)) == sorted(expected)
    assert all(reason_text(reason) for reason in found.unscheduled.values())


@given(st.sets(st.sampled_from((*GLOBS, "**", "a*", "*a", "src", "./src/a/", "src/?/b.py"))))
def test_the_index_finds_the_overlaps_that_comparing_all_finds(some: set[str]) -> None:
    index = GlobIndex(some)
    for glob in some:
        assert sorted(index.near(glob)) == sorted(
            other for other in some if other == glob or overlap(glob, other)
        )


@given(st.binary(max_size=300))
def test_random_bytes_are_refused_and_nothing_else_happens(noise: bytes) -> None:
    for text in (noise, noise.decode("latin-1"), noise.decode(errors="surrogateescape")):
        with pytest.raises(GraphProblems) as refused:
            parse(text, "noise")
        assert all(
            one.line >= 1 and one.col >= 1 and one.message and one.hint for one in refused.value.problems
        )


PIECES = (
    "a",
    ": ",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&x ",
    "*x ",
    "!!y ",
    "'",
    '"',
    "|",
    ">",
    "#",
    "\t",
    "? ",
)
WORDS = (
    "tasks",
    "agents",
    "goal",
    "needs",
    "version: 1\n",
    "defaults",
    "run",
    "null",
    "1e999",
    ".nan",
    "---\n",
    "<<",
)


@given(st.lists(st.sampled_from(PIECES + WORDS), max_size=40).map("".join))
def test_broken_yaml_is_refused_and_nothing_else_happens(text: str) -> None:
    for whole in (text, f"{HEAD}tasks:\n{text}", f"{HEAD}tasks: {{a: {{{text}}}}}"):
        try:
            parse(whole, "noise", files=["a"])
        except GraphProblems as refused:
            assert all(one.line >= 1 and one.col >= 1 and one.hint for one in refused.problems)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS[:4]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    json, st.sampled_from(("goal", "needs", "timeout", "priority", "retries", "verify", "agent", "labels"))
)
def test_any_value_in_any_field_is_taken_or_refused_in_its_place(value: object, field: str) -> None:
    text = f"{HEAD}tasks:\n  a:\n    {field}: {as_yaml(value)}\n"
    assume(len(text) < 2000)
    try:
        parse(text, "g")
    except GraphProblems as refused:
        assert all(one.line >= 5 for one in refused.problems)


def as_yaml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {as_yaml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_yaml, value)) + "]"
    if isinstance(value, float):
        return str(value).replace("inf", ".inf").replace("nan", ".nan")
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(char):08x}" for char in value) + '"'
    return "null" if value is None else str(value).lower()


@given(st.integers(1, 60), st.integers(0, 200), st.integers(0, 5))
def test_the_generated_graphs_of_the_benchmark_are_accepted(tasks: int, edges: int, seed: int) -> None:
    graph = parse(big_graph(tasks, edges, seed), "big")
    assert len(graph.tasks) == tasks
    assert sum(len(task.needs) for task in graph.tasks) == min(edges, tasks * (tasks - 1) // 2)
    assert graph == parse(big_graph(tasks, edges, seed), "big")
