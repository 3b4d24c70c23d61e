"""The examinations of `doctor`. Each looks at one thing, changes nothing, and never stops the others."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from pathlib import Path

from interlock.engine.identity import in_charge
from interlock.engine.ledger import Tell
from interlock.engine.loading import unknown_hint, unknown_text
from interlock.engine.notary import notary_of
from interlock.engine.project import Project
from interlock.engine.publishers import try_publisher
from interlock.engine.settings import load, store_address
from interlock.events.facts import CanaryTried
from interlock.events.record import verify_chain
from interlock.git.command import find_repository
from interlock.git.discover import discover, parse_version
from interlock.git.lineage import read_lineage
from interlock.model.errors import UserError
from interlock.model.sandbox import NO_LIMITS, Limits
from interlock.process.ceilings import ceilings_in_words
from interlock.process.choice import UNSAFE_VARIABLE, SandboxRequest, SandboxTrial, none_is_wanted, try_all
from interlock.process.containment import strongest
from interlock.sandbox.refusals import NoSandbox
from interlock.sandbox.unprivileged import unprivileged
from interlock.ui.actions.observed import record_canary
from interlock.ui.cli.agent_checkup import agent_findings, other_agents
from interlock.ui.cli.check_checkup import Keep, check_findings
from interlock.ui.cli.lacks import hook_findings, lack_findings
from interlock.ui.cli.output import Invocation, note
from interlock.ui.cli.session import actor, opened, opened_fully, read
from interlock.ui.cli.trust import trust_finding
from interlock.ui.examined import (
    branch_findings,
    disk_findings,
    log_bytes,
    machine_findings,
    program_findings,
    state_findings,
)
from interlock.ui.opening import identify
from interlock.ui.plain import counted, listed
from interlock.ui.queries.findings import Finding, Health, bad, good, warning
from interlock.ui.reading import all_rows
from interlock.ui.words.limits import delayed_text

Examination = Callable[[Project], Awaitable[list[Finding]]]


async def check_up(invocation: Invocation, checks: bool, canary: bool) -> list[Finding]:
    """Everything that can be looked at; when there is no usable repository, what that is for."""
    findings = [await _git(invocation.project)]

    async def keep(fact: CanaryTried) -> None:
        async with opened(invocation, create=True) as log:  # before the first run there is none
            await record_canary(log.store, fact, actor())

    tell: Tell = (lambda _text: None) if invocation.wants_json() else note
    try:
        place = await discover(invocation.project)
        findings.append(good("repository", f"{place.work_tree or place.common_dir}"))
        async with opened_fully(invocation, is_owner=False) as project:
            findings += [finding async for finding in _examine(project)]
            if checks:
                findings += [finding async for finding in _checks(project, canary, tell, keep)]
            wanted = project.wanted_sandbox
            limits = project.limits
    except UserError as error:
        findings.append(_bad("repository", error))
        wanted, limits = _without_repository(invocation.project)
    return [*findings, _containment(), *sandbox_findings(wanted, limits)]


def _without_repository(path: Path) -> tuple[SandboxRequest, Limits]:
    """The settings from the environment and from the user's own file."""
    try:
        said = load(path, {}).settings
    except UserError:
        return SandboxRequest(), NO_LIMITS
    limits = Limits(said.memory_limit_bytes, said.process_limit, said.disk_limit_bytes)
    return SandboxRequest(said.sandbox, said.toolchains, said.container_image), limits


async def _examine(project: Project) -> AsyncIterator[Finding]:
    for name, examination in _EXAMINATIONS.items():
        try:
            for finding in await examination(project):
                yield finding
        except UserError as error:
            yield _bad(name, error)


async def _checks(project: Project, canary: bool, tell: Tell, keep: Keep) -> AsyncIterator[Finding]:
    """The checks of the graph, tried. A run that goes on tries them itself, and has the folders for it."""
    if not (project.root / project.settings.graph).exists() or in_charge(await project.store.held()):
        return
    async with aclosing(project):
        try:
            async for finding in check_findings(project, canary, tell, keep):
                yield finding
        except UserError as error:
            yield _bad("checks", error)


def _bad(name: str, error: UserError) -> Finding:
    return bad(name, str(error).splitlines()[0], error.hint)


async def _git(path: Path) -> Finding:
    try:
        said = await find_repository(path, "version")
        major, minor = parse_version(said.line)
    except UserError as error:
        return _bad("git", error)
    return good("git", f"version {major}.{minor}")


async def _signing(project: Project) -> list[Finding]:
    signed = await project.repository.try_signing()
    return [good("signing", "landed commits are signed with your key")] if signed else []


async def _publishing(project: Project) -> list[Finding]:
    how = await try_publisher(project.place, project.publisher)
    return [good("publishing", how)] if how else []


async def _statements(project: Project) -> list[Finding]:
    """Name landed commits without a statement, and a key that cannot sign one."""
    notary = notary_of(project.place, project.settings, project.clean)
    state = (await read(project.store)).state
    if notary is None:
        return []
    signed = await notary.try_signing()
    if text := delayed_text(state):
        return [warning("statements", text, "interlock run")]
    return [good("statements", f"landed commits get a{' signed' if signed else 'n unsigned'} statement")]


async def _log(project: Project) -> list[Finding]:
    await identify(project.store, read_lineage(project.state_dir), note)
    reading = await read(project.store)
    count = verify_chain([row async for row in all_rows(project.store)])
    address = store_address(project.settings, project.state_dir)
    where = "Postgres" if "://" in address else address
    size = log_bytes(project)
    found = f"{count} facts, chain intact" + (f", {size / 1e6:.1f} MB" if size is not None else "")
    findings = [good("log", f"{found} in {where}")]
    if text := unknown_text(reading.state):
        findings.append(bad("facts", text, unknown_hint(reading.state)))
    elif skipped := reading.state.passed_over:
        text = f"{counted(skipped, 'fact')} that this version cannot read and need not know"
        findings.append(warning("facts", text, "install the newest Interlock"))
    if reading.is_live:
        findings.append(good("run", "a run is active"))
    elif reading.state.index.running:
        text = f"{counted(len(reading.state.index.running), 'task')} left by a run that ended"
        findings.append(warning("run", text, "interlock run"))
    else:
        findings.append(good("run", "no run is active"))
    return findings


async def _agents(project: Project) -> list[Finding]:
    if not (project.root / project.settings.graph).exists():
        fix = "interlock init" if project.place.work_tree else project.how_to_begin
        missing = warning("graph", f"no {project.settings.graph} yet", fix)
        return [missing, *other_agents(set())]
    graph = await project.read_graph()
    used = {agent.name: agent for task in graph.tasks for agent in task.candidates}
    findings = [good("graph", counted(len(graph.tasks), "task"))]
    files = await project.repository.files()
    return findings + await agent_findings(project, list(used.values()), files)


async def _trust(project: Project) -> list[Finding]:
    try:
        graph = await project.read_graph()
    except UserError:  # another row is about the graph
        graph = None
    return [trust_finding(project.trust, project.widenings(graph))]


async def _network(project: Project) -> list[Finding]:
    hosts = project.settings.allow_hosts
    besides = f" and {', '.join(hosts)}" if hosts else " and nothing else"
    text = f"agents reach their model{besides}"
    if project.settings.server_fetches == "allow":
        text += '; with server_fetches = "allow", its provider contacts any address for them'
        return [warning("network", text, "interlock config set server_fetches refuse")]
    text += '; its provider contacts no address for them (server_fetches = "refuse")'
    return [good("network", text)]


async def _workspaces(project: Project) -> list[Finding]:
    """Say how workspaces get their files. Without a working sandbox another row reports that."""
    try:
        return [workspace_finding(project.workspaces.why_copies)]
    except NoSandbox:
        return []


def _containment() -> Finding:
    kind = strongest()
    if kind.is_namespace:
        return good("processes", f"all processes of an attempt end with it ({kind.value})")
    text = f"{kind.value}: a process that leaves its process group can outlive its attempt"
    return warning("processes", text, "sysctl kernel.unprivileged_userns_clone=1")


_EXAMINATIONS: dict[str, Examination] = {
    "interlock": program_findings,
    "machine": machine_findings,
    "branch": branch_findings,
    "signing": _signing,
    "publishing": _publishing,
    "statements": _statements,
    "state": state_findings,
    "disk": disk_findings,
    "log": _log,
    "trust": _trust,
    "network": _network,
    "workspaces": _workspaces,
    "graph": _agents,
    "commit hook": hook_findings,
    "set-up": lack_findings,
}


NAMED = 6
"""Toolchains that are named one by one."""


def sandbox_findings(wanted: SandboxRequest, limits: Limits) -> Iterator[Finding]:
    if none_is_wanted():
        text = (
            f"{UNSAFE_VARIABLE} is set: agents and checks run unconfined, and can do everything that you can"
        )
        yield warning("sandbox", text, f"unset {UNSAFE_VARIABLE}")
        yield _limits(limits)
        return
    try:
        tried = try_all(wanted)
    except UserError as error:
        yield bad("sandbox", str(error), error.hint)
        return
    yield from (_failed(each, tried) for each in tried if each.confinement is None)
    works = tried[-1].confinement
    if works is None:
        return
    if works.missing:
        yield warning("sandbox", f"reduced sandbox ({works.kind.value}): {works.missing}")
    else:
        user = unprivileged()
        whom = f", as user {user.uid} and not as root" if user else ""
        text = f"{works.kind.value}: works, tested just now with a program started as agents are{whom}"
        yield good("sandbox", text)
    yield _toolchains(works.toolchains.folders)
    if tracked := works.toolchains.left_out:
        text = f"git tracks files of {listed(tracked, NAMED)}, so the Python it names is not in the sandbox"
        yield warning("toolchains", text, "create the virtual environment anew, untracked")
    yield _limits(limits)


def workspace_finding(why_copies: str) -> Finding:
    if not why_copies:
        text = "overlays: agents and checks work at the path of your checkout, and change nothing there"
        return good("workspaces", text)
    text = f"copies at their own path, without the files that git ignores in your checkout: {why_copies}"
    return warning("workspaces", text)


def _failed(each: SandboxTrial, tried: tuple[SandboxTrial, ...]) -> Finding:
    """Report a sandbox that failed: an error if none works, a hint if a weaker one does."""
    health = Health.WARNING if tried[-1].confinement else Health.BAD
    return Finding("sandbox", health, f"{each.kind.value}: {each.message}", each.fix)


def _toolchains(folders: tuple[str, ...]) -> Finding:
    if not folders:
        return good("toolchains", "only the system's own programs")
    return good("toolchains", f"read-only: {listed(folders, NAMED)}")


def _limits(limits: Limits) -> Finding:
    holds = ceilings_in_words()
    parts = [
        f"memory {limits.memory_bytes / (1 << 30):.3g} GiB ({holds['memory']})"
        if limits.memory_bytes
        else "",
        f"{limits.processes} processes ({holds['processes']})" if limits.processes else "",
        f"disk {limits.disk_bytes / (1 << 30):.3g} GiB ({holds['disk']})" if limits.disk_bytes else "",
    ]
    return good("limits", ", ".join(filter(None, parts)) or "none are set")
