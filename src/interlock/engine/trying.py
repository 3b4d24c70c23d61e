"""Tries whether a project's checks test the tree they run on: for `doctor`, `init` and before a first run."""

from collections.abc import Mapping, Sequence

from interlock.engine.canary import CanaryTrial, canary_fact, make_canaries, try_canaries
from interlock.engine.environment import environment
from interlock.engine.ledger import Tell
from interlock.engine.loading import load_state
from interlock.engine.preflight import CHECK_SECONDS, NO_INPUTS
from interlock.engine.project import Project
from interlock.events.facts import CanaryTried
from interlock.model.outcome import CheckResult
from interlock.model.task import Tree
from interlock.verify.protocol import CheckOrder
from interlock.verify.wrong_copy import WrongCopy, own_packages, probe, read_probe

PROBE_SECONDS = 60.0


def _tell_nothing(_text: str) -> None:
    """Progress that is not shown."""


async def try_canary(
    project: Project,
    commands: Sequence[str],
    timeout_seconds: float = CHECK_SECONDS,
    usual_seconds: float = 0.0,
    tell: Tell = _tell_nothing,
    inputs: Mapping[str, tuple[str, ...]] = NO_INPUTS,
) -> CanaryTried:
    """Break main on purpose, in up to three places, and see whether these commands notice.

    `usual_seconds`: how long they take on main.
    """
    tip = await project.repository.tip()
    since = (await load_state(project.store)).checks.trusted_tree

    async def check(tree: Tree) -> Sequence[CheckResult]:
        name = f"canary/{tip.commit[:12]}-{tree[:12]}"
        order = CheckOrder(name, tree, tuple(commands), timeout_seconds, {}, inputs=inputs)
        return await project.checker.check(order)

    trial = CanaryTrial(check, tip.tree, usual_seconds, tell)
    canaries = await make_canaries(project.place, tip.tree, commands, since, inputs)
    result = await try_canaries(canaries, trial)
    return canary_fact(result, commands, await environment(project), tip.tree)


async def find_wrong_copy(project: Project, commands: Sequence[str]) -> WrongCopy | None:
    """A package of the project that Python would not import from the tree under check.

    A reason for suspicion, no proof: a test program may have a search path of its own. A canary is the proof.
    """
    packages = own_packages(await project.repository.files())
    if not packages or not commands:
        return None
    tip = await project.repository.tip()
    order = CheckOrder("probe", tip.tree, (probe(packages, commands),), PROBE_SECONDS, {})
    (result,) = await project.checker.check(order)
    return read_probe(result.tail)
