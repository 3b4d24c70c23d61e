"""Runs checks on main itself and records the results as facts, by which changes are judged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from interlock.engine.env import Env
from interlock.engine.known import LookUp, never, run_known
from interlock.events.facts import BaseChecked, CheckFlaked
from interlock.model.errors import EnvironmentProblem, StaleEpoch
from interlock.model.outcome import CheckResult, Tip
from interlock.model.suite import SuiteResult, Unable
from interlock.model.task import TaskId
from interlock.verify.protocol import CheckOrder

TAIL_CHARS = 2_000
"""The part of a check's output that the log keeps if the check holds tasks back."""

RUNS, RUNS_AFTER_A_PASS = 2, 4
"""Times that a check must fail on main until it counts as red, and on files on which it has passed before."""

MOST_NAMES = 3_000
"""The most names of passing tests that the log keeps of a suite; of a larger one it keeps their number."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Place, time limit and environment of checks on main."""

    main: Tip
    timeout_seconds: float
    environment: str
    changed: tuple[str, ...] = ()
    """Files of a change of which to say whether the checks edit them on main too."""
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Globs of the files that checks see, for those that do not see all."""
    look_up: LookUp = never
    """Finds results that are known from the same files."""
    has_passed: Callable[[CheckResult], bool] = lambda _: False
    """Tells if a check that is red now has passed before on the same files."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The values that the checks have leased."""


async def tried_on_main(
    env: Env, trial: Trial, commands: Sequence[str], promised: Sequence[str] = ()
) -> list[BaseChecked | CheckFlaked]:
    """Try checks on main. A red one of `commands` is run again: a flake must not excuse later changes.

    Of `promised` it only matters whether they can run.
    """
    try:
        first = await _run(env, trial, (*commands, *promised), "run-1")
        found = {check.command: check for check in first}
        flaked = await _run_red_again(env, trial, found, commands)
    except StaleEpoch:
        raise
    except EnvironmentProblem as problem:
        about = str(problem)
        results = [CheckResult(c, 1, unable=Unable.MACHINE, about=about) for c in (*commands, *promised)]
        seen = (replace(result, inputs=trial.inputs.get(result.command, ())) for result in results)
        return [base_fact(trial, result) for result in seen]
    facts = [
        replace(base_fact(trial, _unnamed(result)), promised=True)
        if result.command in promised
        else base_fact(trial, result)
        for result in found.values()
    ]
    return [*flaked, *facts]


async def _run_red_again(
    env: Env, trial: Trial, found: dict[str, CheckResult], commands: Sequence[str]
) -> list[CheckFlaked]:
    """Put the results of all runs in the place of the first red ones; return the flakes."""
    flaked = []
    for number in range(2, RUNS_AFTER_A_PASS + 1):
        red = {c: found[c] for c in commands if not found[c].passed and not found[c].unable}
        due = [c for c, result in red.items() if number <= RUNS or trial.has_passed(result)]
        for again in await _run(env, trial, due, f"run-{number}"):
            before = found[again.command]
            both = found[again.command] = _both(before, again)
            if both.passed:
                flaked.append(flake(before, again))
    return flaked


def flake(red: CheckResult, green: CheckResult) -> CheckFlaked:
    """Return the fact about a check that failed and passed on the same files of main."""
    where = (green.saw, green.environment)
    return CheckFlaked(TaskId(""), 0, red.command, *where, red.log, green.log)


async def _run(env: Env, trial: Trial, commands: Sequence[str], name: str) -> Sequence[CheckResult]:
    if not commands:
        return []
    order = CheckOrder(
        f"base/{trial.main.commit[:12]}-{name}",
        trial.main.tree,
        tuple(commands),
        trial.timeout_seconds,
        dict(trial.variables),
        leased=True,
        changed=trial.changed,
        inputs=trial.inputs,
    )
    # What it edits of a change's files is only found out by running it.
    results = await run_known(env, order, never if trial.changed else trial.look_up)
    return [replace(result, edited=(), rewrites=result.edited, change="") for result in results]


def base_fact(trial: Trial, result: CheckResult) -> BaseChecked:
    """Return the fact about a result on main."""
    kept = _green(result) if result.passed else replace(result, tail=result.tail[-TAIL_CHARS:])
    return BaseChecked(
        trial.main.tree, result.command, result.exit_code, result=kept, environment=trial.environment
    )


def _green(result: CheckResult) -> CheckResult:
    """Keep the names of the tests that passed: a change that removes one is then told which."""
    few = result.suite and len(result.suite.passed) <= MOST_NAMES
    suite = result.suite and replace(result.suite, passed=result.suite.passed if few else (), beside=())
    return replace(result, suite=suite, tail="")


def _unnamed(result: CheckResult) -> CheckResult:
    """Drop the parts that nothing is compared with."""
    suite = result.suite and replace(result.suite, passed=(), failed=(), beside=())
    return replace(result, suite=suite, tail="" if result.passed else result.tail)


def _both(first: CheckResult, second: CheckResult) -> CheckResult:
    """Combine two runs. A test that passed once is not known to fail."""
    if second.passed or second.unable:
        return second
    one, other = first.suite, second.suite
    if not (other and other.names_failures):
        return second
    if not (one and one.names_failures):
        return first
    failed, passed = _in_both(one.failed, other.failed), _in_both(one.passed, other.passed)
    beside = tuple(dict.fromkeys((*one.beside, *other.beside)))
    least = min(one.passed_count, other.passed_count)
    suite = SuiteResult(passed, failed, least, len(failed), beside=beside)
    # Every test has passed once: nothing is known to fail.
    return replace(second, suite=suite, exit_code=second.exit_code if failed else 0)


def _in_both(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    others = set(other)
    return tuple(name for name in one if name in others)
