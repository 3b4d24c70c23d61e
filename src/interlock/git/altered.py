"""Trees that nothing refers to: one file of a tree replaced. What they hold goes with git's next cleaning."""

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from interlock.git.files import SCRATCH
from interlock.git.place import Place
from interlock.model.task import Tree

_PLAIN = ("100644", "100755")


async def list_files(place: Place, tree: Tree) -> list[tuple[str, int]]:
    """The plain files of a tree with their sizes. A name that is no UTF-8 is left out."""
    said = await place.git.run("ls-tree", "-r", "-l", "-z", tree)
    found = []
    for line in said.out.split(b"\0"):
        about, _, name = line.partition(b"\t")
        words = about.decode("ascii").split()
        if len(words) == 4 and words[0] in _PLAIN and words[3].isdigit():
            try:
                found.append((name.decode("utf-8"), int(words[3])))
            except UnicodeDecodeError:
                continue
    return found


async def read_texts(place: Place, tree: Tree, paths: Sequence[str]) -> dict[str, str]:
    """The text of these files of a tree. What is no text, or has a line break in its name, is left out."""
    named = [path for path in paths if "\n" not in path]
    texts = {}
    found = await place.git.objects([f"{tree}:{path}" for path in named])
    for path, (kind, content) in zip(named, found, strict=True):
        with contextlib.suppress(UnicodeDecodeError):
            if kind:
                texts[path] = content.decode("utf-8")
    return texts


async def with_file(place: Place, tree: Tree, path: str, *texts: str) -> list[Tree]:
    """The tree with other text in one of its files, once for each text."""
    git = place.git
    mode = (await git.run("ls-tree", "-z", tree, "--", path)).out[:6].decode("ascii")
    made = []
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
        aside = git.having(GIT_INDEX_FILE=str(Path(folder, "index")))
        await aside.run("read-tree", tree)
        for text in texts:
            blob = (await git.run("hash-object", "-w", "--stdin", feed=text.encode())).line
            feed = f"{mode} {blob}\t{path}\0".encode()
            await aside.run("update-index", "-z", "--index-info", feed=feed)
            made.append(Tree((await aside.run("write-tree")).line))
    return made
