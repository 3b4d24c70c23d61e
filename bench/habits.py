"""A project with ten thousand tasks, two thousand commits and a hundred tasks behind it: all that a forecast
looks at, and none of it handy. Every goal is different, and a fifth of the tasks declare nothing."""

import random
from collections.abc import Sequence
from dataclasses import replace

from bench.graphs import AREAS
from bench.table import Row, Watch
from interlock.engine.estimates import estimated
from interlock.events import facts as f
from interlock.events.state import State, TaskState
from interlock.events.task_parts import Work
from interlock.learn.footprints import Footprints
from interlock.model.history import BranchHistory, PastCommit
from interlock.model.task import Commit, Task

COMMITS, DONE, WORDS, GOAL_WORDS, FILES = 2_000, 100, 200, 12, 4


def forecasts(tasks: Sequence[Task]) -> list[Row]:
    """How long all forecasts of a plan take, and how many facts a second start would write."""
    dice = random.Random(1)
    past, state = _past(dice), _state(tasks, dice)
    first, again = Watch(), Watch()
    with first.measure():
        facts = estimated(state, list(state.tasks), Footprints(past))
    for fact in facts:
        if isinstance(fact, f.TaskEstimated):
            state.tasks[fact.task].forecast = fact.forecast
    with again.measure():
        needless = estimated(state, list(state.tasks), Footprints(past))
    return [
        Row(f"{len(tasks):,} tasks: forecast all", first.seconds, "s", target=2.0),
        Row(f"{len(tasks):,} tasks: forecast all, nothing new", again.seconds, "s", target=2.0),
        Row(f"{len(tasks):,} tasks: facts if nothing is new", len(needless), "", target=0),
    ]


def _past(dice: random.Random) -> BranchHistory:
    changes = tuple(PastCommit(Commit(str(at)), _edits(dice)) for at in range(COMMITS))
    tree = {f"a{area}/f{file}.py" for area in range(AREAS) for file in range(FILES)}
    return BranchHistory(changes, frozenset(tree.union(*(change.paths for change in changes))))


def _edits(dice: random.Random) -> tuple[str, ...]:
    area = int(AREAS * dice.random() ** 3)
    paths = {f"a{area}/f{dice.randrange(FILES)}.py" for _ in range(dice.randint(1, 3))}
    paths |= {f"tests/test_a{area}.py"} if dice.random() < 0.8 else set()
    paths |= {"CHANGELOG.md"} if dice.random() < 0.3 else set()
    return tuple(sorted(paths))


def _state(tasks: Sequence[Task], dice: random.Random) -> State:
    state = State()
    for at, task in enumerate(tasks):
        words = " ".join(f"word{dice.randrange(WORDS)}" for _ in range(GOAL_WORDS))
        goal = f"Number {at}: {words} in a{dice.randrange(AREAS)}/f1.py"
        made = TaskState(replace(task, goal=goal, touches=() if at % 5 == 0 else task.touches))
        if at < DONE:
            made.change.work = Work(1, Commit("c"), Commit("b"), _edits(dice), seq=at)
        state.tasks[task.id] = made
    return state
