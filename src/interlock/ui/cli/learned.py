"""`interlock errors` and `lessons`: each failure once, and what attempts taught about it."""

from collections.abc import Iterator
from pathlib import Path

import click

from interlock.events.finished import recall_all
from interlock.events.state import State
from interlock.events.state_parts import LessonState
from interlock.learn.errors import Errors, FailureGroup
from interlock.learn.usefulness import figures, is_better
from interlock.model.lesson import Lesson
from interlock.ui.actions.lessons import add_lesson, new_lesson, retire_lesson
from interlock.ui.cli.app import CommandGroup, cli_command
from interlock.ui.cli.attempt_files import openable
from interlock.ui.cli.output import Invocation, note, paint, say, say_json, say_listing, say_result
from interlock.ui.cli.session import actor, opened, read, read_project, run_async
from interlock.ui.plain import counted, inert, one_line
from interlock.ui.queries.learned import (
    SHOWN,
    failure_document,
    find_failure,
    find_lesson,
    lesson_document,
    next_step,
)
from interlock.ui.reading import all_rows
from interlock.ui.words.causes import lesson_figures
from interlock.ui.words.facts import clock
from interlock.ui.words.reasons import reason_text


@cli_command("errors")
@click.argument("error", required=False, metavar="[ID]")
@click.option("--all", "everything", is_flag=True, help="Also show failures that no task has any more.")
@click.option("--run", "last_run", is_flag=True, help="Show only failures of the last run.")
async def errors_command(invocation: Invocation, error: str | None, everything: bool, last_run: bool) -> None:
    """Show each failure once: its tasks, its times, and the fix if there was one.

    With ID, show every occurrence. For example: interlock errors --run
    """
    async with opened(invocation) as project:
        state = recall_all((await read(project.store)).state)
        errors = Errors(state, last_run, reason_text)
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
    say_listing(invocation, lambda: failure_document(state, trouble) | {"cases": trouble.cases}, lines)


class Lessons(CommandGroup):
    """A word that names no command under `lessons` names a lesson."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or `show` with the lesson's id."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["show", *args]
        return super().resolve_command(ctx, args)


@click.group("lessons", cls=Lessons, invoke_without_command=True)
@click.option("--all", "everything", is_flag=True, help="Also show retired lessons.")
@click.pass_context
def lessons_command(context: click.Context, everything: bool) -> None:
    """Show lessons from attempts: the symptom, the fix, and how many attempts landed with and without it.

    With an ID, show one lesson in full. For example: interlock lessons 4f1c09ab
    """
    if context.invoked_subcommand is None:
        _list_lessons(context.ensure_object(Invocation), everything)


@lessons_command.command("show")
@click.argument("lesson", metavar="ID")
@click.pass_obj
def show(invocation: Invocation, lesson: str) -> None:
    """Show one lesson in full: scope, evidence, origin and figures.

    For example: interlock lessons show 4f1c09ab
    """
    known = find_lesson(read_project(invocation).state.lessons, lesson)
    say_listing(invocation, lambda: lesson_document(known), _full(known))


@lessons_command.command("add")
@click.option("--category", default="", help="Only for this kind of work.")
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only for tasks that touch this path.")
@click.option("--check", "command", default="", help="Only for tasks that must pass this command.")
@click.argument("text", nargs=-1, required=True)
@click.pass_obj
def add(
    invocation: Invocation, category: str, paths: tuple[str, ...], command: str, text: tuple[str, ...]
) -> None:
    """Add a lesson for every attempt in a scope, until you retire it with `interlock lessons retire`.

    For example: interlock lessons add --category api "The test database needs --reset."
    """
    lesson = new_lesson(" ".join(text).strip(), category, paths, command, actor())
    run_async(_add(invocation, lesson))
    told = f"{lesson.id}: every attempt {_scope(lesson)} gets it from now on"
    say_result(invocation, {"id": lesson.id}, told, f"next: interlock lessons {lesson.id}")


@lessons_command.command("retire")
@click.argument("lesson", metavar="ID")
@click.option("-m", "--why", default="", help="Why, for the log.")
@click.pass_obj
def retire(invocation: Invocation, lesson: str, why: str) -> None:
    """Retire a lesson: no attempt gets it any more.

    For example: interlock lessons retire 4f1c09ab -m "we changed the check"
    """
    name = run_async(_retire(invocation, lesson, why))
    say_result(invocation, {"id": name, "retired": True}, f"no attempt gets {name} any more")


async def _add(invocation: Invocation, lesson: Lesson) -> None:
    async with opened(invocation, create=True) as project:
        await add_lesson(project.store, lesson)


async def _retire(invocation: Invocation, name: str, why: str) -> str:
    async with opened(invocation) as project:
        known = find_lesson((await read(project.store)).state.lessons, name)
        await retire_lesson(project.store, known, why, actor())
    return known.lesson.id


def _list_lessons(invocation: Invocation, everything: bool) -> None:
    lessons = read_project(invocation).state.lessons
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
        note(
            "no lessons yet: a lesson needs a check that fails on one attempt and passes on a later"
            " one; to add one yourself: interlock lessons add"
        )
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
        yield f"next: {paint(f'interlock lessons retire {lesson.id}', 'cyan')}, if it is wrong"
