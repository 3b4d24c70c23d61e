"""Makes the folder of a workspace or a check: the parts that all have in common, and its own."""

import asyncio
import shutil

from interlock.git.attempt import AttemptFolder, agent_branch
from interlock.git.command import LONG_AGO, Git, to_the_end
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


async def dedicate_to_check(folder: AttemptFolder, tree: str) -> None:
    """A git dir for a check, which may call git: one commit without a parent, holding exactly the tree."""
    git = Git(folder.private, variables=LONG_AGO)
    commit = (await git.run("commit-tree", tree, feed=b"The tree under check\n")).line
    (folder.private / "HEAD").write_text(f"{commit}\n")
