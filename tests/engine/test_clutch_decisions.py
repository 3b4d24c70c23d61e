"""What the clutch says, and that it says it once (K3, K6), as small stories in a log."""

from interlock.engine.clutch import Clutch
from interlock.engine.host import HostReading, IdleHost
from interlock.engine.options import Options
from interlock.events import facts as f
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why, said
from interlock.model.task import Task, TaskId
from tests.events.journal import AGENT, Journal

AUTO = Options(max_parallel=16, auto=True)


def pages(count: int) -> list[Task]:
    return [Task(TaskId(f"p{number:02}"), "", AGENT, category="docs") for number in range(count)]


class Story:
    """A run that hears the clutch before it starts anybody."""

    def __init__(self, count: int = 40, options: Options = AUTO) -> None:
        self.journal = Journal(*pages(count))
        self.journal.run(options.max_parallel)
        self.options = options
        self.left = [task.id for task in pages(count)]

    def ask(self) -> list[f.ClutchDecided]:
        """A fresh clutch every time: it must remember nothing."""
        said = Clutch(IdleHost(), self.options).ask(self.journal.state, self.journal.time)
        self.journal.tell(*said)
        return said

    def rounds(self, at_once: int, count: int, conflicts: int = 0) -> None:
        """That many at work together, again and again; of each round so many come to a conflict."""
        for _ in range(count):
            together, self.left = self.left[:at_once], self.left[at_once:]
            for name in together:
                self.journal.start(name)
            self.journal.time += 300
            for number, name in enumerate(together):
                self.journal.carry_on(name)
                self.journal.start(name)
                if number < conflicts:
                    self.journal.tell(_conflict(self.journal, name))
                    self.journal.tell(f.TaskCancelled(name))
                else:
                    self.journal.carry_on(name)
                    self.journal.start(name)
                    self.journal.carry_on(name)

    @property
    def limit(self) -> int:
        return self.journal.state.limits.categories["docs"].limit


def _conflict(journal: Journal, name: TaskId) -> f.PhaseFailed:
    task = journal.task(name)
    key = (name, task.attempt, task.phase.name, task.epoch)
    return f.PhaseFailed(*key, error=ErrorClass.CONFLICT, why=said("conflict"))


def test_an_answer_that_did_not_change_is_not_given_again() -> None:
    story = Story()
    assert [(said.limit, said.brake, said.category) for said in story.ask()] == [(1, "cold-start", "docs")]
    assert story.ask() == []


def test_a_kind_of_work_without_tasks_is_not_asked_about() -> None:
    assert Story(count=0).ask() == []


def test_it_opens_step_by_step_while_work_lands_and_closes_on_conflicts() -> None:
    story = Story()
    story.ask()
    for expected in (2, 3, 4):
        story.rounds(story.limit, 2)
        assert [said.limit for said in story.ask()] == [expected]
    story.rounds(4, 3, conflicts=4)
    (told,) = story.ask()
    assert told.limit < 4
    assert told.why and told.why.code == Why.DOES_NOT_PAY
    assert set(told.evidence or ()) == {
        f"landed_per_hour_at_{w}" for w in range(told.limit - 1, told.limit + 2)
    }


def test_landings_of_fewer_agents_than_were_allowed_open_nothing() -> None:
    """Do not grow if the queue did not fill it."""
    story = Story()
    story.ask()
    story.rounds(1, 2)
    story.ask()
    assert story.limit == 2
    story.rounds(1, 6)
    assert story.ask() == []


def test_a_run_with_a_number_of_its_own_lifts_what_was_learned_and_the_next_goes_on_with_it() -> None:
    story = Story()
    story.ask()
    story.options = Options(
        max_parallel=5, limit_why=Reason(Why.MAX_PARALLEL, {"limit": 5, "origin": "--max-parallel"})
    )
    assert [(said.limit, said.brake, said.goodput) for said in story.ask()] == [(5, "max-parallel", 1)]
    assert story.ask() == []
    story.options = AUTO
    assert [(said.limit, said.why) for said in story.ask()] == [(1, Reason(Why.AS_LEARNED))]


def test_a_closed_provider_gives_no_places_until_it_opens_and_then_as_many_as_it_takes() -> None:
    story = Story()
    story.ask()
    until = story.journal.time + 100
    story.journal.tell(f.ProviderBraked("api.example.org KEY", 2.0, said("429"), until, 9, 3))
    (closed,) = story.ask()
    assert (closed.limit, closed.until, closed.provider) == (0, until, "api.example.org KEY")
    assert story.ask() == []
    story.journal.time = until
    (opened,) = story.ask()
    assert (opened.limit, opened.until, opened.brake) == (3, 0.0, "provider")


def test_a_provider_that_never_turned_anything_away_limits_nobody() -> None:
    story = Story()
    story.ask()
    story.journal.tell(f.ProviderBraked("api.example.org KEY", 2.0, Reason(Why.NOTHING_KNOWN), 0.0, 9, 0))
    assert story.ask() == []


def test_a_machine_without_room_holds_everybody() -> None:
    class Full:
        def read(self) -> HostReading:
            return HostReading(8 << 30, 1 << 28)

    story = Story()
    said = Clutch(Full(), AUTO).ask(story.journal.state, story.journal.time)
    assert [(one.limit, one.brake) for one in said if not one.category] == [(1, "host")]


def test_a_run_that_stops_is_not_asked() -> None:
    story = Story()
    story.journal.tell(f.StopRequested("run", False))
    assert story.ask() == []
