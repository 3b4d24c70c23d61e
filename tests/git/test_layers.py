"""Workspaces as layers: what an agent does in one is imported as from a copy (D10).

An agent here is a shell script in the real sandbox, where the layers are mounted for it.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from interlock.git.ignored import is_cache
from interlock.git.protocol import Workspace
from interlock.git.trees import HOME
from interlock.git.workspaces import GitWorkspaces
from interlock.model.process import Command
from interlock.model.secret_names import is_secret
from interlock.model.task import Commit, Tree
from interlock.process.processes import LocalProcesses
from tests.git.agents import TASK
from tests.git.world import World, git, make_world, run, write

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]


@cache
def local_processes() -> LocalProcesses:
    return LocalProcesses()


@cache
def why_no_overlays(folder: Path) -> str:
    """Try them once for all tests: that takes longer than most of these agents."""
    return local_processes().why_no_overlays(folder)


class Layered:
    """One repository whose workspaces are layers."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.processes = local_processes()
        shared = world.root.parents[1]  # the folder of all tests, on the same disk
        self.workspaces = GitWorkspaces(world.place, why_copies=lambda: why_no_overlays(shared))
        if self.workspaces.why_copies:
            pytest.skip(f"no overlays here: {self.workspaces.why_copies}")

    def agent(self, script: str, base: str = "", attempt: int = 1) -> tuple[Workspace, str]:
        """Let an agent work; its workspace, and what it said."""
        return run(self._work(script, Commit(base or self.world.main), attempt))

    async def _work(self, script: str, base: Commit, attempt: int) -> tuple[Workspace, str]:
        workspace = await self.workspaces.open(TASK, attempt, base)
        with tempfile.NamedTemporaryFile() as log:
            command = Command(
                ("sh", "-euc", script),
                str(workspace.path),
                log.name,
                {"PATH": os.environ["PATH"]},
                grant=workspace.grant,
            )
            ended = await self.processes.run(command)
        assert ended.code == 0, ended.tail
        return workspace, ended.tail

    def changes(self, workspace: Workspace) -> list[str]:
        """What is imported of a workspace, as git names changes."""
        base = workspace.base
        made = run(self.workspaces.collect(workspace, "What the agent left\n"))
        return git(self.world.root, "diff", "--name-status", "--no-renames", base, made.commit).splitlines()

    def result(self, script: str, base: str = "") -> list[str]:
        """What is imported of an agent's work."""
        return self.changes(self.agent(script, base)[0])


@pytest.fixture
def layered(world: World) -> Layered:
    return Layered(world)


def test_an_agent_that_does_nothing_changed_nothing(layered: Layered) -> None:
    workspace, said = layered.agent("pwd; git status --porcelain; git log --format=%H; cat src/b.txt")
    assert said.splitlines() == [str(layered.world.root), layered.world.main, "b"]
    assert layered.changes(workspace) == []
    assert layered.workspaces.at_checkout


def test_files_are_changed_added_and_removed(layered: Layered) -> None:
    script = "echo x >> a.txt; mkdir n; echo n > n/new.txt; rm src/b.txt; echo l > n/x.log; ln -s a.txt link"
    assert layered.result(script) == ["M\ta.txt", "A\tlink", "A\tn/new.txt", "D\tsrc/b.txt"]


@pytest.mark.parametrize(
    ("script", "changes"),
    [
        ("rm -r src", ["D\tsrc/b.txt"]),
        ("rm -r src; mkdir src; echo c > src/c.txt", ["D\tsrc/b.txt", "A\tsrc/c.txt"]),
        ("rm -r src; echo file > src", ["A\tsrc", "D\tsrc/b.txt"]),
        ("rm a.txt; mkdir a.txt; echo b > a.txt/b", ["D\ta.txt", "A\ta.txt/b"]),
        ("mv src other", ["A\tother/b.txt", "D\tsrc/b.txt"]),
        ("chmod +x a.txt; touch src/b.txt", ["M\ta.txt"]),
        ("rm -r src; ln -s /etc src", ["A\tsrc", "D\tsrc/b.txt"]),
        ("mkfifo pipe; mkdir empty", []),
        ("rm .gitignore; mkfifo .gitignore src/.gitattributes .gitmodules", ["D\t.gitignore"]),
        ("mkdir shut; echo x > shut/x.txt; chmod 0 shut", ["A\tshut/x.txt"]),
    ],
)
def test_folders_take_the_place_of_files_and_files_of_folders(
    layered: Layered, script: str, changes: list[str]
) -> None:
    assert layered.result(script) == changes


@pytest.mark.parametrize(
    ("script", "changes"),
    [
        ("mkdir build; echo o > build/out; echo l > src/x.log", []),
        ("echo l > x.log; git add -f x.log; git commit -qm x", ["A\tx.log"]),
        ("echo l > x.log; git add -f x.log", []),
        ("rm .gitignore; echo l > x.log", ["D\t.gitignore", "A\tx.log"]),
        ("echo '*.md' > src/.gitignore; echo m > src/r.md; echo m > r.md", ["A\tr.md", "A\tsrc/.gitignore"]),
        ("git rm -q --cached a.txt; git commit -qm x", []),
        (
            "git rm -q --cached a.txt; echo a.txt >> .gitignore; git commit -qam x",
            ["M\t.gitignore", "D\ta.txt"],
        ),
        ("git rm -q a.txt; git commit -qm x; git switch -q --detach HEAD~1", []),
    ],
)
def test_ignore_rules_hold_for_what_was_never_committed(
    layered: Layered, script: str, changes: list[str]
) -> None:
    assert layered.result(script) == changes


def test_commits_are_kept_and_the_files_decide(layered: Layered) -> None:
    one = "echo 1 > one.txt; git add .; git commit -qm one"
    script = f"{one}; echo 2 > two.txt; git stash -q -u; echo 3 > three.txt"
    workspace, _ = layered.agent(script)
    assert layered.changes(workspace) == ["A\tone.txt", "A\tthree.txt"]
    refs = git(layered.world.root, "for-each-ref", "--format=%(refname)", "refs/interlock/archive")
    assert refs.count("\n") == 0, "one commit holds on to the stash"
    assert refs


def test_a_repository_inside_becomes_plain_files(layered: Layered) -> None:
    commit = "git -c user.name=a -c user.email=b commit -qm x"
    script = f"git init -q inner; echo x > inner/x.txt; cd inner; git add .; {commit}"
    workspace, _ = layered.agent(script)
    assert layered.changes(workspace) == ["A\tinner/x.txt"]


def test_what_differs_from_the_tree_below_is_written_and_new(layered: Layered) -> None:
    """An old commit's files too; the others keep the time that they have in the checkout."""
    world = layered.world
    for name in ("a.txt", "src/b.txt"):
        os.utime(world.root / name, (1_000_000_000, 1_000_000_000))
    git(world.root, "update-index", "-q", "--refresh")
    layered.agent("true")
    later = world.made(
        {"a.txt": None, "src/b.txt": "later\n", "more/c.txt": "c\n", ".gitignore": None}, world.main
    )
    workspace, said = layered.agent(
        "git status --porcelain; ls -A; find . -newermt 2010-01-01 -name '*.txt'", later, 2
    )
    assert sorted(said.split()) == ["./more/c.txt", "./src/b.txt", ".git", "more", "src"]
    assert layered.changes(workspace) == []
    _, said = layered.agent("find . -newermt 2010-01-01 -name '*.txt'; git status --porcelain", world.main, 3)
    assert said == ""


@pytest.mark.parametrize(
    ("script", "changes"),
    [
        ("rm more/c.txt more/.gitignore", ["D\tmore/.gitignore", "D\tmore/c.txt"]),
        ("rm -r more; touch src/b.txt", ["D\tmore/.gitignore", "D\tmore/c.txt"]),
        ("rm -r more; echo file > more", ["A\tmore", "D\tmore/.gitignore", "D\tmore/c.txt"]),
        ("mv more/c.txt c.txt", ["A\tc.txt", "D\tmore/c.txt"]),
        ("git rm -q more/c.txt && git commit -qm less", ["D\tmore/c.txt"]),
    ],
)
def test_a_file_that_the_tree_below_does_not_have_can_be_removed(
    layered: Layered, script: str, changes: list[str]
) -> None:
    layered.agent("true")
    later = layered.world.made({"more/c.txt": "c\n", "more/.gitignore": "*.o\n"}, layered.world.main)
    assert layered.changes(layered.agent(script, later, 2)[0]) == changes


def test_in_a_later_tree_a_folder_may_stand_where_a_file_was_and_a_file_where_a_folder_was(
    layered: Layered,
) -> None:
    layered.agent("true")
    later = layered.world.made(
        {"a.txt": None, "a.txt/in.txt": "in\n", "src/b.txt": None, "src": "file\n"}, layered.world.main
    )
    workspace, said = layered.agent("cat a.txt/in.txt src; git status --porcelain", later, 2)
    assert said.split() == ["in", "file"]
    assert layered.changes(workspace) == []


def test_a_folder_whose_files_are_all_gone_is_gone(layered: Layered) -> None:
    layered.agent("true")
    later = layered.world.made({"src/b.txt": None}, layered.world.main)
    workspace, said = layered.agent("ls", later, 2)
    assert said.split() == ["a.txt"]
    assert layered.changes(workspace) == []


def test_a_new_tree_is_made_when_much_differs_and_the_old_one_goes(layered: Layered) -> None:
    layered.agent("true")
    trees = layered.world.place.state / HOME
    assert [folder.name for folder in trees.iterdir()] == ["1"]
    run(layered.workspaces.discard(layered.agent("true", "", 2)[0]))
    later = layered.world.made({f"n/{number}.txt": "x\n" for number in range(600)}, layered.world.main)
    workspace, said = layered.agent("ls n | wc -l; git status --porcelain", later, 3)
    assert said.strip() == "600"
    assert layered.changes(workspace) == []
    assert "2" in [folder.name for folder in trees.iterdir()]
    run(layered.workspaces.close())
    again = Layered(layered.world)
    again.agent("true", later, 4)
    assert [folder.name for folder in trees.iterdir()] == ["2"]


def test_files_are_written_by_the_attributes_of_the_tree_that_is_wanted(layered: Layered) -> None:
    """A check passed on files that every new checkout has with other line ends."""
    layered.agent("true")
    crlf = layered.world.made({".gitattributes": "a.txt eol=crlf\n"}, layered.world.main)
    workspace, said = layered.agent("od -c a.txt", crlf, 2)
    assert "\\r" in said
    assert layered.changes(workspace) == []
    assert "\\r" not in layered.agent("od -c a.txt", "", 3)[1]


def test_folders_with_odd_names_are_gone_only_where_the_tree_has_none(layered: Layered) -> None:
    odd = ["new\nline", os.fsdecode(b"caf\xe9")]
    layered.agent("true", layered.world.commit({f"{name}/{file}": "x\n" for name in odd for file in "ab"}), 1)
    for name in odd:
        (layered.world.root / name / "a").unlink()
    shutil.rmtree(layered.world.root / odd[1])
    workspace, said = layered.agent("ls -b .", layered.world.commit({}), 2)
    assert "new\\nline" in said and "caf" not in said
    assert layered.changes(workspace) == []


def test_a_submodule_that_is_there_is_shown(tmp_path: Path) -> None:
    other = make_world(tmp_path / "other")
    world = make_world(tmp_path / "project")
    git(world.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "sub")
    git(world.root, "commit", "-qm", "with a submodule")
    layered = Layered(world)
    script = "cat sub/a.txt; git status --porcelain; echo mine > sub/a.txt"
    workspace, said = layered.agent(script)
    assert said.split() == ["one", "two", "three"]
    assert layered.changes(workspace) == []
    assert (world.root / "sub" / "a.txt").read_text() == "one\ntwo\nthree\n"


def test_a_submodule_with_edits_is_shown_as_it_was_committed(tmp_path: Path) -> None:
    other = make_world(tmp_path / "other")
    world = make_world(tmp_path / "project")
    git(world.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "sub")
    git(world.root, "commit", "-qm", "with a submodule")
    write(world.root, {"sub/a.txt": "edited\n", "x.log": "built\n"})
    layered = Layered(world)
    workspace, said = layered.agent("cat sub/a.txt; ls -A sub; git status --porcelain; echo mine > sub/a.txt")
    assert said.split() == ["one", "two", "three", ".gitignore", "a.txt", "src"]
    assert layered.changes(workspace) == []
    assert (world.root / "sub" / "a.txt").read_text() == "edited\n"
    run(layered.workspaces.close())
    assert list((world.place.state / "beside").iterdir()) == []


def vendored_then_submodule(tmp_path: Path) -> tuple[World, str]:
    """Files of a library become a submodule with one file less; the commit with the files."""
    other = make_world(tmp_path / "other")
    world = make_world(tmp_path / "project")
    write(world.root, {"sub/a.txt": "vendored\n", "sub/old.txt": "vendored\n"})
    git(world.root, "add", "-A")
    git(world.root, "commit", "-qm", "with a library")
    before = str(world.main)
    git(world.root, "rm", "-rq", "sub")
    git(world.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "sub")
    git(world.root, "commit", "-qm", "with a submodule")
    return world, before


def test_a_submodule_in_the_place_of_files_takes_them_away(tmp_path: Path) -> None:
    """The tree below is still the one with the files; and the other way round."""
    world, before = vendored_then_submodule(tmp_path)
    layered = Layered(world)
    shown = "cat sub/a.txt; ls sub; git status --porcelain"
    assert layered.agent(shown, before)[1].split() == ["vendored", "a.txt", "old.txt"]
    assert layered.agent(shown, attempt=2)[1].split() == ["one", "two", "three", "a.txt", "src"]
    assert layered.agent(shown, before, attempt=3)[1].split() == ["vendored", "a.txt", "old.txt"]


def test_one_that_is_not_initialized_is_an_empty_folder(tmp_path: Path) -> None:
    world, before = vendored_then_submodule(tmp_path)
    git(world.root, "submodule", "deinit", "-q", "-f", "sub")
    shutil.rmtree(world.root / ".git/modules")
    layered = Layered(world)
    layered.agent("true", before)
    workspace, said = layered.agent("ls -A sub; git status --porcelain; echo x > x", attempt=2)
    assert said == ""
    assert layered.changes(workspace) == ["A\tx"]


def test_a_copy_has_the_submodules_of_its_tree(tmp_path: Path) -> None:
    world, _ = vendored_then_submodule(tmp_path)
    write(world.root, {"sub/a.txt": "edited\n"})
    workspaces = GitWorkspaces(world.place)

    async def work() -> list[str]:
        workspace = await workspaces.open(TASK, 1, world.main)
        assert (workspace.path / "sub/a.txt").read_text() == "one\ntwo\nthree\n"
        write(workspace.path, {"sub/a.txt": "mine\n", "sub/more.txt": "more\n", "x": "x\n"})
        made = await workspaces.collect(workspace, "All of it\n")
        tree = Tree(git(world.root, "rev-parse", f"{made.commit}^{{tree}}"))
        room = await workspaces.check_out(tree, tmp_path / "room")
        assert (room.path / "sub/a.txt").read_text() == "one\ntwo\nthree\n"
        assert not (room.path / "sub/more.txt").exists()
        reduced = await workspaces.check_out(tree, tmp_path / "reduced", inputs=("sub", "x"))
        assert sorted(path.name for path in reduced.path.iterdir()) == ["sub", "x"]
        assert (reduced.path / "sub/a.txt").read_text() == "one\ntwo\nthree\n"
        await workspaces.close()
        return git(world.root, "diff", "--name-status", world.main, made.commit).splitlines()

    assert run(work()) == ["A\tx"]


def test_what_an_agent_commits_in_an_ignored_folder_counts(layered: Layered) -> None:
    write(layered.world.root, {"build/old.js": "old\n", "one.log": "log\n"})
    commit = "git add -f build/new.js; git commit -qm b"
    script = f"cat build/old.js one.log; echo new > build/new.js; {commit}; echo > x"
    workspace, said = layered.agent(script)
    assert said.split() == ["old", "log"]
    assert layered.changes(workspace) == ["A\tbuild/new.js", "A\tx"]
    assert [path.name for path in (layered.world.root / "build").iterdir()] == ["old.js"]


def test_a_bare_repository_has_workspaces_too(world: World, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", "--bare", world.root, tmp_path / "bare.git"], check=True)
    bare = World(tmp_path / "bare.git")
    bare.place.ensure_state()
    layered = Layered(bare)
    workspace, said = layered.agent("pwd; git status --porcelain; echo x > x.txt")
    assert said == str(tmp_path / "bare-checkout")
    assert layered.changes(workspace) == ["A\tx.txt"]


def test_half_made_trees_and_layers_of_dead_processes_are_removed(layered: Layered) -> None:
    state = layered.world.place.state
    for folder in (state / HOME / "7-dead", state / "beside/dead"):
        folder.mkdir(parents=True)
    layered.agent("true")
    assert not (state / HOME / "7-dead").exists()
    assert not (state / "beside/dead").exists()
    asyncio.run(layered.workspaces.close())
    assert list((state / "beside").iterdir()) == []


@pytest.mark.parametrize(
    "name", [".env", ".env.local", "server.KEY", "id_rsa.pub", "credentials.json", ".npmrc"]
)
def test_secrets_are_known_by_name(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", [".env.example", "environment.ts", "keys.py", ".venv", "dist"])
def test_other_names_are_no_secrets(name: str) -> None:
    assert not is_secret(name)


def test_caches_are_known_at_any_depth() -> None:
    assert is_cache("src/__pycache__/a.pyc")
    assert not is_cache("src/cache.py")


def test_an_environment_that_no_rule_ignores_is_there_and_is_not_imported(layered: Layered) -> None:
    root = layered.world.root
    write(root, {".venv/pyvenv.cfg": "home = /usr/bin\n", "src/node_modules/left/index.js": "1\n"})
    write(root, {"notes/mine.txt": "not for agents\n"})
    workspace, said = layered.agent(
        "ls -A; cat src/node_modules/left/index.js; echo more >> .venv/pyvenv.cfg; git status --porcelain"
    )
    assert ".venv" in said
    assert "notes" not in said
    assert layered.changes(workspace) == []
    assert (root / ".venv/pyvenv.cfg").read_text() == "home = /usr/bin\n"


def test_a_program_can_ask_git_where_the_project_is_published(world: World) -> None:
    git(world.root, "remote", "add", "origin", "https://me:secret@example.invalid/shop.git")
    layered = Layered(World(world.root))
    _, said = layered.agent("git remote -v; cat .git/config")
    assert "https://example.invalid/shop.git (fetch)" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("script", "changes"),
    [
        ("mv src/b.txt src/c.txt", ["D\tsrc/b.txt", "A\tsrc/c.txt"]),
        ("git mv src/b.txt src/c.txt", ["D\tsrc/b.txt", "A\tsrc/c.txt"]),
        ("git rm -q src/b.txt; mkdir -p src; echo c > src/c.txt", ["D\tsrc/b.txt", "A\tsrc/c.txt"]),
        ("rm -r src; mkfifo src", ["D\tsrc/b.txt"]),
        ("rm a.txt .gitignore; mkfifo a.txt", ["D\t.gitignore", "D\ta.txt"]),
        ("rm -r src; echo src >> .gitignore; echo x > src", ["M\t.gitignore", "D\tsrc/b.txt"]),
    ],
)
def test_a_file_that_is_removed_stays_so_when_another_is_written_beside_it(
    layered: Layered, script: str, changes: list[str]
) -> None:
    assert layered.result(script) == changes


def test_marks_of_overlays_cannot_be_forged(layered: Layered) -> None:
    """The kernel keeps the agent's attributes apart from its own, and makes no device for it."""
    forge = "import os; os.{}('src', '{}.overlay.{}', b'y')"
    tries = [
        f'python3 -c "{forge.format("setxattr", kind, name)}" || :'
        for kind in ("user", "trusted")
        for name in ("opaque", "whiteout", "redirect")
    ]
    workspace, said = layered.agent(
        "; ".join([*tries, "mknod a.txt c 0 0 || mknod new c 0 0 || cat src/b.txt"])
    )
    assert said.splitlines()[-1] == "b"
    assert layered.changes(workspace) == []
