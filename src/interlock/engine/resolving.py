"""Resolves conflicts of merges: generated files by the graph's `regenerate`, others as the person did before
(git's rerere), or by mergiraf.

Rules:
1. A command runs as a check does: in the sandbox, on a tree, with the same limits. The tree holds
   what an agent wrote, so nothing that the command does is trusted.
2. Of what it leaves, only the conflicting files are taken: plain ones of bounded size, found without
   following a link, without secrets. They keep the mode that they have on main.
3. A generated file that is still as main has it is not resolved: what the change did there would be lost.
4. A conflict is resolved as a whole or not at all, and only if it is about the content of plain files.
5. The result is a merged tree like any other: it lands only if its checks pass.
6. The same conflict is resolved once: a build and the check on main get the same tree.
"""

import asyncio
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from interlock.git.conflicts import Content, with_contents, write_blob
from interlock.git.files import read_beneath
from interlock.git.place import Place
from interlock.git.rerere import is_used, recall
from interlock.model.globs import matches
from interlock.model.obstacle import Obstacle
from interlock.model.outcome import CheckResult, Clash, Merge, Resolved, Unresolved
from interlock.model.task import TaskId, Tree
from interlock.run.network import Way
from interlock.verify.protocol import Checker, CheckOrder

MOST_BYTES = 32 << 20
"""The largest file that is taken."""
MOST_KNOWN = 200
STRUCTURAL_SECONDS = 60.0
STRUCTURAL, RECALLED = "mergiraf", "git rerere"
_FOLDER = "files"
"""The folder of the files that mergiraf gets."""
_MARKER = "\n<<<<<<< "


@dataclass(frozen=True, slots=True)
class Job:
    """The phase or build that a merge is for."""

    name: str
    """Names the evidence."""
    task: TaskId
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class ResolverMeans:
    """The tools to resolve conflicts with."""

    checker: Checker
    network: Callable[[], AbstractAsyncContextManager[Way]]
    """Opens the way to the hosts that the user allows."""
    clean: Callable[[str], str]
    """Takes secrets out of a text."""


async def keep(merge: Merge, _job: Job) -> Merge:
    """Leave a conflict as it is."""
    return merge


class Resolver:
    """Resolves the conflicts of one project."""

    def __init__(self, place: Place, means: Callable[[], ResolverMeans], mergiraf: str = "") -> None:
        """`means` is asked only when there is a conflict. `mergiraf`: the path of the program."""
        self.commands: Mapping[str, str] = {}
        """The command that makes the files which match a glob: the graph's `regenerate`."""
        self._place = place
        self._ask_means = means
        self._mergiraf = mergiraf
        self._known: dict[tuple[object, ...], Merge] = {}
        self._one_at_a_time = asyncio.Lock()

    @cached_property
    def _means(self) -> ResolverMeans:
        return self._ask_means()

    async def resolve(self, merge: Merge, job: Job) -> Merge:
        """Return the merge with its conflict resolved; if that fails, the conflict."""
        if merge.marked is None:
            return merge
        commands = {clash.path: self._command(clash.path) for clash in merge.clashes}
        if not (self._mergiraf or all(commands.values()) or is_used(self._place)):
            return merge
        ours = {clash.path: Content(clash.mode, clash.ours) for clash in merge.clashes}
        tree = await with_contents(self._place, merge.marked, ours)
        key = (tree, merge.clashes, *commands.items())
        async with self._one_at_a_time:
            if key not in self._known:
                found = await self._resolve(merge, tree, commands, job)
                if found.tree is None:
                    return found
                self._known[key] = found
                while len(self._known) > MOST_KNOWN:
                    del self._known[next(iter(self._known))]
            return self._known[key]

    def _command(self, path: str) -> str:
        return next((command for glob, command in self.commands.items() if matches(glob, path)), "")

    async def _resolve(self, merge: Merge, tree: Tree, commands: Mapping[str, str], job: Job) -> Merge:
        """Resolve all files. `tree` is the merged one, with main's version of each."""
        resolved = list[Resolved]()
        edited = [clash for clash in merge.clashes if not commands[clash.path]]
        if edited:
            recalled = await self._recall(merge, edited)
            others = [clash for clash in edited if clash.path not in recalled]
            merged = await self._merge_structures(others, job) if others and self._mergiraf else {}
            if len(recalled) + len(merged) < len(edited):
                return merge
            tree = await with_contents(self._place, tree, recalled | merged)
            resolved += [Resolved(path, RECALLED) for path in recalled]
            resolved += [Resolved(path, STRUCTURAL) for path in merged]
        for command in dict.fromkeys(filter(None, commands.values())):
            generated = [clash for clash in merge.clashes if commands[clash.path] == command]
            made = await self._regenerate(tree, command, generated, job)
            if isinstance(made, Unresolved):
                return replace(merge, unresolved=made)
            tree = await with_contents(self._place, tree, made)
            resolved += [Resolved(path, command) for path in made]
        return Merge(tree, resolved=tuple(resolved))

    async def _recall(self, merge: Merge, clashes: Sequence[Clash]) -> dict[str, Content]:
        if merge.marked is None or not is_used(self._place):
            return {}
        return await recall(self._place, merge.marked, clashes)

    async def _regenerate(
        self, tree: Tree, command: str, clashes: Sequence[Clash], job: Job
    ) -> dict[str, Content] | Unresolved:
        """Run a command on the tree; return the new content of these files, or what is wrong."""
        async with self._means.network() as way:
            order = replace(
                _order(tree, command, job), env=dict(way.env), forwarded_ports=way.forwarded_ports
            )
            result, texts = await self._run(order, [clash.path for clash in clashes])
        if not result.passed:
            return Unresolved(result, Obstacle.FAILED)
        made = {}
        for clash in clashes:
            text = texts[clash.path]
            if text is None:
                return Unresolved(result, Obstacle.UNUSABLE, clash.path)
            if self._means.clean(text) != text:
                return Unresolved(result, Obstacle.LEAK, clash.path)
            content = Content(clash.mode, await write_blob(self._place, _bytes(text)))
            if content.object_id == clash.ours:
                return Unresolved(result, Obstacle.UNCHANGED, clash.path)
            made[clash.path] = content
        return made

    async def _merge_structures(self, clashes: Sequence[Clash], job: Job) -> dict[str, Content]:
        """Let mergiraf merge these files; nothing if it cannot merge all of them."""
        empty, files, commands = await write_blob(self._place, b""), dict[str, Content](), list[str]()
        merged = {}
        for number, clash in enumerate(clashes):
            home, name = f"{_FOLDER}/{number}", PurePosixPath(clash.path).name
            sides = {"base": clash.base or empty, "left": clash.ours, "right": clash.theirs}
            files |= {f"{home}/{side}/{name}": Content("100644", blob) for side, blob in sides.items()}
            merged[clash.path] = f"{home}/merged"
            words = [self._mergiraf, "merge", *(f"{home}/{side}/{name}" for side in sides)]
            commands.append(f"{shlex.join([*words, '-p', clash.path])} > {home}/merged")
        command = " && ".join(commands)
        order = replace(
            _order(await with_contents(self._place, None, files), command, job),
            timeout_seconds=min(filter(None, (job.timeout_seconds, STRUCTURAL_SECONDS))),
            inputs={command: (f"{_FOLDER}/**",)},
            needs_setup=False,
        )
        result, texts = await self._run(order, list(merged.values()))
        made = {}
        for clash in clashes if result.passed else ():
            text = texts[merged[clash.path]]
            if text is None or _MARKER in f"\n{text}" or self._means.clean(text) != text:
                return {}
            made[clash.path] = Content(clash.mode, await write_blob(self._place, _bytes(text)))
        return made

    async def _run(
        self, order: CheckOrder, paths: Sequence[str]
    ) -> tuple[CheckResult, Mapping[str, str | None]]:
        """Run the command of an order; its result, and what these files hold then."""
        texts: dict[str, str | None] = {}

        def collect(folder: Path) -> None:
            for path in paths:
                text = read_beneath(folder, path, MOST_BYTES + 1)
                texts[path] = None if text is None or len(_bytes(text)) > MOST_BYTES else text

        (result,) = await self._means.checker.check(replace(order, collect=collect))
        return result, texts


def _order(tree: Tree, command: str, job: Job) -> CheckOrder:
    name = f"{job.name}/merge"
    return CheckOrder(name, tree, (command,), job.timeout_seconds, {}, leased=True, task=job.task)


def _bytes(text: str) -> bytes:
    """Return the content of a file that was read as text."""
    return text.encode("utf-8", "surrogateescape")


def find_mergiraf(root: Path) -> str:
    """Return the path of mergiraf; empty if it is not installed, or is a file of the repository."""
    found = shutil.which(STRUCTURAL)
    return found if found and not Path(found).resolve().is_relative_to(root.resolve()) else ""
