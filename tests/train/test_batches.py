"""Batches of changes where slots are scarce (D1)."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.task import TaskId
from interlock.train.batches import choose_batches
from interlock.train.speculation import Choice, Stack, Waiting


def waiting(names: str, passes: float = 0.98, reads: tuple[str, ...] | None = None) -> list[Waiting]:
    return [Waiting(TaskId(name), passes, frozenset({name}), reads) for name in names]


def stack(names: str) -> Stack:
    return Stack(TaskId(names[-1]), tuple(map(TaskId, names[:-1])))


def chosen(
    queue: Sequence[Waiting],
    known: Mapping[str, bool] | None = None,
    running: Mapping[str, int] | None = None,
    alone: str = "",
    size: int = 3,
) -> Choice:
    """`known`, `running`: changes in their order; a known build of several tested up to `size` as one."""
    known = known or {}
    return choose_batches(
        queue,
        {stack(names): green for names, green in known.items()},
        {stack(names): count for names, count in (running or {}).items()},
        {stack(names): min(size, len(names)) for names in known},
        {each.task for each in queue} - set(map(TaskId, alone)),
        (2, len(queue)),
    )


def starts(choice: Choice) -> dict[str, int]:
    return {"".join((*each.ahead, each.task)): size for each, size in choice.sizes.items()}


def test_rare_failures_and_a_long_queue_make_batches() -> None:
    assert starts(chosen(waiting("abcdef"))) == {"abc": 3, "abcdef": 3}


def test_frequent_failures_or_a_short_queue_make_none() -> None:
    assert starts(chosen(waiting("abcdef", passes=0.8))) == {"a": 1, "ab": 1}
    assert starts(chosen(waiting("abc"))) == {"a": 1, "ab": 1}


def test_a_running_batch_stays_one_while_others_come() -> None:
    choice = chosen(waiting("abcdefghi"), running={"abc": 3})
    assert not choice.stop
    assert next(iter(starts(choice))).startswith("abc")


def test_a_red_batch_is_halved_and_only_a_beginning_lands() -> None:
    """D1: the first half is tested next; of what is left after its landing, again the first half."""
    assert starts(chosen(waiting("abcd"), {"abcd": False}, size=4))["ab"] == 2
    assert "c" in starts(chosen(waiting("cd"), {"cd": False}, size=4))
    assert "a" in starts(chosen(waiting("abcd"), {"abcd": False, "ab": False}, size=4))


def test_a_build_of_one_change_on_others_is_no_batch() -> None:
    queue = waiting("abcd")
    choice = choose_batches(
        queue, {stack("ab"): False}, {}, {stack("ab"): 1}, {each.task for each in queue}, (2, 4)
    )
    assert "a" in starts(choice)


def test_a_change_that_lands_alone_is_in_no_batch() -> None:
    found = starts(chosen(waiting("abcdef"), alone="c"))
    assert all(count == 1 or "c" not in names[-count:] for names, count in found.items())


def test_changes_of_other_areas_are_batches_of_their_own() -> None:
    queue = waiting("abc", reads=("x/**",)) + waiting("def", reads=("y/**",))
    queue = [
        Waiting(e.task, e.passes, frozenset({f"{(e.reads or [''])[0][0]}/{e.task}"}), e.reads) for e in queue
    ]
    assert starts(chosen(queue)) == {"abc": 3, "def": 3}


@pytest.mark.property
@given(
    st.integers(1, 9),
    st.dictionaries(st.integers(1, 9), st.booleans(), max_size=3),
    st.floats(0.5, 0.999),
    st.integers(0, 9),
)
def test_whatever_is_known_every_batch_is_a_row_of_the_train(
    count: int, ends: dict[int, bool], passes: float, alone: int
) -> None:
    """What is tested as one are changes that follow one another, on top of some before them."""
    names = "abcdefghi"[:count]
    known = {names[:end]: green for end, green in ends.items() if end <= count}
    choice = chosen(waiting(names, passes), known, alone=names[alone : alone + 1])
    for each, size in choice.sizes.items():
        order = [names.index(name) for name in (*each.ahead, each.task)]
        assert order == sorted(order) and each not in map(stack, known)
        assert order[-size:] == list(range(order[-1] - size + 1, order[-1] + 1))
        assert (
            size == 1 or names[alone : alone + 1] not in names[order[-size] : order[-1] + 1] or alone >= count
        )
    assert len(choice.start) <= 2
