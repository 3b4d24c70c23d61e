"""Forecasts as facts (A8), and what projects tell each other: written when there is news, and only then."""

import asyncio
from pathlib import Path

import pytest

from interlock.engine.estimates import estimated
from interlock.engine.experience import SharedExperience
from interlock.engine.project import open_project
from interlock.engine.trust import state_home
from interlock.events import facts as f
from interlock.events.tallies import Tallies
from interlock.learn.footprints import Footprints
from interlock.model.history import BranchHistory
from interlock.model.task import Agent, Task, TaskId
from tests.engine.scratch import Scratch
from tests.events.journal import Journal

A, B = TaskId("a"), TaskId("b")
BOT = Agent("bot", "command", ("x",))


def journal_of(*names: TaskId) -> Journal:
    journal = Journal(*(Task(name, "Do it", BOT, category="docs") for name in names))
    journal.run()
    return journal


def due(journal: Journal) -> list[f.Fact]:
    return estimated(journal.state, journal.state.tasks.keys(), Footprints(BranchHistory(), journal.state))


def about(facts: list[f.Fact]) -> list[str]:
    return [fact.task for fact in facts if isinstance(fact, f.TaskEstimated)]


def test_what_is_in_the_log_is_not_written_again() -> None:
    journal = journal_of(A, B)
    first = due(journal)
    assert about(first) == ["a", "b"]
    journal.tell(*first)
    assert due(journal) == []


def test_what_was_learned_is_news_for_tasks_that_are_not_over() -> None:
    journal = journal_of(A, B)
    journal.tell(*due(journal))
    journal.work("a")
    assert about(due(journal)) == ["b"]


def test_a_task_whose_definition_changed_is_looked_at_again() -> None:
    journal = journal_of(A)
    journal.tell(*due(journal))
    journal.tell(f.TaskAccepted(Task(A, "Do it", BOT, category="docs", estimate_seconds=60.0)))
    assert about(due(journal)) == ["a"]


def tallies(landed: float) -> Tallies:
    found = Tallies()
    found.of("docs", "bot", "small").landed = landed
    found.at("docs", 2).landed = landed
    return found


def shared(folder: Path, project: str, said: list[str]) -> SharedExperience:
    return SharedExperience(folder, project, said.append)


def test_projects_hear_of_each_other_but_not_of_themselves(tmp_path: Path) -> None:
    said: list[str] = []
    folder = tmp_path / "made" / "by the first"
    for name, landed in (("one", 1.0), ("two", 2.0), ("three", 4.0)):
        asyncio.run(shared(folder, name, said).share(tallies(landed)))
    heard = asyncio.run(shared(folder, "two", said).gather())
    assert heard.projects == 2
    assert heard.tallies == tallies(5.0)
    assert said == []


def test_whoever_has_nothing_to_tell_leaves_no_file(tmp_path: Path) -> None:
    asyncio.run(shared(tmp_path / "none", "one", []).share(Tallies()))
    assert not (tmp_path / "none").exists()
    assert asyncio.run(shared(tmp_path / "none", "one", []).gather()).projects == 0


def test_a_damaged_or_newer_file_is_said_and_left_out(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "torn.json").write_text('{"version": 1, "kin')
    (tmp_path / "newer.json").write_text('{"version": 999}')
    (tmp_path / "odd.json").write_text('{"version": 1, "kinds": 3, "goodput": {}}')
    (tmp_path / "huge.json").write_text(" " * (1 << 21))
    asyncio.run(shared(tmp_path, "fine", said).share(tallies(1.0)))
    heard = asyncio.run(shared(tmp_path, "mine", said).gather())
    assert heard.tallies == tallies(1.0)
    assert sorted(line.partition(": ")[0].rpartition("/")[2] for line in said) == [
        "huge.json",
        "newer.json",
        "odd.json",
        "torn.json",
    ]
    assert any("another version of Interlock wrote it" in line for line in said)


def test_a_folder_that_cannot_be_written_costs_a_line_and_no_run(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "file").write_text("in the way")
    asyncio.run(shared(tmp_path / "file" / "x", "one", said).share(tallies(1.0)))
    assert said
    assert "cannot share the experience" in said[0]


def test_the_folder_is_where_the_user_keeps_such_things() -> None:
    assert state_home({"HOME": "/home/ada"}) == Path("/home/ada/.local/state/interlock")
    assert state_home({"HOME": "/home/ada", "XDG_STATE_HOME": "/s"}) == Path("/s/interlock")


@pytest.mark.slow
def test_a_project_may_keep_to_itself(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "shop")
    scratch.write(a__txt="x")
    scratch.commit()

    async def kinds() -> list[str]:
        found = []
        for flags in ({}, {"share_experience": False}):
            async with open_project(scratch.root, flags) as project:
                found.append(type(project.env().experience).__name__)
        return found

    assert asyncio.run(kinds()) == ["SharedExperience", "NoExperience"]
