"""How the folder of a workspace is made: what is the same for all of them, and what is one attempt's own."""

import asyncio
import shutil

from interlock.git.attempt import AttemptFolder, agent_branch
from interlock.git.command import Git, in_any_case
from interlock.git.layout import point_to, write_git_dir
from interlock.git.place import Place


async def make_git_dirs(place: Place, folder: AttemptFolder) -> None:
    """In a thread. That cannot be stopped, and nobody may remove the folder under its hands."""
    await in_any_case(asyncio.to_thread(write_git_dirs, place, folder))


def write_git_dirs(place: Place, folder: AttemptFolder) -> None:
    """The folder with its two git dirs, and no files yet."""
    folder.tree.mkdir(parents=True)
    objects = [str(place.objects)]
    for git_dir in (folder.trusted, folder.private):
        write_git_dir(git_dir, place, "ref: refs/heads/none", objects)
    point_to(folder.tree, "../private.git")


async def bring_to(folder: AttemptFolder, commit: str, *, unhurried: bool = False) -> None:
    """The files of a commit, and the index of them for both git dirs."""
    await Git(folder.trusted, folder.tree, unhurried=unhurried).run("read-tree", "--reset", "-u", commit)
    for copy in (folder.trusted / "index.base", folder.private / "index"):
        shutil.copy2(folder.trusted / "index", copy)  # with its time: see `snapshot._fresh_index`


def dedicate(place: Place, folder: AttemptFolder, task: str, base: str, head: str) -> None:
    """The agent's git dir on a branch of the task, which stands at `head`."""
    branch = agent_branch(task)
    (folder.private / "HEAD").write_text(f"ref: {branch}\n")
    refs = {branch: head}
    if place.branch.split("/")[0] != "task":
        refs[place.ref] = base  # so that an agent can ask what it changed since main
    # In one file: a branch by itself would take three folders more.
    (folder.private / "packed-refs").write_text("".join(f"{refs[ref]} {ref}\n" for ref in sorted(refs)))
