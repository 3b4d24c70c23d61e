"""What an agent may edit in addition (D3, K4): yes unless somebody holds it alone, and then others see it."""

from interlock.events import facts as f
from interlock.events.snapshot import pack, unpack
from interlock.model.reason import Reason, Why, said
from interlock.model.task import TaskId
from tests.schedule.test_board import Floor, task

A, B = map(TaskId, "ab")


def ask(floor: Floor, name: TaskId, *paths: str) -> None:
    now = floor.journal.task(name)
    floor.tell(f.ScopeRequested(name, now.attempt, now.phase.name, now.epoch, paths, "it needs it"))


def answer(floor: Floor, name: TaskId) -> f.ScopeAnswered:
    step = floor.board.answer(name, floor.journal.task(name).talk.requests[-1])
    fact = f.ScopeAnswered(name, step.attempt, step.paths, step.granted, step.why, step.request)
    floor.tell(fact)
    return fact


def test_what_nobody_holds_is_granted_and_is_then_in_the_way_of_others() -> None:
    floor = Floor(task("a", touches=("x.py",)), task("b", touches=("notes.md",)), task("c"))
    floor.start("a")
    assert floor.choice(2) == ["b", "c"]
    ask(floor, A, "notes.md")
    told = answer(floor, A)
    assert (told.granted, told.why) == (True, Reason(Why.SCOPE_FREE))
    assert floor.journal.task("a").session.scope == ("notes.md",)
    assert floor.choice(1) == ["c"]


def test_what_another_task_holds_alone_is_refused_by_name() -> None:
    floor = Floor(task("a"), task("b", exclusive=("db/**",)))
    floor.start("a", "b")
    ask(floor, A, "fine.py", "db/schema.sql")
    told = answer(floor, A)
    assert not told.granted
    assert told.why == Reason(Why.SCOPE_HELD, {"tasks": (B,), "path": "db/schema.sql"})
    assert floor.journal.task("a").session.scope == ()


def test_once_the_change_of_the_other_has_landed_the_same_request_is_granted() -> None:
    floor = Floor(task("a"), task("b", exclusive=("db/**",)))
    floor.start("a", "b")
    ask(floor, A, "db/schema.sql")
    assert not answer(floor, A).granted
    floor.land("b")
    ask(floor, A, "db/schema.sql")
    assert answer(floor, A).granted


def test_what_another_is_expected_to_edit_is_granted() -> None:
    floor = Floor(task("a"), task("b", touches=("src/**",)))
    floor.start("a", "b")
    ask(floor, A, "src/x.py")
    told = answer(floor, A)
    assert (told.granted, told.why) == (True, Reason(Why.SCOPE_SHARED, {"tasks": (B,)}))


def test_a_task_that_wants_alone_what_was_granted_waits_until_it_has_landed() -> None:
    floor = Floor(task("a"), task("b", exclusive=("notes.md",)))
    floor.start("a")
    ask(floor, A, "notes.md")
    answer(floor, A)
    assert floor.choice() == []
    floor.land("a")
    assert floor.choice() == ["b"]


def test_the_next_attempt_holds_only_what_it_asks_for_itself_but_is_told() -> None:
    floor = Floor(task("a"))
    floor.start("a")
    ask(floor, A, "notes.md")
    answer(floor, A)
    now = floor.journal.task("a")
    floor.tell(f.PhaseLost(A, now.attempt, now.phase.name, now.epoch, said("gone")))
    floor.start("a")
    assert now.session.scope == ()
    assert [(asked.paths, asked.granted) for asked in now.talk.requests] == [(("notes.md",), True)]


def test_late_requests_and_second_answers_change_nothing() -> None:
    floor = Floor(task("a"), task("b"))
    floor.start("a")
    floor.tell(f.ScopeRequested(A, 7, "implement", 1, ("late.py",)))
    floor.tell(f.ScopeRequested(B, 1, "implement", 1, ("never started.py",)))
    assert (floor.journal.task("a").talk.requests, floor.journal.task("b").talk.requests) == ([], [])
    ask(floor, A, "x.py")
    first = answer(floor, A)
    floor.tell(f.ScopeAnswered(A, 1, first.paths, False, said("no after all"), first.request))
    assert [(asked.granted, asked.answer) for asked in floor.journal.task("a").talk.requests] == [
        (True, first.why)
    ]


def test_requests_survive_a_snapshot() -> None:
    floor = Floor(task("a"))
    floor.start("a")
    ask(floor, A, "x.py")
    answer(floor, A)
    state = floor.journal.state
    restored = unpack(pack(state), state.hash)
    assert restored is not None
    assert restored.tasks[A].talk.requests == state.tasks[A].talk.requests != []
