"""How well the forecast of a footprint does on git histories: what a change will touch, and which two meet.

The first part of a history teaches and the rest is judged. Each later commit stands for a task whose plan
names only a part of what the commit touched: the folder in which most of it lies, or its rarer half of files
(people name what is special about a task, and forget what every task touches).
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname

from bench.past import own_history
from bench.table import Row
from interlock.events.state import State, TaskState
from interlock.learn.footprints import Footprints
from interlock.model.forecast import Chance, Forecast
from interlock.model.globs import matches, overlap
from interlock.model.history import Change, Past
from interlock.model.task import Agent, Commit, Task, TaskId
from interlock.schedule.footprint import shared_paths

TITLE = "footprint: what later commits touch, forecast from the earlier ones"
TAUGHT = 0.7
EXPECTED = 0.3
TO_BEAT = 0.71
JUDGED_MOST = 120
TASK_FILES_MOST = 20
"""A commit of more files moves or reformats them, and is no task that could be foreseen."""
MEET = 0.1
"""The P(conflict) from which on two tasks are said to meet: near the best for generated history 0, not
among those that are judged."""
NOBODY = Agent("a", "command", ("true",))

Declare = Callable[[Change, Counter[str]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A later commit, what a plan would say of it, and what we forecast."""

    touched: frozenset[str]
    declared: tuple[str, ...]
    task: TaskState

    def expects(self, path: str) -> bool:
        forecast = self.task.forecast
        likely = forecast.footprint if forecast else ()
        return any(matches(one.path, path) for one in likely if one.probability >= EXPECTED)

    def declares(self, path: str) -> bool:
        return any(matches(glob, path) for glob in self.declared)


def measure(*, short: bool) -> list[Row]:
    """Generated histories with known habits, and this project's own."""
    rows: list[Row] = []
    size = 250 if short else 800
    histories = {f"generated {seed}": generated(seed, size) for seed in ((1,) if short else (1, 2, 3))}
    own = own_history(Path(__file__).resolve().parent)
    if own:
        histories["own"] = own
    for name, changes in histories.items():
        for label, declare in (("folder named", by_folder), ("rare files named", by_rare_files)):
            rows += judge(f"{name}, {label}", changes, declare)
    return rows


def generated(seed: int, size: int) -> tuple[Change, ...]:
    """Modules with tests, a changelog, a registry for some, a neighbour for others, noise, reformattings."""
    dice = random.Random(seed)
    return tuple(Change(Commit(str(at)), tuple(sorted(_edits(dice)))) for at in range(size))


def _edits(dice: random.Random) -> Iterator[str]:
    module = dice.randrange(12)
    if dice.random() < 0.02:
        yield from {f"src/m{dice.randrange(12)}/f{dice.randrange(6)}.py" for _ in range(40)}
        return
    yield from {
        f"src/m{module}/f{min(5, int(dice.expovariate(0.8)))}.py" for _ in range(1 + dice.randrange(3))
    }
    if dice.random() < 0.8:
        yield f"tests/test_m{module}.py"
    if dice.random() < 0.15:
        yield "CHANGELOG.md"
    if module % 3 == 0 and dice.random() < 0.7:
        yield "src/registry.py"
    if module % 4 == 1 and dice.random() < 0.5:
        yield f"src/shared/g{module}.py"
    if dice.random() < 0.1:
        yield f"other/n{dice.randrange(40)}.py"


def by_folder(change: Change, _usual: Counter[str]) -> tuple[str, ...]:
    """The folder in which most of it lies."""
    folders = Counter(map(dirname, change.paths))
    folder = max(sorted(folders), key=lambda name: (folders[name], name.count("/")))
    return (f"{folder}/**" if folder else "*",)


def by_rare_files(change: Change, usual: Counter[str]) -> tuple[str, ...]:
    """The half of its files that are edited least often."""
    rare = sorted(change.paths, key=lambda path: (usual[path], path))
    return tuple(rare[: (len(rare) + 1) // 2])


def judge(name: str, changes: Sequence[Change], declare: Declare) -> list[Row]:
    cut = int(len(changes) * TAUGHT)
    later = foreseen(changes[:cut], changes[cut:], declare)
    files = sum(len(one.touched) for one in later)
    without = sum(one.declares(path) for one in later for path in one.touched) / files
    with_companions = (
        sum(one.declares(path) or one.expects(path) for one in later for path in one.touched) / files
    )
    declared = f1(later, lambda a, b: any(overlap(x, y) for x in a.declared for y in b.declared))
    ours = f1(later, lambda a, b: shared_paths(a.task, b.task) >= 2 * MEET)
    said, was = calibration(later)
    return [
        Row(f"{name}: recall, declared only", without, ""),
        Row(
            f"{name}: recall with companions", with_companions, "", with_companions / without, "declared only"
        ),
        Row(f"{name}: companions, forecast probability", said, ""),
        Row(f"{name}: companions, share really edited", was, ""),
        Row(f"{name}: F1 of pairs that meet, declared only", declared, ""),
        Row(f"{name}: F1 of pairs that meet, forecast", ours, "", TO_BEAT / ours, "0.71 / ours", 1.0),
    ]


def foreseen(earlier: Sequence[Change], later: Sequence[Change], declare: Declare) -> list[Judged]:
    usual = Counter(path for change in earlier for path in change.paths)
    forecasts = Footprints(Past(tuple(earlier)), State())
    found = []
    tasks = [change for change in later if len(change.paths) <= TASK_FILES_MOST]
    for change in tasks[:JUDGED_MOST]:
        declared = declare(change, usual)
        task = TaskState(Task(TaskId(change.commit[:20]), "", NOBODY, touches=declared))
        task.forecast = Forecast("other", "", "a", 600, 900, 0.5, footprint=forecasts.of(task))
        found.append(Judged(frozenset(change.paths), declared, task))
    return found


def calibration(later: Sequence[Judged]) -> tuple[float, float]:
    """Of all companions that were forecast: the mean probability, and how many were edited."""
    pairs = [(one, chance) for one in later for chance in companions(one)]
    count = len(pairs) or 1
    return (
        sum(chance.probability for _, chance in pairs) / count,
        sum(chance.path in one.touched for one, chance in pairs) / count,
    )


def companions(one: Judged) -> list[Chance]:
    forecast = one.task.forecast
    return [chance for chance in forecast.footprint if chance.source == "companion"] if forecast else []


def f1(judged: Sequence[Judged], meet: Callable[[Judged, Judged], bool]) -> float:
    """Of all pairs of later commits: two meet if they touched the same file."""
    return _f1((meet(a, b), bool(a.touched & b.touched)) for at, a in enumerate(judged) for b in judged[:at])


def _f1(pairs: Iterator[tuple[bool, bool]]) -> float:
    right = wrong = 0
    for said, met in pairs:
        right += said and met
        wrong += said != met
    return 2 * right / (2 * right + wrong) if right else 0.0
