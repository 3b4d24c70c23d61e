"""Where a task will edit: declared, touched before, named in the goal, and edited together (D3)."""

import pytest

from interlock.events.state import Candidate, State, TaskState, Work
from interlock.learn.cochange import CoChange
from interlock.learn.footprints import LISTED_MOST, Footprints
from interlock.learn.mentions import Mentions
from interlock.learn.twins import Twins
from interlock.model.forecast import Chance
from interlock.model.history import Change, Past
from interlock.model.task import Agent, Commit, Task, TaskId, Tree
from interlock.schedule.footprint import LIKELY

AGENT = Agent("a", "command", ("true",))


def task(name: str = "t", goal: str = "Do it", **more: object) -> TaskState:
    return TaskState(Task(TaskId(name), goal, AGENT, **more))  # type: ignore[arg-type]  # fields of Task


def changes(*sets: str, times: int = 1) -> tuple[Change, ...]:
    return tuple(Change(Commit(str(at)), tuple(paths.split())) for at, paths in enumerate(sets * times))


def worked(name: str, *touched: str, goal: str = "Do it", **more: object) -> TaskState:
    done = task(name, goal, **more)
    done.work = Work(1, Commit("c"), Commit("b"), touched, seq=len(name))
    return done


def found(
    one: TaskState, past: tuple[Change, ...] = (), *others: TaskState, files: str = ""
) -> dict[str, Chance]:
    tree = frozenset(files.split())
    state = State(tasks={other.spec.id: other for other in others})
    return {chance.path: chance for chance in Footprints(Past(past, tree), state).of(one)}


def test_what_a_task_declares_is_nearly_sure() -> None:
    chance = found(task(touches=("src/**",)))["src/**"]
    assert (chance.source, chance.probability) == ("declared", 0.9)


def test_a_file_that_changes_with_a_declared_folder_is_a_companion_with_its_count() -> None:
    past = changes("src/a.py CHANGELOG.md", "src/b.py CHANGELOG.md", "src/a.py", times=6)
    companion = found(task(touches=("src/**",)), past)["CHANGELOG.md"]
    assert companion.source == "companion"
    assert companion.why == "changes with src/** in 12 of 18 commits"
    assert 0.55 < companion.probability < 0.75


def test_two_tasks_in_one_folder_are_told_apart_by_the_files_edited_there() -> None:
    past = changes("src/hot.py", "src/hot.py", "src/cold.py", times=10)
    forecast = found(task(touches=("src/**",)), past)
    assert forecast["src/hot.py"].probability > 0.5 > forecast["src/cold.py"].probability > 0.2
    assert forecast["src/**"].probability < 0.2
    assert (forecast["src/hot.py"].source, forecast["src/**"].source) == ("history", "declared")


def test_a_folder_where_every_change_goes_somewhere_new_stays_a_folder() -> None:
    past = tuple(Change(Commit(str(at)), (f"src/new{at}.py",)) for at in range(30))
    forecast = found(task(touches=("src/**",)), past)
    assert list(forecast) == ["src/**"]
    assert forecast["src/**"].probability == 0.9


OTHERS = tuple(f"other/{number}.py" for number in range(20))


@pytest.mark.parametrize(("times", "is_held"), [(1, False), (2, True), (4, True)])
def test_what_came_together_once_may_be_chance_and_is_not_held(times: int, is_held: bool) -> None:
    past = (*changes(*OTHERS), *changes("a.py b.py", times=times))
    assert (found(task(touches=("a.py",)), past)["b.py"].probability >= LIKELY) == is_held


def test_a_new_file_goes_with_what_its_neighbours_go_with() -> None:
    past = (*changes(*OTHERS), *changes("shop/a.py REGISTRY", "shop/b.py REGISTRY", times=4))
    registry = found(task(touches=("shop/new.py",)), past)["REGISTRY"]
    assert registry.probability > 0.5
    assert registry.why == "changes with shop in 8 of 8 commits"
    assert found(task(touches=("other/new.py",)), past)["REGISTRY"].probability < LIKELY / 2


def test_the_folder_above_speaks_where_a_folder_is_new() -> None:
    past = (*changes(*OTHERS), *changes("shop/eu/a.py REGISTRY", "shop/us/b.py REGISTRY", times=4))
    inside = found(task(touches=("shop/asia/new.py",)), past)["REGISTRY"].probability
    assert inside > 0.5


def test_a_folder_does_not_count_again_what_its_file_has_counted() -> None:
    flat, deep = (
        found(task(touches=(path,)), (*changes(*OTHERS), *changes(f"{path} b.py")))["b.py"].probability
        for path in ("a.py", "p/q/r/s/t/a.py")
    )
    assert deep == pytest.approx(flat, abs=0.02)


def test_a_path_of_any_depth_has_a_forecast() -> None:
    deep = "shop/" + "a/" * 5000 + "x.py"
    past = (*changes(*OTHERS), *changes("shop/a.py REGISTRY", times=4))
    assert found(task(touches=(deep,)), past)["REGISTRY"].probability > LIKELY


def test_a_file_that_nearly_every_change_edits_is_expected_of_a_place_without_a_past() -> None:
    chance = found(task(touches=("new/**",)), changes("a.py CHANGES", "b.py CHANGES", times=10))["CHANGES"]
    assert chance.probability > 0.7
    assert chance.why == "in 20 of all 20 commits"


def test_two_paths_that_say_it_are_believed_more_than_one_of_many() -> None:
    past = (*changes(*OTHERS), *changes("a.py x.py", "b.py x.py", "c.py y.py", times=4))
    forecast = found(task(touches=("a.py", "b.py", "c.py")), past)
    assert forecast["x.py"].probability > 1.5 * forecast["y.py"].probability


def test_a_change_of_many_files_ties_none_of_them_to_each_other() -> None:
    wide = " ".join(f"f{number}.py" for number in range(60))
    past = changes(*(["f0.py"] * 10 + [wide] * 3))
    assert list(found(task(touches=("f0.py",)), past)) == ["f0.py"]


def test_what_was_so_long_ago_counts_less_than_what_is_so_now() -> None:
    once, now = changes("a.py old.py", times=100), changes("a.py new.py", times=100)
    companions = dict(CoChange((*once, *now)).companions(["a.py"]))
    assert companions["new.py"] > 1.5 * companions["old.py"]


def test_the_tests_of_a_module_are_expected_by_their_name_as_often_as_such_pairs_change_together() -> None:
    past = changes("src/a/x.py tests/a/test_x.py", "src/b/y.py tests/b/test_y.py", "src/a/x.py", times=6)
    tree = "src/a/x.py src/b/y.py tests/a/test_x.py tests/b/test_y.py src/c/z.py tests/c/test_z.py"
    tests = found(task(touches=("src/c/z.py",)), past, files=tree)["tests/c/test_z.py"]
    assert (tests.source, tests.why) == (
        "companion",
        "named like src/c/z.py; such pairs change together 12 of 18 times",
    )
    assert 0.55 < tests.probability < 0.7
    module = found(task(touches=("tests/c/test_z.py",)), past, files=tree)["src/c/z.py"]
    assert module.why == "named like tests/c/test_z.py; such pairs change together 12 of 12 times"


def test_a_file_that_is_gone_is_nobodys_companion() -> None:
    past = changes("a.py gone.py here.py", times=5)
    assert set(found(task(touches=("a.py",)), past, files="a.py here.py")) == {"a.py", "here.py"}


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
    forecast = Footprints(Past(), State(tasks={one.spec.id: one for one in others}))
    assert [chance.path for chance in forecast.of(task(touches=("a.py",)))] == ["a.py"]


def test_a_task_is_not_like_itself() -> None:
    done = worked("t", "a.py", goal="Paint the fence")
    done.landed = Candidate(Commit("c"), Tree("t"), Commit("b"))
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
    forecast = found(task(goal="Fix src/auth/login.py and the cart"), files=tree)
    assert forecast["src/auth/login.py"].probability == 0.7
    assert forecast["src/cart.py"].probability == 0.3
    assert {chance.source for chance in forecast.values()} == {"mentioned"}


def test_what_goes_with_a_guess_is_no_surer_than_the_guess() -> None:
    past = changes("src/cart.py tests/test_cart.py", times=10)
    forecast = found(task(goal="Fix the cart"), past, files="src/cart.py tests/test_cart.py")
    assert forecast["tests/test_cart.py"].source == "companion"
    assert forecast["tests/test_cart.py"].probability <= forecast["src/cart.py"].probability == 0.3


def test_a_forecast_has_an_end() -> None:
    wide = " ".join(f"f{number}.py" for number in range(6))
    sets = [wide.replace("f", f"g{group}/f") + " a.py" for group in range(20)]
    assert len(found(task(touches=("a.py",)), changes(*sets, times=5))) <= LISTED_MOST + 1


def test_the_same_past_gives_the_same_forecast_in_any_order_of_tasks() -> None:
    past = changes("a.py b.py c.py", "a.py c.py", times=5)
    one, two = worked("one", "b.py"), worked("three", "c.py")
    assert list(found(task(touches=("a.py",)), past, one, two).values()) == list(
        found(task(touches=("a.py",)), past, two, one).values()
    )


@pytest.mark.parametrize(
    ("goal", "meant"),
    [
        ("rename the LoginPage", {"ui/login_page.tsx": 0.3}),
        ("see login_page.tsx.", {"ui/login_page.tsx": 0.5}),
        ("all of `ui/`", {"ui/**": 0.7}),
        ("widgets are slow", {"lib/widget.py": 0.3}),
        ("a.py is everywhere", {}),
        ("the test of the index", {}),
        ("", {}),
    ],
)
def test_words_that_name_files(goal: str, meant: dict[str, float]) -> None:
    tree = ["ui/login_page.tsx", "lib/widget.py", "index.html", "tests/one.py"]
    same = [f"{folder}/a.py" for folder in "pqrs"]
    assert Mentions([*tree, *same]).of(goal) == meant


@pytest.mark.parametrize(
    ("path", "twin"),
    [
        ("src/cart.py", "tests/test_cart.py"),
        ("web/Cart.tsx", "web/Cart.spec.tsx"),
        ("java/CartTest.java", "java/Cart.java"),
        ("pkg/cart_test.go", "pkg/cart.go"),
        ("src/latest.py", None),
        ("lib/one/same.py", None),
        ("README.md", None),
    ],
)
def test_the_twin_of_a_file_is_the_one_that_its_name_means(path: str, twin: str | None) -> None:
    tree = ["src/cart.py", "tests/test_cart.py", "web/Cart.tsx", "web/Cart.spec.tsx", "java/CartTest.java"]
    more = ["java/Cart.java", "pkg/cart.go", "pkg/cart_test.go", "src/latest.py", "README.md"]
    several = ["lib/one/same.py", "checks/p/test_same.py", "checks/q/test_same.py"]
    assert Twins([*tree, *more, *several], ()).of(path) == twin


def test_how_often_a_twin_is_edited_too_is_counted_for_each_direction() -> None:
    """A guess of 0.3 weighs as much as two changes."""
    made = changes("src/cart.py tests/test_cart.py", "src/cart.py", "src/cart.py")
    twins = Twins(["src/cart.py", "tests/test_cart.py"], made)
    assert (twins.seen("src/cart.py"), twins.seen("tests/test_cart.py")) == ((1, 3), (1, 1))
    assert twins.probability("src/cart.py") == pytest.approx((1 + 2 * 0.3) / (3 + 2))
    assert twins.probability("tests/test_cart.py") == pytest.approx((1 + 2 * 0.3) / (1 + 2))
