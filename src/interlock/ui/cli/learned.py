"""`interlock errors` and `lessons`: each failure once, and what attempts taught about it."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from interlock.events.finished import recall_all
from interlock.events.state import State
from interlock.events.state_parts import LessonState
from interlock.learn.errors import Errors, FailureGroup
from interlock.learn.flakes import Flakes
from interlock.learn.usefulness import figures, is_better
from interlock.model.errors import UsageError
from interlock.model.lesson import Lesson
from interlock.ui.actions.lessons import retire_lesson
from interlock.ui.attempt_files import openable
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say, say_json, say_listing, say_result
from interlock.ui.cli.session import actor, opened, read, read_project, run_async
from interlock.ui.plain import counted, inert, one_line
from interlock.ui.queries.learned import (
    SHOWN,
    failure_document,
    find_failure,
    find_lesson,
    flaky_document,
    lesson_document,
    next_step,
)
from interlock.ui.reading import all_rows
from interlock.ui.words.causes import lesson_figures
from interlock.ui.words.checks import flaky_text
from interlock.ui.words.facts import clock
from interlock.ui.words.reasons import reason_text


@cli_command("errors")
@click.argument("error", required=False, metavar="[ID]")
@click.option("--all", "everything", is_flag=True, help="Also show failures that no task has any more.")
@click.option("--flaky", is_flag=True, help="Show the checks that failed and passed on the same files.")
async def errors_command(invocation: Invocation, error: str | None, everything: bool, flaky: bool) -> None:
    """Show each failure once: its tasks, its times, and the fix if there was one.

    With ID, show every occurrence. For example: interlock errors --all
    """
    if flaky:
        if error is not None or everything:
            raise UsageError("--flaky takes no ID and no --all", "interlock errors --flaky")
        await _show_flaky(invocation)
        return
    async with opened(invocation) as project:
        state = recall_all((await read(project.store)).state)
        errors = Errors(state, reason_text)
        async for row in all_rows(project.store):
            errors.add(row)
    found = errors.troubles()
    if error is not None:
        _show_one(invocation, state, find_failure(found, error), project.state_dir)
        return
    shown = [trouble for trouble in found if everything or trouble.open]
    if invocation.wants_json():
        say_json([failure_document(state, trouble) for trouble in shown])
        return
    for trouble in shown:
        for line in _lines(state, trouble):
            say(line)
    if len(shown) < len(found):
        past = counted(len(found) - len(shown), "more failure" if shown else "failure")
        none = "" if shown else "no task is stuck; "
        note(f"{none}{past} that no task has any more: interlock errors --all")
    elif not found:
        note("no failures")


async def _show_flaky(invocation: Invocation) -> None:
    flakes = Flakes()
    async with opened(invocation) as project:
        async for row in all_rows(project.store):
            flakes.add(row)
    found = flakes.found()
    if invocation.wants_json():
        say_json([flaky_document(check) for check in found])
        return
    for check in found:
        say(flaky_text(check))
        for flake in check.flakes[-SHOWN:]:
            where = f"{flake.task}, attempt {flake.attempt}" if flake.task else "main"
            say(f"  {clock(flake.time)} {where}: {flake.log or 'no log'}")
    if not found:
        note("no check has failed and passed on the same files")


def _lines(state: State, trouble: FailureGroup) -> Iterator[str]:
    color = "red" if trouble.open else "green"
    yield f"{trouble.id}  {paint(trouble.error, color)}: {one_line(inert(trouble.what))}"
    if trouble.example and trouble.what not in trouble.example:
        yield f"  in {trouble.tasks[0]}: {one_line(inert(trouble.example))}"
    first, last = clock(trouble.cases[0].time), clock(trouble.cases[-1].time)
    when = first if first == last else f"{first} to {last}"
    tasks = f"{counted(len(trouble.tasks), 'task')}, {counted(len(trouble.cases), 'time')}, {when}"
    yield f"  {tasks}: {_some(trouble.tasks)}"
    if endings := trouble.endings:
        yield f"  resolved: {_some(endings, '; ')}"
    if trouble.lesson:
        yield f"  lesson: interlock lessons {trouble.lesson}"
    yield f"  next: {paint(next_step(state, trouble), 'cyan')}"


def _some(names: tuple[str, ...], between: str = ", ") -> str:
    more = len(names) - SHOWN
    return between.join(names[:SHOWN]) + (f"{between}and {more} more" if more > 0 else "")


def _show_one(invocation: Invocation, state: State, trouble: FailureGroup, folder: Path) -> None:
    lines = [*_lines(state, trouble)]
    for case in trouble.cases:
        log = f"  {openable(folder, case.log)}" if case.log else ""
        past = f" ({case.ended})" if case.ended else ""
        where = f"{case.task} attempt {case.attempt}, {case.phase}"
        lines.append(f"  {clock(case.time)}  {where}: {one_line(inert(case.summary))}{past}{log}")
    say_listing(
        invocation, lambda: asdict(failure_document(state, trouble)) | {"cases": trouble.cases}, lines
    )


@cli_command("lessons")
@click.argument("lesson", required=False, metavar="[ID]")
@click.option("--all", "everything", is_flag=True, help="Also show retired lessons.")
@click.option("--retire", is_flag=True, help="Retire the lesson: no attempt gets it any more.")
@click.option("-m", "--why", default="", help="With --retire: why, for the log.")
def lessons_command(
    invocation: Invocation, lesson: str | None, everything: bool, retire: bool, why: str
) -> None:
    """Show lessons from attempts: the symptom, the fix, and how many attempts landed with and without it.

    With ID, show one lesson in full. For example: interlock lessons 4f1c09ab --retire -m "check changed"
    """
    if retire:
        if lesson is None:
            raise UsageError("--retire needs the ID of a lesson", "interlock lessons lists them")
        name = run_async(_retire(invocation, lesson, why))
        say_result(invocation, {"id": name, "retired": True}, f"no attempt gets {name} any more")
    elif lesson is None:
        _list_lessons(invocation, everything)
    else:
        known = find_lesson(read_project(invocation).state.learned.lessons, lesson)
        say_listing(invocation, lambda: lesson_document(known), _full(known))


async def _retire(invocation: Invocation, name: str, why: str) -> str:
    async with opened(invocation) as project:
        known = find_lesson((await read(project.store)).state.learned.lessons, name)
        await retire_lesson(project.store, known, why, actor())
    return known.lesson.id


def _list_lessons(invocation: Invocation, everything: bool) -> None:
    lessons = read_project(invocation).state.learned.lessons
    shown = [known for known in lessons.values() if everything or not known.retired]
    shown.sort(key=lambda known: (bool(known.retired), -is_better(known), known.lesson.id))
    if invocation.wants_json():
        say_json([lesson_document(known) for known in shown])
        return
    for known in shown:
        lesson = known.lesson
        state = paint("retired", "red") if known.retired else paint("in use", "green")
        say(f"{lesson.id}  {state}  {inert(lesson.mechanism or lesson.text)}")
        say(f"  {_scope(lesson)}; {reason_text(known.retired) or _worth(known)}")
    if not lessons:
        note("no lessons yet: a lesson needs a check that fails on one attempt and passes on a later one")
    if shown:
        note(f"next: interlock lessons {shown[0].lesson.id}")
    if len(shown) < len(lessons):
        note(f"{counted(len(lessons) - len(shown), 'more lesson')} retired: interlock lessons --all")


def _worth(known: LessonState) -> str:
    if known.lesson.author:
        landed = f"{known.with_landed:.0f} of {known.with_tried:.0f} attempts landed with it"
        return f"by {known.lesson.author}; {landed}"
    return f"{lesson_figures(figures(known))}; probably helps: {is_better(known):.0%}"


def _scope(lesson: Lesson) -> str:
    kind = f"of {lesson.category} tasks" if lesson.category else "of all tasks"
    where = [f"that must pass `{one_line(lesson.command)}`"] if lesson.command else []
    where += [f"in {one_line(', '.join(lesson.paths))}"] if lesson.paths else []
    return f"{kind} {' or '.join(where)}".strip()


def _full(known: LessonState) -> Iterator[str]:
    lesson = known.lesson
    yield f"{lesson.id}  {f'retired: {reason_text(known.retired)}' if known.retired else 'in use'}"
    yield f"scope     {_scope(lesson)}"
    if lesson.author:
        yield f"from      {lesson.author}"
    else:
        landed = f"attempt {lesson.attempt} landed as {lesson.commit[:12]}"
        yield f"from      {lesson.task}: attempt {lesson.failed_attempt} failed, {landed}"
        yield f"seen in   {counted(known.learned, 'landing')}"
    yield f"figures   {_worth(known)}"
    for title, text in (("cause", lesson.mechanism), ("symptom", lesson.symptom), ("lesson", lesson.text)):
        if text:
            yield f"{title:9} {inert(text)}"
    for line in lesson.fix.splitlines():
        yield f"  {inert(line)}"
    if not known.retired:
        yield f"next: {paint(f'interlock lessons {lesson.id} --retire', 'cyan')}, if it is wrong"
