"""Where a task will edit: declared, touched before, named in the goal, and edited together (D3)."""

import pytest

from interlock.events.parts import Candidate, Work
from interlock.events.state import State, TaskState
from interlock.learn.cochange import CoChange
from interlock.learn.footprints import LISTED_MOST, Footprints
from interlock.learn.mentions import Mentions
from interlock.model.forecast import Chance
from interlock.model.history import BranchHistory, PastCommit
from interlock.model.task import Agent, Commit, Task, TaskId, Tree
from interlock.schedule.footprint import LIKELY

AGENT = Agent("a", "command", ("true",))


def task(name: str = "t", goal: str = "Do it", **more: object) -> TaskState:
    return TaskState(Task(TaskId(name), goal, AGENT, **more))  # type: ignore[arg-type]  # fields of Task


def changes(*sets: str, times: int = 1) -> tuple[PastCommit, ...]:
    return tuple(PastCommit(Commit(str(at)), tuple(paths.split())) for at, paths in enumerate(sets * times))


def worked(name: str, *touched: str, goal: str = "Do it", **more: object) -> TaskState:
    done = task(name, goal, **more)
    done.change.work = Work(1, Commit("c"), Commit("b"), touched, seq=len(name))
    return done


def found(
    one: TaskState, past: tuple[PastCommit, ...] = (), *others: TaskState, files: str = ""
) -> dict[str, Chance]:
    tree = frozenset(files.split())
    state = State(tasks={other.spec.id: other for other in others})
    return {chance.path: chance for chance in Footprints(BranchHistory(past, tree), state).of(one)}


def edited_with(path: str, past: tuple[PastCommit, ...]) -> dict[str, float]:
    return dict(CoChange(past).companions(path))


def test_what_a_task_declares_is_its_forecast_whatever_changed_with_it() -> None:
    past = changes("src/a.py CHANGELOG.md", "src/b.py CHANGELOG.md", times=6)
    goal = "Fix docs/a.md as CHANGELOG.md says"
    assert list(found(task(goal=goal, touches=("src/**",)), past, files="docs/a.md CHANGELOG.md")) == [
        "src/**"
    ]


def test_what_a_task_declares_is_nearly_sure() -> None:
    chance = found(task(touches=("src/**",)))["src/**"]
    assert (chance.source, chance.probability) == ("declared", 0.9)


OTHERS = tuple(f"other/{number}.py" for number in range(20))


@pytest.mark.parametrize(("times", "is_held"), [(1, False), (2, True), (4, True)])
def test_what_came_together_once_may_be_chance_and_is_not_held(times: int, is_held: bool) -> None:
    past = (*changes(*OTHERS), *changes("a.py b.py", times=times))
    assert (edited_with("a.py", past)["b.py"] >= LIKELY) == is_held


def test_a_new_file_goes_with_what_its_neighbours_go_with() -> None:
    past = (*changes(*OTHERS), *changes("shop/a.py REGISTRY", "shop/b.py REGISTRY", times=4))
    registry = found(task(goal="Add shop/new.py"), past, files="shop/new.py REGISTRY")["REGISTRY"]
    assert registry.probability > 0.35
    assert registry.why == "changes with shop in 8 of 8 commits"
    assert edited_with("other/new.py", past)["REGISTRY"] < LIKELY / 2


def test_the_folder_above_speaks_where_a_folder_is_new() -> None:
    past = (*changes(*OTHERS), *changes("shop/eu/a.py REGISTRY", "shop/us/b.py REGISTRY", times=4))
    inside = edited_with("shop/asia/new.py", past)["REGISTRY"]
    assert inside > 0.5


def test_a_folder_does_not_count_again_what_its_file_has_counted() -> None:
    flat, deep = (
        edited_with(path, (*changes(*OTHERS), *changes(f"{path} b.py")))["b.py"]
        for path in ("a.py", "p/q/r/s/t/a.py")
    )
    assert deep == pytest.approx(flat, abs=0.02)


def test_a_path_of_any_depth_has_a_forecast() -> None:
    deep = "shop/" + "a/" * 5000 + "x.py"
    past = (*changes(*OTHERS), *changes("shop/a.py REGISTRY", times=4))
    assert edited_with(deep, past)["REGISTRY"] > LIKELY


def test_a_file_that_nearly_every_change_edits_is_expected_of_a_place_without_a_past() -> None:
    past = changes("a.py CHANGES", "b.py CHANGES", times=10)
    chance = found(task(goal="Add new/x.py"), past, files="new/x.py CHANGES")["CHANGES"]
    assert chance.probability > 0.5
    assert chance.why == "in 20 of all 20 commits"


def test_a_change_of_many_files_ties_none_of_them_to_each_other() -> None:
    wide = " ".join(f"f{number}.py" for number in range(60))
    past = changes(*(["f0.py"] * 10 + [wide] * 3))
    assert list(edited_with("f0.py", past)) == ["f0.py"]


def test_what_was_so_long_ago_counts_less_than_what_is_so_now() -> None:
    once, now = changes("a.py old.py", times=100), changes("a.py new.py", times=100)
    companions = dict(CoChange((*once, *now)).companions("a.py"))
    assert companions["new.py"] > 1.5 * companions["old.py"]


def test_a_file_that_is_gone_is_nobodys_companion() -> None:
    past = changes("a.py gone.py here.py", times=5)
    assert set(found(task(goal="Fix a.py"), past, files="a.py here.py")) == {"a.py", "here.py"}


def test_the_next_attempt_is_expected_where_the_last_one_was() -> None:
    again = worked("t", "src/a.py", touches=("docs/**",))
    chance = found(again)["src/a.py"]
    assert (chance.source, chance.probability, chance.why) == ("touched", 0.85, "attempt 1 edited it")


def test_tasks_that_read_alike_are_expected_in_the_same_places_but_not_surely() -> None:
    goals = "Add a currency to the price list"
    others = [worked(f"t{n}", "shop/prices.py", goal=f"{goals}: number {n}") for n in range(4)]
    chance = found(task(goal=f"{goals}: yen"), (), *others, worked("far", "x.py", goal="Paint it"))
    assert chance["shop/prices.py"].source == "similar"
    assert 0.4 < chance["shop/prices.py"].probability < 0.8
    assert "4 of 4 similar tasks edited it" in chance["shop/prices.py"].why
    assert "x.py" not in chance


def test_what_is_declared_is_listed_once_however_many_tasks_like_it_edited_it() -> None:
    others = [worked(f"t{number}", "a.py", touches=("a.py",)) for number in range(5)]
    forecast = Footprints(BranchHistory(), State(tasks={one.spec.id: one for one in others}))
    assert [chance.path for chance in forecast.of(task(touches=("a.py",)))] == ["a.py"]


def test_a_task_is_not_like_itself() -> None:
    done = worked("t", "a.py", goal="Paint the fence")
    done.change.landed = Candidate(Commit("c"), Tree("t"), Commit("b"))
    assert found(done, (), done) == {}


def test_of_many_tasks_alike_the_likest_count() -> None:
    far = [worked(f"far{n}", "far.py", goal="Paint fence blue door roof wall") for n in range(30)]
    near = [worked(f"near{n}", "near.py", goal="Paint fence green") for n in range(20)]
    assert set(found(task(goal="Paint fence green"), (), *far, *near)) == {"near.py"}


def test_one_similar_task_is_weak_evidence() -> None:
    other = worked("one", "shop/prices.py", goal="Add a currency to the list")
    assert found(task(goal="Add a currency to the list"), (), other)["shop/prices.py"].probability <= 0.4


def test_projects_whose_plans_are_not_kept_are_believed_less() -> None:
    others = [worked(f"t{n}", "elsewhere.py", touches=("src/**",)) for n in range(20)]
    assert found(task(goal="x", touches=("docs/**",)), (), *others)["docs/**"].probability == pytest.approx(
        0.3
    )


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
    wide = " ".join(f"f{number}.py" for number in range(6))
    sets = [wide.replace("f", f"g{group}/f") + " a.py" for group in range(20)]
    assert len(found(task(goal="a.py"), changes(*sets, times=5), files="a.py")) <= LISTED_MOST


def test_the_same_past_gives_the_same_forecast_in_any_order_of_tasks() -> None:
    past = changes("a.py b.py c.py", "a.py c.py", times=5)
    one, two = worked("one", "b.py"), worked("three", "c.py")
    files = "a.py b.py c.py"
    assert list(found(task(goal="a.py"), past, one, two, files=files).values()) == list(
        found(task(goal="a.py"), past, two, one, files=files).values()
    )


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
    assert Mentions([*tree, *same]).of(goal) == meant
