"""The choice of builds: what is tested on top of what, in which order, and what is stopped (D1)."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.drain import after_landing
from interlock.model.globs import matches
from interlock.model.task import TaskId
from interlock.train.speculation import (
    Stack,
    Waiting,
    chance,
    choose_builds,
    matters,
    may_go_first,
)

WINDOW = 20
Found = TypeVar("Found")


def change(name: str, passes: float = 0.9, area: str = "", *, steers: bool = False) -> Waiting:
    """A change of a file of its own; with an area, its checks read nothing else."""
    path = f"{area}/{name}" if area else name
    return Waiting(TaskId(name), passes, frozenset({path}), (f"{area}/**",) if area else None, steers)


def stack(*names: str) -> Stack:
    """The last of them, on top of the others."""
    *ahead, task = map(TaskId, names)
    return Stack(task, tuple(ahead))


def started(
    queue: Sequence[Waiting],
    known: dict[Stack, bool] | None = None,
    slots: int = 8,
    running: Collection[Stack] = (),
) -> list[Stack]:
    return list(choose_builds(queue, known or {}, running, slots, WINDOW).start)


A, B, C = change("a"), change("b"), change("c")


def test_each_change_is_built_on_top_of_those_that_will_probably_land() -> None:
    assert started([A, B, C], slots=3) == [stack("a"), stack("a", "b"), stack("a", "b", "c")]


def test_a_change_that_will_probably_fail_is_left_out_of_the_builds_behind_it() -> None:
    doubtful = replace(B, passes=0.3)
    assert started([A, doubtful, C], slots=3) == [stack("a"), stack("a", "b"), stack("a", "c")]


def test_with_slots_to_spare_both_ends_of_an_open_question_are_built() -> None:
    assert set(started([replace(A, passes=0.5), B])) == {stack("a"), stack("a", "b"), stack("b")}


def test_a_build_that_is_hardly_ever_needed_does_not_start() -> None:
    assert stack("b") not in started([A, B])


def test_a_build_runs_once() -> None:
    assert started([A, B, C], {stack("a"): True}, running=[stack("a", "b")]) == [stack("a", "b", "c")]


def test_known_results_replace_chances() -> None:
    doubtful = replace(A, passes=0.3)
    assert started([doubtful, B], {stack("a"): True}) == [stack("a", "b")]
    assert started([A, B], {stack("a"): False}) == [stack("b")]


def test_a_result_on_top_of_others_counts_only_there() -> None:
    # b is red on top of a, so c comes without b where a lands, and with it where a does not.
    half = replace(A, passes=0.5)
    known = {stack("a", "b"): False}
    assert set(started([half, B, C], known)) == {stack("a"), stack("b"), stack("a", "c"), stack("b", "c")}


def test_changes_in_different_areas_are_each_built_on_main() -> None:
    queue = [change("a", area="x"), change("b", area="y"), change("c", area="x")]
    assert started(queue) == [stack("a"), stack("b"), stack("a", "c")]


def test_the_surest_build_comes_first_then_the_earlier_change() -> None:
    queue = [change("a", 0.5, "x"), change("b", 0.5, "x"), change("c", 0.5, "y"), change("d", 0.5, "z")]
    assert started(queue, slots=3) == [stack("a"), stack("c"), stack("d")]


def test_a_build_that_many_wait_for_comes_before_one_that_few_wait_for() -> None:
    queue = [change(name, 0.95, "x") for name in "abcde"] + [change("f", area="y")]
    assert started(queue, slots=3) == [stack("a"), stack("a", "b"), stack("a", "b", "c")]


def test_the_first_change_of_the_train_is_built_first() -> None:
    queue = [change("f", area="y"), *(change(name, 0.95, "x") for name in "abcde")]
    assert started(queue, slots=1) == [stack("f")]


def test_nothing_is_built_on_top_of_a_change_that_edits_how_checks_run() -> None:
    assert started([change("a", steers=True), B]) == [stack("a")]
    assert stack("b") in started([change("a", 0.5, steers=True), B])


def test_a_change_with_too_many_before_it_that_matter_waits() -> None:
    queue = [A, B, C, change("x1", area="x")]
    assert choose_builds(queue, {}, (), 8, window=2).start == (stack("a"), stack("a", "b"))
    beside = [change("x1", area="x"), change("y1", area="y"), change("z1", area="z")]
    assert len(choose_builds(beside, {}, (), 8, window=1).start) == 3


def test_running_builds_that_are_still_needed_keep_their_slots() -> None:
    half = replace(A, passes=0.5)
    choice = choose_builds([half, B, C], {}, [stack("a"), stack("b")], 2, WINDOW)
    assert (choice.start, choice.stop) == ((), ())


def test_a_build_that_is_hardly_needed_any_more_gives_its_slot_to_a_far_better_one() -> None:
    doubtful = replace(A, passes=0.2)
    running = [stack("a"), stack("a", "b")]
    choice = choose_builds([doubtful, B], {}, running, 2, WINDOW)
    assert (choice.start, choice.stop) == ((stack("b"),), (stack("a", "b"),))
    assert choose_builds([doubtful, B], {}, running, 3, WINDOW).stop == ()


def test_a_running_build_is_not_stopped_for_a_slightly_better_one() -> None:
    running = [stack("a"), stack("a", "b")]
    assert choose_builds([replace(A, passes=0.45), B], {}, running, 2, WINDOW).stop == ()


@pytest.mark.parametrize(
    ("queue", "known"),
    [
        ([B], {}),
        ([A, B], {stack("a"): False}),
    ],
)
def test_a_build_on_top_of_a_change_that_does_not_land_is_stopped(
    queue: list[Waiting], known: dict[Stack, bool]
) -> None:
    choice = choose_builds(queue, known, [stack("a", "b")], 1, WINDOW)
    assert (choice.start, choice.stop) == ((stack("b"),), (stack("a", "b"),))


def test_a_build_without_a_change_that_passed_is_stopped() -> None:
    assert choose_builds([A, B], {stack("a"): True}, [stack("b")], 2, WINDOW).stop == (stack("b"),)


def test_a_build_that_this_train_has_no_place_for_is_stopped() -> None:
    elsewhere = change("x1", area="x"), change("y1", area="y")
    assert choose_builds([A], {}, [stack("b")], 2, WINDOW).stop == (stack("b"),)
    assert choose_builds([B, A], {}, [stack("a", "b")], 2, WINDOW).stop == (stack("a", "b"),)
    assert choose_builds(elsewhere, {}, [stack("x1", "y1")], 2, WINDOW).stop == (stack("x1", "y1"),)


def chain(middle: float) -> list[Waiting]:
    """One in area x, one of both areas, one in area y: the first matters to the last only by the second."""
    both = Waiting(TaskId("b"), middle, frozenset({"x/b", "y/b"}), ("x/**", "y/**"))
    return [change("a", area="x"), both, change("c", area="y")]


def test_a_result_on_top_of_a_change_that_does_not_matter_here_counts_if_that_one_will_probably_land() -> (
    None
):
    assert started(chain(0.3), {stack("a", "b"): True}) == [stack("a"), stack("b", "c")]
    assert stack("c") in started(chain(0.3), {stack("b"): True})


def test_a_result_that_may_not_come_to_count_refutes_nothing() -> None:
    assert choose_builds(chain(0.9), {stack("a", "b"): True}, [stack("c")], 8, WINDOW).stop == ()
    assert choose_builds(chain(0.9), {stack("b"): False}, [stack("b", "c")], 2, WINDOW).stop == ()


def test_changes_matter_to_each_other_by_what_their_checks_read_or_by_a_path_of_both() -> None:
    x, y = change("a", area="x"), change("b", area="y")
    library = Waiting(TaskId("l"), 0.9, frozenset({"lib/one"}), ("lib/**",))
    reader = replace(x, reads=("x/**", "lib/**"))
    assert not matters(x, y)
    assert matters(library, reader)
    assert matters(reader, library)
    assert matters(replace(x, reads=()), replace(y, touches=x.touches, reads=()))
    assert matters(x, A)


def test_a_change_goes_first_only_where_none_before_it_matters() -> None:
    x, y, late = change("a", area="x"), change("b", area="y"), change("c", area="x")
    assert may_go_first(y, [x])
    assert not may_go_first(late, [x, y])


def test_the_chance_to_pass_moves_from_a_guess_over_all_work_to_the_category() -> None:
    assert chance(0, 0, 0, 0) == pytest.approx(0.9)
    assert chance(0, 0, 50, 50) == pytest.approx(0.5, abs=0.02)
    assert chance(1000, 0, 50, 50) > 0.99


# ---------------------------------------------------------------- any train


@st.composite
def trains(draw: st.DrawFn) -> list[Waiting]:
    """Changes in two areas, of a library that both read, of texts that no check reads, and others."""
    kinds = st.sampled_from(["x", "y", "lib", "docs", ""])
    queue = []
    for at in range(draw(st.integers(1, 9))):
        area, passes = draw(kinds), draw(st.floats(0, 1))
        paths = frozenset({f"{area}/{draw(st.integers(0, 3))}", f"{area}/own{at}"})
        reads = {"": None, "lib": ("x/**", "y/**", "lib/**"), "docs": ()}.get(area, (f"{area}/**", "lib/**"))
        queue.append(Waiting(TaskId(f"t{at}"), passes, paths, reads, draw(st.integers(0, 9)) == 0))
    return queue


class Train:
    """A train whose builds end in any order and in any way, and the builds that ran for it."""

    def __init__(self, queue: list[Waiting]) -> None:
        self.queue = list(queue)
        self.changes = {each.task: each for each in queue}
        self.known: dict[Stack, bool] = {}
        self.running: dict[Stack, frozenset[TaskId]] = {}
        """With all changes in the tree that is tested."""
        self.main: frozenset[TaskId] = frozenset()
        self.tested: dict[TaskId, list[frozenset[TaskId]]] = {name: [] for name in self.changes}

    def end(self, build: Stack, *, green: bool) -> None:
        tree = self.running.pop(build)
        self.known[build] = green
        if green:
            self.tested[build.task].append(tree)
        while any(self._judge(at) for at in range(len(self.queue))):
            pass

    def _judge(self, at: int) -> bool:
        change = self.queue[at]
        green = self.known.get(Stack(change.task))
        if green is None or not may_go_first(change, self.queue[:at]):
            return False
        self.queue.pop(at)
        if green:
            self._land(change)
        return True

    def _land(self, landed: Waiting) -> None:
        self.main |= {landed.task}
        assert self.seen_by(landed, self.main) in [
            self.seen_by(landed, tree) for tree in self.tested[landed.task]
        ], "nothing lands that was not tested in effect"
        self.known = dict(self._after(self.known, landed))
        self.running = dict(self._after(self.running, landed))

    def _after(self, stacks: dict[Stack, Found], landed: Waiting) -> list[tuple[Stack, Found]]:
        return [
            (now, found)
            for each, found in stacks.items()
            if each.task != landed.task and (now := after_landing(each, self.changes[each.task], landed))
        ]

    def seen_by(self, change: Waiting, tree: frozenset[TaskId]) -> set[TaskId]:
        """The changes in a tree whose files the checks of this one read."""
        if change.reads is None:
            return set(tree)
        return {
            name
            for name in tree
            if any(matches(glob, path) for glob in change.reads for path in self.changes[name].touches)
        }


@given(trains())
def test_every_change_is_built_on_top_of_exactly_those_that_matter_to_it(queue: list[Waiting]) -> None:
    sure = [replace(each, passes=1.0, steers=False) for each in queue]
    for at, each in enumerate(sure):
        ahead = tuple(earlier.task for earlier in sure[:at] if matters(earlier, each))
        assert Stack(each.task, ahead) in started(sure, slots=len(sure))


@given(trains(), st.integers(1, 5), st.integers(1, 4), st.data())
def test_every_train_drains_within_its_slots_and_lands_only_what_was_tested(
    queue: list[Waiting], slots: int, window: int, data: st.DataObject
) -> None:
    train = Train(queue)
    while train.queue:
        choice = choose_builds(train.queue, train.known, train.running.keys(), slots, window)
        assert len(set(choice.start)) == len(choice.start)
        assert not {*choice.start} & ({*train.running} | {*train.known})
        kept = len(train.running) - len(choice.stop)
        for build in choice.stop:
            assert is_refuted(build, train) or len(choice.start) >= slots - kept
            del train.running[build]
        for build in choice.start:
            train.running[build] = train.main | {*build.ahead, build.task}
        assert 0 < len(train.running) <= slots, "a train with work left builds something"
        ended = data.draw(st.sampled_from(sorted(train.running, key=str)))
        train.end(ended, green=data.draw(st.booleans()))


def is_refuted(build: Stack, train: Train) -> bool:
    """Tell by the results alone if a build assumes something else than what happened."""
    left = {each.task: at for at, each in enumerate(train.queue)}
    if build.task not in left or not left.keys() >= {*build.ahead}:
        return True
    change = train.changes[build.task]
    before = [each for each in train.queue[: left[build.task]] if matters(each, change)]
    for other in before:
        earlier = train.queue[: left[other.task]]
        ahead = tuple(each.task for each in earlier if matters(each, other) and each.task in build.ahead)
        green = train.known.get(Stack(other.task, ahead))
        if green is not None and green != (other.task in build.ahead):
            return True
    return False
