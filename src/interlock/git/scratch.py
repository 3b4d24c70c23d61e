"""A new repository around files that are already there: for the demo."""

from pathlib import Path

from interlock.git.command import Git
from interlock.model.task import Commit


async def start_repository(root: Path, message: str) -> Commit:
    """Make a repository of the folder and commit everything in it; the first commit."""
    folder = root.absolute()  # git starts in it, and reads paths from there
    git = Git(folder / ".git", folder)
    await git.run("init", "-q", "--initial-branch=main")
    await git.run("add", "--all")
    await git.run("commit", "-q", "-m", message)
    return Commit((await git.run("rev-parse", "refs/heads/main")).line)
