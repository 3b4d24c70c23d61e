"""As many agents at once as the clutch gives each kind of work (K1, K3)."""

from interlock.events import facts as f
from interlock.model.reason import Why, said
from interlock.model.task import Agent, Task, TaskId, Tree
from interlock.ui.words.reasons import reason_text
from tests.schedule.test_board import Floor, task


def limit(category: str, places: int, why: str = "two conflicts") -> f.ClutchDecided:
    return f.ClutchDecided(places, "goodput", said(why), category)


def pages(*names: str) -> Floor:
    return Floor(*(task(name, category="docs") for name in names), task("z", category="backend"), slots=9)


def test_a_kind_of_work_gets_as_many_agents_as_the_clutch_allows_and_others_are_not_held_up() -> None:
    floor = pages("a", "b", "c")
    floor.tell(limit("docs", 2))
    assert floor.choice(9) == floor.choice(9) == ["a", "b", "z"]


def test_without_a_word_of_the_clutch_there_is_no_limit() -> None:
    assert pages("a", "b", "c").choice(9) == ["a", "b", "c", "z"]


def test_whoever_leaves_first_makes_room_as_soon_as_its_agent_is_gone() -> None:
    floor = pages("a", "b", "c")
    floor.tell(limit("docs", 2))
    floor.start("a", "b")
    assert floor.choice(9) == ["z"]
    floor.carry_on("b")
    assert floor.choice(9) == ["c", "z"]


def test_a_limit_that_rises_opens_the_line_and_one_that_falls_ends_nobody() -> None:
    floor = pages("a", "b", "c", "d")
    floor.tell(limit("docs", 1))
    floor.start("a")
    assert floor.choice(9) == ["z"]
    floor.tell(limit("docs", 3))
    assert floor.choice(9) == ["b", "c", "z"]
    floor.start("b", "c")
    floor.tell(limit("docs", 1))
    assert floor.choice(9) == ["z"]


def test_a_kind_of_work_without_any_place_does_not_start_at_all() -> None:
    floor = pages("a")
    floor.tell(limit("docs", 0))
    assert floor.choice(9) == ["z"]


def test_the_reason_names_the_brake_and_who_works() -> None:
    """K6, D9."""
    floor = pages("a", "b", "c")
    floor.tell(limit("docs", 2))
    floor.start("a", "b")
    reason = floor.board.reason(TaskId("c"), floor.journal.time)
    assert reason.code == Why.CLUTCH
    assert (
        reason_text(reason)
        == "2 agents work on docs, which is what the clutch allows now (goodput: two conflicts)"
    )
    assert reason.tasks == ("a", "b")


def test_a_task_that_nobody_put_into_a_category_is_counted_too() -> None:
    floor = Floor(task("a"), task("b"))
    floor.tell(limit("other", 1))
    assert floor.choice() == ["a"]


def test_places_are_not_kept_free_for_a_task_that_waits_for_a_lease() -> None:
    """Rule 4 of the board is about leases: a place that lies idle would help nobody."""
    floor = Floor(
        task("a", category="docs", uses=("db",)),
        task("b", category="docs", uses=("db",), priority=0),
        task("c", category="docs"),
    )
    floor.tell(limit("docs", 2))
    floor.start("a")
    floor.tell(f.MainSeen("main", floor.journal.state.main.commit, Tree("")), after=10_000)
    assert floor.choice() == ["c"]


MODEL = Agent("local", "built-in", url="http://127.0.0.1:8000/v1", model="small", wire="openai")
SERVER = "127.0.0.1:8000"


def served(*names: str) -> Floor:
    tasks = [Task(TaskId(name), "", MODEL) for name in names]
    return Floor(*tasks, task("z"), slots=9)


def test_a_provider_that_refused_calls_gets_no_more_agents_than_it_has_room_for() -> None:
    """K7."""
    floor = served("a", "b", "c")
    floor.tell(f.ClutchDecided(2, "provider", said("429 three times"), provider=SERVER))
    assert floor.choice(9) == ["a", "b", "z"]
    floor.start("a", "b")
    assert floor.choice(9) == ["z"]
    text = reason_text(floor.board.reason(TaskId("c"), floor.journal.time))
    assert text == (
        f"2 agents work with a model of {SERVER}, which is what the clutch allows now "
        "(provider: 429 three times)"
    )


def test_while_a_provider_is_closed_its_tasks_wait_and_the_loop_knows_until_when() -> None:
    floor = served("a")
    until = floor.journal.time + 60
    floor.tell(f.ClutchDecided(0, "provider", said("quota until noon"), provider=SERVER, until=until))
    assert floor.choice(9) == ["z"]
    reason = floor.board.reason(TaskId("a"), floor.journal.time)
    assert (reason.code, reason.until) == (Why.PROVIDER_CLOSED, until)
    assert reason_text(reason) == f"{SERVER} takes nothing for now: quota until noon"
    assert floor.board.next_wakeup(floor.journal.time) == until
    assert [choice.task for choice in floor.board.choose(9, until)] == ["a", "z"]


def test_a_closed_provider_that_nobody_waits_for_keeps_no_run_alive() -> None:
    floor = served("a")
    floor.tell(f.ClutchDecided(0, "provider", said("quota"), provider=SERVER, until=floor.journal.time + 60))
    assert floor.choice(9) == ["z"]
    floor.tell(f.TaskCancelled(TaskId("a")))
    assert floor.board.next_wakeup(floor.journal.time) is None


def test_a_task_with_agents_of_two_providers_waits_only_if_both_are_closed() -> None:
    """A7: and no attempt has to find out that both are."""
    one, two = (
        Agent(name, "built-in", url=f"http://127.0.0.1:{port}") for name, port in (("x", 1), ("y", 2))
    )
    floor = Floor(Task(TaskId("a"), "do a", one, agents=(one, two)), slots=9)
    now = floor.journal.time
    closed = [
        f.ClutchDecided(
            0, "provider", said("connection refused"), provider=f"127.0.0.1:{port}", until=now + 100 * port
        )
        for port in (1, 2)
    ]
    floor.tell(closed[0])
    assert floor.choice(9) == ["a"]
    floor.tell(closed[1])
    assert floor.choice(9) == []
    reason = floor.board.reason(TaskId("a"), now)
    assert reason_text(reason) == "127.0.0.1:1 and 127.0.0.1:2 take nothing for now: connection refused"
    assert floor.board.next_wakeup(now) == now + 100


def test_a_provider_that_stays_closed_for_longer_is_not_decided_about_again() -> None:
    floor = served("a")
    until = floor.journal.time + 60
    floor.tell(f.ClutchDecided(0, "provider", said("connection refused"), provider=SERVER, until=until))
    floor.tell(f.ProviderBraked(SERVER, 1, said("connection refused"), until + 60))
    assert floor.choice(9) == ["z"]
    assert floor.board.next_wakeup(floor.journal.time) == until + 60
