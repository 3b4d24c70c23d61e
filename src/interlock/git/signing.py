"""Signed commits: made with the user's own key and programs, where the user's git signs (`commit.gpgsign`).

1. Only commits that may land are signed. What agents made stays as it is.
2. The user is then the committer too: hosts verify a signature by the committer's address.
3. A key that cannot be used is found out before anything starts. A passphrase may be asked for then, and not
   in the middle of a run.
"""

import tempfile
from collections.abc import Sequence

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem

_PATIENCE_SECONDS = 60.0
_TRUE = ("true", "yes", "on", "1", "")


class CannotSign(EnvironmentProblem):
    """The user's git signs commits, and that fails."""

    code = "signing"


def is_wanted(place: Place) -> bool:
    """Return True if the user's configuration says that commits are signed."""
    return place.settings.get("commit.gpgsign", "false").lower() in _TRUE


async def sign_commit(place: Place, tree: str, parents: Sequence[str], message: str) -> str:
    """Write a signed commit; its id."""
    # Without a terminal: a question there would be drawn over what a run shows.
    return await _signed(_user(place).having(GPG_TTY=""), tree, parents, message)


async def try_signing(place: Place) -> None:
    """Sign a commit that is thrown away. `CannotSign` says why it does not work."""
    with tempfile.TemporaryDirectory() as objects:
        git = _user(place).having(
            GIT_OBJECT_DIRECTORY=objects, GIT_ALTERNATE_OBJECT_DIRECTORIES=str(place.objects)
        )
        await _signed(git, f"{place.ref}^{{tree}}", (), "Interlock tries to sign\n")


def _user(place: Place) -> Git:
    name, email = place.author
    committer = {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email}
    return Git(place.common_dir, as_user=True, variables={**place.durable_variables, **committer})


async def _signed(git: Git, tree: str, parents: Sequence[str], message: str) -> str:
    above = [word for parent in parents for word in ("-p", parent)]
    try:
        said = await git.run(
            "commit-tree", "-S", tree, *above, feed=message.encode(), timeout=_PATIENCE_SECONDS
        )
    except GitFailed as failed:
        lines = [line for line in failed.said.splitlines() if line.strip()]
        raise CannotSign(
            f"your git signs commits (commit.gpgsign), but signing fails: {lines[0] if lines else failed}",
            "unlock the key (`git commit --allow-empty -S -m test` tries it), "
            "or turn signing off here: git config commit.gpgsign false",
        ) from failed
    return said.line
