"""Writes prompts: the goal, the checks, the agents beside it, lessons, and the failure of the last attempt.

`brief` is the only way to a prompt: the run and `interlock prompt` both take it. Everything in a prompt comes
from the log and the repository, so the same State gives the same text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from interlock.engine.lessons import told as lesson_part
from interlock.engine.quote import fit, one_line, quoted
from interlock.engine.scope_words import scope_text
from interlock.engine.template import fill
from interlock.engine.together import commits_of
from interlock.events.state import State, TaskState
from interlock.events.task_parts import Failure
from interlock.git.protocol import Repository
from interlock.model.errors import InterlockError
from interlock.model.failure_words import failure_text
from interlock.model.globs import overlap
from interlock.model.lesson import Lesson
from interlock.model.outcome import ErrorClass
from interlock.model.redact import Redactor
from interlock.model.task import Task, TaskId

DIFF_CHARS = 20_000
"""Some five hundred lines. With all the rest it fits into one argument of a program (128 KiB on Linux)."""
PAIRS_SHOWN = 3
SUMMARY_CHARS = 2_000
MESSAGE_CHARS = 4_000
GOAL_CHARS = 160
NEIGHBOURS_SHOWN = 12
GLOBS_SHOWN = 8
LEFT_OUT_SHOWN = 12
HOW_TO_ASK = """\
This is a forecast, not a fence. If the work needs another file, change it, but say so first in a line of its
own: `::interlock scope PATH -- why`. Others are then kept away from it; or you are told who has it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The content of a prompt."""

    task: TaskState
    attempt: int
    neighbours: tuple[Task, ...] = ()
    """Tasks of the other agents at work."""
    diff: str = ""
    """Diff of the attempt that failed last."""
    others: tuple[tuple[str, str], ...] = ()
    """Landed tasks that it is known to fail together with, and their diffs."""
    lessons: tuple[Lesson, ...] = ()
    """Lessons of earlier attempts."""
    is_carried: bool = False
    """The workspace begins with the change of the attempt that failed last."""


async def brief(repository: Repository, template: str, scene: Scene) -> str:
    """The prompt for an attempt; the change that the last one had is fetched from the repository."""
    failure = _last_failure(scene)
    if failure and failure.commit:
        diff = await _diff(repository, failure.base or f"{failure.commit}~1", failure.commit)
        if failure.error is ErrorClass.SECRET:
            diff = Redactor().clean(diff)  # prompts are kept
        pairs = commits_of(failure.why)[:PAIRS_SHOWN]
        others = [(task, await _diff(repository, f"{commit}~1", commit)) for task, commit in pairs]
        scene = replace(scene, diff=diff, others=tuple(others))
    return prompt(template, scene)


def neighbours(state: State, task: TaskId) -> tuple[Task, ...]:
    """The other tasks that are under way, those first that may touch the same files."""
    spec = state.tasks[task].spec
    others = [state.tasks[name].spec for name in sorted(state.index.running) if name != task]
    return tuple(sorted(others, key=lambda other: not _meet(spec, other)))


def prompt(template: str, scene: Scene) -> str:
    """The text for an attempt of a task."""
    spec = scene.task.spec
    return fit(
        fill(
            template,
            {
                "task": spec.id,
                "attempt": str(scene.attempt),
                "goal": spec.goal.strip(),
                "acceptance": _acceptance(spec),
                "footprint": _footprint(scene.task),
                "neighbours": _neighbours(spec, scene.neighbours),
                "said": _said(scene.task),
                "lessons": lesson_part(scene.lessons),
                "feedback": _feedback(scene),
            },
        )
    )


def _acceptance(spec: Task) -> str:
    commands = dict.fromkeys((*spec.done_when, *spec.verify))
    if not commands:
        return ""
    listed = "\n".join(f"- `{command}`" for command in commands)
    return f"## Done when\n\nThese commands pass on your change merged onto main:\n\n{listed}"


def _footprint(task: TaskState) -> str:
    spec = task.spec
    lines = [f"- {glob}" for glob in spec.touches]
    lines += [f"- {glob} (no other task edits it meanwhile)" for glob in spec.exclusive]
    lines += [f"- {glob} (to read; it does not change meanwhile)" for glob in spec.shared]
    lines += _asked(task)
    return "## Expected to touch\n\n" + "\n".join(lines) + f"\n\n{HOW_TO_ASK}" if lines else ""


def _asked(task: TaskState) -> Iterator[str]:
    """Yield the requests of earlier attempts, with the last answer for each path."""
    answers = {path: asked for asked in task.talk.requests if asked.is_answered for path in asked.paths}
    for path, asked in list(answers.items())[-GLOBS_SHOWN:]:
        told = "granted" if asked.granted else f"refused, because {scope_text(asked.answer)}"
        yield f"- {one_line(path, GOAL_CHARS)} (attempt {asked.attempt} asked for it: {told})"


def _neighbours(spec: Task, others: tuple[Task, ...]) -> str:
    if not others:
        return ""
    lines = [_neighbour(spec, other) for other in others[:NEIGHBOURS_SHOWN]]
    if len(others) > NEIGHBOURS_SHOWN:
        lines.append(f"- and {len(others) - NEIGHBOURS_SHOWN} more")
    return (
        "## Meanwhile\n\nOther agents work on these tasks, each in a directory of its own. "
        "What they change is merged with what you change: leave their work to them,\n"
        "and their files where you can.\n\n" + "\n".join(lines)
    )


def _neighbour(spec: Task, other: Task) -> str:
    globs = ", ".join(other.touches[:GLOBS_SHOWN]) + (", ..." if len(other.touches) > GLOBS_SHOWN else "")
    where = f" (in {globs})" if globs else ""
    close = "; it may touch the same files as you" if _meet(spec, other) else ""
    return f"- {other.id}: {one_line(other.goal, GOAL_CHARS)}{where}{close}"


def _meet(one: Task, other: Task) -> bool:
    ours, theirs = (*one.touches, *one.exclusive), (*other.touches, *other.exclusive)
    return any(overlap(a, b) for a in ours for b in theirs)


def _said(task: TaskState) -> str:
    words = [message.text for message in task.talk.said] + ([task.talk.notes] if task.talk.notes else [])
    parts = [word.strip()[:MESSAGE_CHARS] for word in words]
    for asked in task.talk.questions:
        if asked.answer is not None:
            question = quoted(f"Attempt {asked.attempt} asked", asked.message or asked.text, SUMMARY_CHARS)
            parts.append(f"{question}A person answered:\n\n{asked.answer.strip()[:MESSAGE_CHARS]}")
    return "## What people said about this task\n\n" + "\n\n".join(parts) if parts else ""


def _feedback(scene: Scene) -> str:
    return "\n\n".join(part.strip() for part in (*_failed(scene), *_ended(scene.task)) if part)


def _failed(scene: Scene) -> Iterator[str]:
    failure = _last_failure(scene)
    if failure is None:
        return
    begin = "Your workspace has its changes, on top of main: mend or replace them."
    yield (
        f"## What happened to attempt {failure.attempt}\n\n"
        f"It failed at {failure.phase}: {failure.error.value}. "
        f"{begin if scene.is_carried else 'You start again from main, without its changes.'}"
    )
    yield quoted("The failure", failure_text(failure.why), SUMMARY_CHARS)
    yield failure.feedback
    if failure.left_out:
        listed = "".join(f"{one_line(out.text, GOAL_CHARS)}\n" for out in failure.left_out[:LEFT_OUT_SHOWN])
        yield quoted(
            "Files it made that never land (make the change work without them)", listed, SUMMARY_CHARS
        )
    yield quoted(f"What attempt {failure.attempt} had changed, as a diff", scene.diff, DIFF_CHARS, "start")
    yield from _together(scene)


def _together(scene: Scene) -> Iterator[str]:
    """Yield the changes that the check passes with, and without, but not together with this one."""
    for task, diff in scene.others:
        source = f"What {task} changed: it landed before attempt {scene.attempt}, and stays on main"
        yield quoted(source, diff, DIFF_CHARS // len(scene.others), "start")


def _ended(task: TaskState) -> Iterator[str]:
    """Yield the notes of the last session; without its failure, if the prompt has that already."""
    end = task.session.end
    if end is None or any(asked.attempt == end.attempt for asked in task.talk.questions):
        return  # how it ended, and its last words, stand beside the answer that it got
    is_told = any(failure.attempt == end.attempt for failure in task.trouble.failures[-1:])
    if not is_told:
        title = f"## What happened to attempt {end.attempt}"
        yield f"{title}\n\nIts session ended without a result: {end.reason}."
    yield quoted(f"The last words of the agent of attempt {end.attempt}", end.summary, SUMMARY_CHARS)


def _last_failure(scene: Scene) -> Failure | None:
    return scene.task.trouble.failures[-1] if scene.task.trouble.failures else None


async def _diff(repository: Repository, old: str, new: str) -> str:
    try:
        return await repository.diff(old, new)
    except InterlockError:
        return ""  # it was removed by `gc` or a shallow fetch: the rest of the feedback is worth telling
