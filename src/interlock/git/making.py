"""Makes the folder of a workspace or a check: the parts that all have in common, and its own."""

import asyncio
import shutil
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

from interlock.git.attempt import AttemptFolder, agent_branch
from interlock.git.command import COMMITTER, Git, to_the_end
from interlock.git.layout import LAYERED, NOTHING_MORE, point_to, write_git_dir
from interlock.git.place import Place


async def make_git_dirs(place: Place, folder: AttemptFolder, *, layered: bool) -> None:
    """Write the git dirs in a thread. That cannot be stopped, and the folder must stay until it ends."""
    await to_the_end(asyncio.to_thread(_write_git_dirs, place, folder, layered))


def _write_git_dirs(place: Place, folder: AttemptFolder, layered: bool) -> None:
    """The private one, and for files that are copied the trusted one, which checks them out."""
    more, objects = LAYERED if layered else NOTHING_MORE, [str(place.objects)]
    write_git_dir(folder.private, place, "ref: refs/heads/none", objects, more)
    if not layered:
        write_trusted(place, folder)
        folder.tree.mkdir()
        point_to(folder.tree, "../private.git")


def write_trusted(place: Place, folder: AttemptFolder) -> None:
    write_git_dir(folder.trusted, place, "ref: refs/heads/none", [str(place.objects)])


async def copy_files(folder: AttemptFolder, tree: str) -> None:
    """The files of a commit or tree, and the index of them for both git dirs."""
    await Git(folder.trusted, folder.tree).run("read-tree", "--reset", "-u", tree)
    for copy in (folder.index, folder.private / "index"):
        shutil.copy2(folder.trusted / "index", copy)  # with its time: see `snapshot`


def dedicate(place: Place, folder: AttemptFolder, task: str, base: str, head: str) -> None:
    """The agent's git dir on a branch of the task, which stands at `head`."""
    branch = agent_branch(task)
    (folder.private / "HEAD").write_text(f"ref: {branch}\n")
    refs = {branch: head}
    if place.branch.split("/")[0] != "task":
        refs[place.ref] = base  # so that an agent can ask what it changed since main
    # In one file: a branch by itself would take three folders more.
    (folder.private / "packed-refs").write_text("".join(f"{refs[ref]} {ref}\n" for ref in sorted(refs)))


def dedicate_to_check(place: Place, folder: AttemptFolder, tree: str) -> None:
    """A git dir for a check, which may call git: one commit without a parent, holding exactly the tree."""
    who = "Interlock <interlock@localhost> 0 +0000"
    content = f"tree {tree}\nauthor {who}\ncommitter {who}\n\nThe tree under check\n".encode()
    commit = write_commit(folder.private / "objects", place, content)
    (folder.private / "HEAD").write_text(f"{commit}\n")


# Commit objects as text, so that no git has to run to word one.

_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
"""Characters that git strips from both ends of a name."""


def commit_text(place: Place, tree: str, parents: Sequence[str], message: str) -> bytes:
    """A commit of now, by the author of this place."""
    now = time.time()
    stamp = f"{int(now)} {time.strftime('%z', time.localtime(now))}"
    return "\n".join(
        [
            f"tree {tree}",
            *(f"parent {parent}" for parent in parents),
            f"author {_person(*place.author)} {stamp}",
            f"committer {_person(*COMMITTER)} {stamp}",
            "",
            message,
        ]
    ).encode("utf-8", "surrogateescape")


def write_commit(objects: Path, place: Place, content: bytes) -> str:
    """Put a commit into an object store of our own: one that no power cut has to spare. Its id."""
    commit = place.object_id("commit", content)
    loose = objects / commit[:2] / commit[2:]
    loose.parent.mkdir(exist_ok=True)
    fresh = loose.with_suffix(".new")
    fresh.write_bytes(zlib.compress(f"commit {len(content)}\0".encode() + content, 1))
    fresh.replace(loose)
    return commit


def _person(name: str, email: str) -> str:
    return f"{_plain(name) or COMMITTER[0]} <{_plain(email)}>"


def _plain(text: str) -> str:
    """Remove the characters that would end a name or an address early."""
    return text.strip(_CRUD).translate({ord(sign): None for sign in "<>\n"})
