"""Where a task will edit: declared, touched before, named in the goal, and edited together (D3)."""

import pytest

from interlock.events.state import TaskState
from interlock.events.task_parts import Work
from interlock.learn.footprints import LISTED_MOST, Footprints
from interlock.model.forecast import Chance
from interlock.model.history import BranchHistory, PastCommit
from interlock.model.reason import Reason, Why
from interlock.model.task import Agent, Commit, Task, TaskId
from interlock.schedule.footprint import LIKELY
from interlock.ui.words.reasons import reason_text

AGENT = Agent("a", "command", ("true",))


def task(name: str = "t", goal: str = "Do it", **more: object) -> TaskState:
    return TaskState(Task(TaskId(name), goal, AGENT, **more))  # type: ignore[arg-type]  # fields of Task


def changes(*sets: str, times: int = 1) -> tuple[PastCommit, ...]:
    return tuple(PastCommit(Commit(str(at)), tuple(paths.split())) for at, paths in enumerate(sets * times))


def worked(name: str, *touched: str, touches: tuple[str, ...]) -> TaskState:
    done = task(name, touches=touches)
    done.change.work = Work(1, Commit("c"), Commit("b"), touched, seq=len(name))
    return done


def found(one: TaskState, past: tuple[PastCommit, ...] = (), files: str = "") -> dict[str, Chance]:
    tree = frozenset(files.split())
    return {chance.path: chance for chance in Footprints(BranchHistory(past, tree)).of(one)}


def test_what_a_task_declares_is_its_forecast_whatever_changed_with_it() -> None:
    past = changes("src/a.py CHANGELOG.md", "src/b.py CHANGELOG.md", times=6)
    goal = "Fix docs/a.md as CHANGELOG.md says"
    assert list(found(task(goal=goal, touches=("src/**",)), past, files="docs/a.md CHANGELOG.md")) == [
        "src/**"
    ]


def test_what_a_task_declares_is_nearly_sure() -> None:
    chance = found(task(touches=("src/**",)))["src/**"]
    assert (chance.source, chance.probability) == ("declared", 0.9)


@pytest.mark.parametrize(("times", "is_held"), [(1, False), (2, True), (4, True)])
def test_what_came_together_once_may_be_chance_and_is_not_held(times: int, is_held: bool) -> None:
    chance = found(task(goal="Fix a.py"), changes("a.py b.py", times=times), files="a.py b.py")["b.py"]
    assert (chance.probability >= LIKELY) == is_held
    assert reason_text(chance.why) == f"changes with a.py in {times} of {times} commits"


def test_a_folder_goes_with_what_its_files_go_with() -> None:
    past = changes("shop/a.py REGISTRY", "shop/b.py REGISTRY", "other.py", times=4)
    forecast = found(task(goal="Tidy up shop/"), past, files="shop/a.py shop/b.py REGISTRY other.py")
    assert reason_text(forecast["REGISTRY"].why) == "changes with shop/** in 8 of 8 commits"
    assert "other.py" not in forecast


def test_a_path_of_any_depth_has_a_forecast() -> None:
    deep = "shop/" + "a/" * 5000 + "x.py"
    assert "REGISTRY" in found(task(goal=f"Fix {deep}"), changes(f"{deep} REGISTRY"), f"{deep} REGISTRY")


def test_a_change_of_many_files_ties_none_of_them_to_each_other() -> None:
    wide = " ".join(f"f{number}.py" for number in range(60))
    past = changes(*(["f0.py"] * 10 + [wide] * 3))
    assert list(found(task(goal="Fix f0.py"), past, files=wide)) == ["f0.py"]


def test_a_file_that_is_gone_is_nobodys_companion() -> None:
    past = changes("a.py gone.py here.py", times=5)
    assert set(found(task(goal="Fix a.py"), past, files="a.py here.py")) == {"a.py", "here.py"}


def test_the_next_attempt_is_expected_where_the_last_one_was() -> None:
    again = worked("t", "src/a.py", touches=("docs/**",))
    chance = found(again)["src/a.py"]
    assert (chance.source, chance.probability) == ("touched", 0.85)
    assert chance.why == Reason(Why.EDITED_BEFORE, {"attempt": 1})


def test_a_task_that_declares_nothing_is_expected_where_its_goal_points() -> None:
    tree = "src/auth/login.py src/auth/session.py src/cart.py docs/a.md README.md"
    forecast = found(task(goal="Fix src/auth/login.py and cart.py"), files=tree)
    assert forecast["src/auth/login.py"].probability == 0.7
    assert forecast["src/cart.py"].probability == 0.5
    assert {chance.source for chance in forecast.values()} == {"mentioned"}


def test_what_goes_with_a_guess_is_no_surer_than_the_guess() -> None:
    past = changes("src/cart.py tests/test_cart.py", times=10)
    forecast = found(task(goal="Fix cart.py"), past, files="src/cart.py tests/test_cart.py")
    assert forecast["tests/test_cart.py"].source == "companion"
    assert forecast["tests/test_cart.py"].probability <= forecast["src/cart.py"].probability == 0.5


def test_a_forecast_has_an_end() -> None:
    sets = [" ".join(["a.py", *(f"{group}/{n}.py" for n in range(18))]) for group in "pq"]
    assert len(found(task(goal="a.py"), changes(*sets, times=5), files=" ".join(sets))) == LISTED_MOST


@pytest.mark.parametrize(
    ("goal", "meant"),
    [
        ("rename the LoginPage", {}),
        ("see login_page.tsx.", {"ui/login_page.tsx": 0.5}),
        ("all of `ui/`", {"ui/**": 0.7}),
        ("ui is slow", {}),
        ("lib/widget.py and no other", {"lib/widget.py": 0.7}),
        ("a.py is everywhere", {}),
        ("the test of the index", {}),
        ("", {}),
    ],
)
def test_words_that_name_files(goal: str, meant: dict[str, float]) -> None:
    tree = ["ui/login_page.tsx", "lib/widget.py", "index.html", "tests/one.py"]
    same = [f"{folder}/a.py" for folder in "pqrs"]
    forecast = found(task(goal=goal), files=" ".join([*tree, *same]))
    assert {path: chance.probability for path, chance in forecast.items()} == meant
