"""The ignore rules of main, asked for paths that need not exist. No file of an agent has a say."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from interlock.git.command import Git, nul_ended
from interlock.git.files import remove_tree
from interlock.git.place import Place

_NAME = ".gitignore"
_MATCHES = (0, 1)
"""Exit status of `check-ignore`: some match, or none."""


class IgnoreRules:
    """The ignore files of one tree, in a folder of our own."""

    def __init__(self, place: Place, git_dir: Path, folder: Path) -> None:
        self._place = place
        self._git = Git(git_dir, folder, unhurried=True, untrusted=True)
        self._folder = folder
        self._tree = ""
        self._rules: frozenset[tuple[str, str]] | None = None

    async def follow(self, tree: str) -> bool:
        """Use the rules of this tree; True if they are others than before."""
        if tree == self._tree:
            return False
        if self._rules is not None:
            changes = await self._place.git.changes(self._tree, tree)
            if not any(each.path.rpartition(b"/")[2] == _NAME.encode() for each in changes):
                self._tree = tree
                return False
        said = await self._place.git.run("ls-tree", "-r", "-z", "--full-tree", tree)
        entries = (os.fsdecode(entry).partition("\t") for entry in said.out.split(b"\0") if entry)
        found = ((path, words.split()) for words, _, path in entries if path.rpartition("/")[2] == _NAME)
        rules = frozenset((path, words[2]) for path, words in found if words[0] != "120000")
        is_new = rules != self._rules
        if is_new:
            await self._write(sorted(rules))
        self._tree, self._rules = tree, rules
        return is_new

    async def _write(self, rules: Collection[tuple[str, str]]) -> None:
        remove_tree(self._folder)
        self._folder.mkdir()
        contents = await self._place.git.objects([object_id for _, object_id in rules])
        for (path, _), (_, content) in zip(rules, contents, strict=True):
            target = self._folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    async def patterns(self, paths: Collection[str]) -> Mapping[str, str]:
        """The pattern that decides about each of these paths that is ignored."""
        if not paths:
            return {}
        words = ("check-ignore", "--no-index", "--verbose", "-z", "--stdin")
        # A name may begin with a colon, which git would take for more than a name.
        feed = nul_ended(b"./" + os.fsencode(path) for path in paths)
        said = await self._git.run(*words, feed=feed, ok=_MATCHES)
        fields = [os.fsdecode(each) for each in said.out.split(b"\0")[:-1]]
        found = zip(fields[2::4], fields[3::4], strict=True)
        return {path[2:]: pattern for pattern, path in found if not pattern.startswith("!")}
