"""Whatever an agent does to files in a workspace of layers, what is imported is what it left (D10).

Random edits are made twice, by the same script: in a plain checkout, where `git add -A` says what they come
to, and by an agent in the real sandbox.
"""

import itertools
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.git.test_layers import Layered
from tests.git.world import git, make_world, run
from tests.run.tree import linux, python_as_nobody
from tests.tiers import EXAMPLES

pytestmark = [linux, pytest.mark.slow, pytest.mark.sandbox, pytest.mark.property]

FILES = {
    "f": "f\n",
    "x.log": "tracked, and ignored\n",
    "d/f": "df\n",
    "d/g": "dg\n",
    "d/e/f": "def\n",
    "d/e/g": "deg\n",
    "d/e/x.log": "l\n",
    "build/f": "tracked, and ignored\n",
    "h/f": "hf\n",
    ".gitattributes": "*.bat text eol=crlf\n",
    "d/.gitattributes": "*.bin -text\n",
}
ROOTS = ("d", "h", "n", "f", "build")
NAMES = ("e", "f", "g", "x.log")
LINKED = ("f", "d", "e/f", "nowhere")

paths = st.one_of(
    st.sampled_from(ROOTS),
    st.builds("/".join, st.tuples(st.sampled_from(ROOTS), st.sampled_from(NAMES))),
    st.builds("/".join, st.tuples(st.sampled_from(ROOTS), st.just("e"), st.sampled_from(NAMES))),
)
one = st.one_of(
    st.builds("echo {} > {}".format, st.integers(0, 9), paths),
    st.builds("echo {} >> {}".format, st.integers(0, 9), paths),
    st.builds("rm -r {}".format, paths),
    st.builds("mkdir -p {}".format, paths),
    st.builds("mv -T {} {}".format, paths, paths),
    st.builds("mv {} {}".format, paths, paths),
    # Not into itself: what cp has copied when it notices depends on the order of the folder's entries.
    st.tuples(paths, paths)
    .filter(lambda both: not f"{both[1]}/".startswith(f"{both[0]}/"))
    .map(lambda both: "cp -a -T {} {}".format(*both)),
    st.builds("rm -r {0}; mkdir {0}".format, paths),
    st.builds("rm -r {0}; mkdir {0}; echo again > {0}/f".format, paths),
    st.builds("rm -r {0}; echo file > {0}".format, paths),
    st.builds("rm -r {1}; ln -s {0} {1}".format, st.sampled_from(LINKED), paths),
    st.builds("test -f {0} && chmod +x {0}".format, paths),
    st.builds("touch {}".format, paths),
    st.builds("test -f {0} && git mv {0} {1}".format, paths, paths),  # of a folder: EXDEV
    st.builds("git rm -rqf {}".format, paths),
    st.builds(
        "echo '{}' > {}/.gitignore".format, st.sampled_from(("f", "*", "!x.log")), st.sampled_from(ROOTS)
    ),
    st.builds("rm {}".format, st.sampled_from((".gitignore", ".gitattributes", "d/.gitattributes"))),
    st.just("git add -A; git commit -qm work"),
    st.just("git stash -q -u"),
)
last = st.builds("rm -r {0}; mkfifo {0}".format, paths)  # a write to a pipe would never return


def written(each: list[str], pipe: str) -> str:
    """A script that goes on after what cannot be done."""
    return "\n".join(f"{{ {edit}; }} >/dev/null 2>&1 || :" for edit in [*each, pipe])


edits = st.builds(written, st.lists(one, min_size=1, max_size=14), st.one_of(st.just(":"), last))


class Twice:
    """A repository whose files are edited in a plain checkout and by agents."""

    def __init__(self, folder: Path) -> None:
        self.world = make_world(folder / "project")
        self.layered = Layered(self.world)
        # The tree below the workspaces is older than what they begin with, and has half of its files.
        older = self._commit(dict(list(FILES.items())[::2]))
        self.layered.agent("true", older, 0)
        self.base = self._commit(FILES)
        self.plain = folder / "plain"
        git(folder, "clone", "-q", str(self.world.root), str(self.plain))
        self.attempts = itertools.count(1)

    def _commit(self, files: dict[str, str]) -> str:
        """Also of files that are ignored."""
        self.world.commit(files)
        git(self.world.root, "add", "-f", ".")
        return self.world.commit({})

    def expected(self, script: str) -> str:
        """The tree that the edits come to in the plain checkout."""
        git(self.plain, "reset", "-q", "--hard", self.base)
        git(self.plain, "clean", "-qffdx")
        subprocess.run(["sh", "-uc", script], cwd=self.plain, check=True, timeout=60)
        subprocess.run(["find", ".", "-type", "p", "-delete"], cwd=self.plain, check=True)  # git has no pipes
        git(self.plain, "reset", "-q")  # what was only staged does not count
        git(self.plain, "add", "-A")
        return git(self.plain, "write-tree")

    def imported(self, script: str) -> str:
        """The tree that is imported from an agent that makes the edits."""
        workspace, _ = self.layered.agent(script, self.base, next(self.attempts))
        made = run(self.layered.workspaces.collect(workspace, "Edits\n"))
        run(self.layered.workspaces.discard(workspace))
        return self.world.tree(made.commit)


@pytest.fixture
def twice(tmp_path: Path) -> Twice:
    return Twice(tmp_path)


@given(edits)
# Links in the place of a file that is tracked and ignored, and of a folder.
@example("ln -sf f x.log; rm -r d; ln -s h d; rm h/f; ln -s ../f h/f")
# One repository serves all examples: each begins with the same commit.
@settings(
    max_examples=EXAMPLES // 3, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_is_imported_is_what_git_finds_in_a_plain_checkout(twice: Twice, script: str) -> None:
    assert twice.imported(script) == twice.expected(script)


@pytest.mark.skipif(os.geteuid() != 0, reason="we are without rights already")
@pytest.mark.thorough
def test_the_same_holds_for_a_user_without_rights() -> None:
    here = Path(__file__)
    tests = [
        f"{here}::test_what_is_imported_is_what_git_finds_in_a_plain_checkout",
        f"{here.with_name('test_layers.py')}::test_marks_of_overlays_cannot_be_forged",
    ]
    with TemporaryDirectory() as folder:  # pytest's own are for one user alone
        Path(folder).chmod(0o777)
        words = [
            *python_as_nobody(),
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--basetemp={folder}/base",
        ]
        said = subprocess.run(
            [*words, *tests], cwd=here.parents[2], capture_output=True, text=True, check=False
        )
    assert "2 passed" in said.stdout, said.stdout
