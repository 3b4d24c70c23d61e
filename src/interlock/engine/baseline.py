"""Runs checks on main itself and records the results as facts, by which changes are judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from interlock.engine.env import Env
from interlock.engine.known import LookUp, never, run_known
from interlock.events.facts import BaseChecked
from interlock.model.errors import EnvironmentProblem, StaleEpoch
from interlock.model.outcome import CheckResult, Tip
from interlock.model.suite import SuiteResult, Unable
from interlock.verify.protocol import CheckOrder

TAIL_CHARS = 2_000
"""The part of a check's output that the log keeps if the check holds tasks back."""

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


async def tried_on_main(
    env: Env, trial: Trial, commands: Sequence[str], promised: Sequence[str] = ()
) -> list[BaseChecked]:
    """Try checks on main. A red one of `commands` is run twice: a flake must not excuse later changes.

    Of `promised` it only matters whether they can run.
    """
    try:
        first = await _run(env, trial, (*commands, *promised), "first")
        red = {check.command for check in first if not check.passed and not check.unable}
        again = await _run(env, trial, [command for command in commands if command in red], "again")
    except StaleEpoch:
        raise
    except EnvironmentProblem as problem:
        about = str(problem)
        results = [CheckResult(c, 1, unable=Unable.MACHINE, about=about) for c in (*commands, *promised)]
        seen = (replace(result, inputs=trial.inputs.get(result.command, ())) for result in results)
        return [_fact(trial, result) for result in seen]
    seconds = {check.command: check for check in again}
    results = [_both(check, seconds.get(check.command)) for check in first]
    return [
        replace(_fact(trial, _unnamed(result)), promised=True)
        if result.command in promised
        else _fact(trial, result)
        for result in results
    ]


async def _run(env: Env, trial: Trial, commands: Sequence[str], name: str) -> Sequence[CheckResult]:
    if not commands:
        return []
    order = CheckOrder(
        f"base/{trial.main.commit[:12]}-{name}",
        trial.main.tree,
        tuple(commands),
        trial.timeout_seconds,
        {},
        leased=True,
        changed=trial.changed,
        inputs=trial.inputs,
    )
    # What it edits of a change's files is only found out by running it.
    results = await run_known(env, order, never if trial.changed else trial.look_up)
    return [replace(result, edited=(), rewrites=result.edited, change="") for result in results]


def _fact(trial: Trial, result: CheckResult) -> BaseChecked:
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


def _both(first: CheckResult, second: CheckResult | None) -> CheckResult:
    """Combine two runs. A test that passed once is not known to fail."""
    if second is None or second.passed or second.unable:
        return second or first
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
