"""Breaks the code on purpose, once, and sees whether the project's checks notice.

Rules:
1. What is broken comes from main; never from the change that is checked. It is no file that decides how the
   checks run, and after a landing that edits such a file or removes tests, none that has changed since the
   checks last noticed a break: a test program that an agent has landed would notice a break in its own files,
   and no other.
2. Where the checks noticed, that holds until a change lands that removes tests or edits how they run; where
   they did not, the next run tries again, because a person may have mended them.
3. It is tried when a change would be called verified for the first time: nothing starts later because of it.
4. It has a bound on its time. Checks that take longer are not tried by a break, and the evidence says so.
5. A red check has noticed a canary if its output says what only running the break says. Otherwise the same
   test must fail in each of three runs on the canary, and in none of two on its calm twin, whose text differs
   in one sign and breaks nothing. A test that fails now and then has noticed nothing, and neither has a
   linter, which reads the code and does not run it.
6. A build that fails shows that the code is compiled, not that it is tested: then the next place is tried.
"""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from interlock.engine.env import Env
from interlock.engine.known import is_seen, run_known
from interlock.engine.turn import KnownChecks, Turn
from interlock.events.facts import CanaryTried
from interlock.git.altered import list_files, read_texts, with_file
from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.model.canary import PLACES, Canary, CanaryResult, canary_key
from interlock.model.outcome import CheckResult
from interlock.model.steering import steering
from interlock.model.task import Tree
from interlock.train import judge
from interlock.verify.breaking import SAID, Break, breaks
from interlock.verify.protocol import CheckOrder
from interlock.verify.sources import SHELL, Listed, Selection, extension, select, select_scripts

PATIENCE_SECONDS, PATIENCE_TIMES = 30.0, 3.0
MOST_SECONDS = 300.0
"""Time for all canaries of a project together."""
ROUNDS = 2
"""A test that fails half of the time passes for one that noticed in one of 32 trials."""
TELL_SECONDS = 30.0


async def canary_of(env: Env, turn: Turn, usual_seconds: float) -> CanaryResult | None:
    """Return the result of a canary, known or tried now. `usual_seconds`: the usual time of the checks.

    Changes that are checked at the same time share one trial.
    """
    commands = turn.task.spec.verify
    known = turn.checks.canary()
    if not commands or (known and (known.is_settled or (known.run == turn.run and _is_of_code(known)))):
        return known
    async with env.trials.one_at_a_time:
        while True:
            key = f"{canary_key(commands, turn.checks.environment)} {turn.checks.steered()}"
            if key not in env.trials.found or not _is_of_code(env.trials.found[key]):
                env.trials.found[key] = await _try_now(env, turn, usual_seconds)
            if key.endswith(f" {turn.checks.steered()}"):  # else such a change landed during the trial
                return env.trials.found[key]


def _is_of_code(result: CanaryResult) -> bool:
    """Return False if there was nothing to break: what lands may be the first source code."""
    return bool(result.places) or result.given_up


async def _try_now(env: Env, turn: Turn, usual_seconds: float) -> CanaryResult:
    commands = turn.task.spec.verify
    main = await turn.see_main()

    async def check(tree: Tree) -> Sequence[CheckResult]:
        name = f"canary/{main.commit[:12]}-{tree[:12]}"
        order = check_order(turn.checks, name, tree, commands)
        limit = patience(order.timeout_seconds, usual_seconds)
        # A check that does not see the broken file ends as it does on main.
        results = await run_known(env, replace(order, timeout_seconds=limit), turn.checks.known)
        # What fails on main too has not noticed anything.
        base = {command: found for command in commands if (found := turn.checks.on_main(main.tree, command))}
        judged = judge(results, replace(turn.task.spec, done_when=()), base, {}).checks
        return [replace(check, exit_code=0) if check.red_on_base else check for check in judged]

    trial = CanaryTrial(check, main.tree, usual_seconds, turn.tell)
    inputs = dict(turn.task.spec.inputs)
    canaries = await env.canaries(main.tree, commands, turn.checks.trusted_tree(), inputs)
    result = await try_canaries(canaries, trial)
    if _is_of_code(result) or turn.checks.canary() is None:
        await turn.note([canary_fact(result, commands, turn.checks.environment, main.tree)])
    return result


def canary_fact(result: CanaryResult, commands: Sequence[str], environment: str, tree: Tree) -> CanaryTried:
    """The result of a trial, for the log."""
    return CanaryTried(
        tuple(commands),
        environment,
        result.noticed,
        result.places,
        result.seconds,
        tree=tree,
        given_up=result.given_up,
        by_build=result.by_build,
        noticed_by=result.noticed_by,
    )


def check_order(checks: KnownChecks, name: str, tree: Tree, commands: tuple[str, ...]) -> CheckOrder:
    """Commands of a task to run on a tree, as long as its controller is in charge."""
    return CheckOrder(
        name,
        tree,
        commands,
        checks.task.check_seconds,
        dict(checks.variables),
        leased=True,
        pace={command: pace for command in commands if (pace := checks.pace(command))},
        inputs=dict(checks.task.inputs),
    )


def patience(limit_seconds: float, usual_seconds: float) -> float:
    """Return the time limit of a command on a canary. Broken code may hang, and that counts as noticed."""
    return min(limit_seconds, PATIENCE_SECONDS + PATIENCE_TIMES * usual_seconds)


@dataclass(frozen=True, slots=True)
class CanaryTrial:
    """The means to try a canary with."""

    check: Callable[[Tree], Awaitable[Sequence[CheckResult]]]
    """Runs the project's checks on a tree."""
    main: Tree
    """The tree that nothing is broken in."""
    usual_seconds: float
    """The time that the checks take on it."""
    tell: Callable[[str], None] = lambda _text: None

    async def run(self, tree: Tree, broken: str) -> Sequence[CheckResult]:
        """Run the checks, and say from time to time that they still do."""

        async def tell() -> None:
            for count in itertools.count(1):
                await asyncio.sleep(TELL_SECONDS)
                took = f"{count * TELL_SECONDS:.0f} s"
                self.tell(f"the checks still run, to see whether they notice {broken} ({took})")

        telling = asyncio.create_task(tell())
        try:
            return await self.check(tree)
        finally:
            telling.cancel()


async def try_canaries(canaries: Sequence[Canary], trial: CanaryTrial) -> CanaryResult:
    """Run the checks on one canary after the other, until one is noticed or rule 4 ends it."""
    places: list[str] = []
    seconds, by_build = 0.0, False
    clock = asyncio.get_running_loop().time
    ends = clock() + MOST_SECONDS
    for canary in canaries:
        if clock() + trial.usual_seconds > ends:
            trial.tell(f"no more code is broken on purpose: the limit is {MOST_SECONDS:.0f} s in all")
            return CanaryResult(False, tuple(places), seconds, given_up=True, by_build=by_build)
        trial.tell(f"breaking {canary.name} on purpose, to see whether the checks notice")
        results = await trial.run(canary.tree, canary.name)
        places.append(canary.name)
        seconds = sum(result.seconds for result in results)
        seen = await _seen(canary, results, trial)
        if seen.by_running and not _is_by_build(canary, results):
            return CanaryResult(True, tuple(places), seconds, noticed_by=seen.by_running)
        by_build = by_build or bool(seen.by_running) or seen.by_reading
    return CanaryResult(False, tuple(places), seconds, by_build=by_build)


def _is_by_build(canary: Canary, results: Sequence[CheckResult]) -> bool:
    """Return True if all red checks ended because the broken file does not compile (rule 6)."""
    file = re.escape(PurePosixPath(canary.path).name)
    compiler = re.compile(rf"\b{file}:\d+(:\d+)?: (fatal )?error\b")
    red = [result for result in results if not result.passed]
    return canary.calm is None or all(
        SAID not in result.tail and compiler.search(result.tail) is not None for result in red
    )


class _Seen(NamedTuple):
    """The checks that are red because of a canary."""

    by_running: tuple[str, ...] = ()
    by_reading: bool = False
    """One is as red on the calm twin of the canary."""


async def _seen(canary: Canary, results: Sequence[CheckResult], trial: CanaryTrial) -> _Seen:
    """Find out which checks are red, and whether it is the break that makes them red (rule 5)."""
    red = [result for result in results if not result.passed]
    said = tuple(result.command for result in red if SAID in result.tail)
    if said or not red:
        return _Seen(said)
    trial.tell(
        f"the checks failed without naming {canary.name}: running them again with and without it broken"
    )
    broken = by_text = _failures(results)
    for _ in range(ROUNDS):
        calm = _failures(await trial.run(canary.calm or trial.main, canary.name))
        broken, by_text = broken - calm, by_text & calm
        if not broken:
            break
        broken &= _failures(await trial.run(canary.tree, canary.name))
    return _Seen(tuple(sorted({command for command, _ in broken})), bool(by_text))


def _failures(results: Sequence[CheckResult]) -> set[tuple[str, str]]:
    """Each failing test with its command; the command alone where its report does not name them all."""
    red = [result for result in results if not result.passed]
    return {
        (result.command, test)
        for result in red
        for test in (result.suite.failed if result.suite and result.suite.names_failures else ("",))
    }


async def make_canaries(
    place: Place,
    tree: Tree,
    commands: Sequence[str],
    since: Tree,
    inputs: Mapping[str, tuple[str, ...]],
    most: int = PLACES,
) -> Sequence[Canary]:
    """Trees with one place broken, the likeliest to be noticed first; none where there is no source.

    `since`: the tree that the files to break are the same in; empty: any tree. Its tests say which functions
    to break, so that those whose tests were removed are among them. Only a file that one of the commands sees
    is broken.
    """
    sights = [inputs.get(command, ()) for command in commands]

    async def selected(files_of: Tree) -> Selection:
        files = await list_files(place, files_of)
        seen = [Listed(path, size) for path, size in files if any(is_seen(path, globs) for globs in sights)]
        found = select(seen)
        return found if found.sources else select_scripts(seen)

    selection, teller = await selected(tree), tree
    if since:
        with suppress(GitFailed):  # main was moved back, and git has cleaned up
            selection, teller = replace(selection, tests=(await selected(since)).tests), since
    doubtful = {*steering(selection.sources, commands), *await _changed(place, since, tree)}
    tested = tuple(path for path in selection.sources if path not in doubtful)
    told = await read_texts(place, teller, selection.tests)
    if selection.sources and extension(selection.sources[0]) in SHELL:
        # A script that no test names is a helper, and one that the checks run would notice its own break.
        tested = tuple(
            path for path in tested if any(PurePosixPath(path).name in text for text in told.values())
        )
        selection = replace(selection, sources=tested)
    elif tested:
        selection = replace(selection, sources=tested)
    texts = {**told, **await read_texts(place, tree, selection.sources)}
    broken = await asyncio.to_thread(breaks, selection, texts, most)
    return [await _made(place, tree, one) for one in broken]


async def _changed(place: Place, old: Tree, new: Tree) -> list[str]:
    if not old:
        return []
    try:
        return [each.path.decode("utf-8", "replace") for each in await place.git.changes(old, new)]
    except GitFailed:  # main was moved back, and git has cleaned up
        return []


async def _made(place: Place, tree: Tree, one: Break) -> Canary:
    texts = (one.text,) if one.is_for_compilers else (one.text, one.calm)
    return Canary(one.name, one.path, *await with_file(place, tree, one.path, *texts))
