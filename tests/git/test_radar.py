"""Changes under way, read and merged without a trace in their workspaces (D2)."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.git.command import Git
from interlock.git.layout import write_git_dir
from interlock.git.protocol import Workspace
from interlock.git.radar import Merged, MergeRadar, Side, answers, related
from interlock.git.scan import DEPTH, TooMuch, scan
from interlock.git.tree_build import Leaf, TreeBuilder, planned
from interlock.model.radar import MAIN, Queued, Sighting
from interlock.model.task import AttemptKey, Commit, TaskId
from tests.git.agents import collected
from tests.git.test_layers import Layered
from tests.git.world import World, git, make_world, run, write
from tests.tiers import examples

A, B = TaskId("a"), TaskId("b")
LINES = "".join(f"{number}\n" for number in range(30))


def edited(word: str, at: int = 10) -> str:
    return LINES.replace(f"\n{at}\n", f"\n{word}\n")


@pytest.fixture
def lined(world: World) -> World:
    """A repository with a file of many lines, and a folder."""
    write(
        world.root,
        {"lines.txt": LINES, "old/one.txt": LINES, "old/two.txt": LINES, ".gitignore": "*.log\n/out/\n"},
    )
    git(world.root, "add", "-A")
    git(world.root, "commit", "-qm", "lines")
    return world


def main_of(world: World) -> Commit:
    return Commit(git(world.root, "rev-parse", "main").strip())


def workspaces(world: World, *tasks: TaskId) -> list[Workspace]:
    return [run(world.workspaces.open(task, 1, main_of(world))) for task in tasks]


def looked(
    radar: MergeRadar, world: World, *tasks: TaskId, queued: tuple[Queued, ...] = (), main: str = ""
) -> Sighting:
    """One look, however soon after the last one; at main as it was before, where no git can say it."""
    radar._merge_at = 0.0
    for sight in radar._sights.values():
        sight.due = 0.0
    found = run(radar.look([AttemptKey(task, 1) for task in tasks], queued, Commit(main) or main_of(world)))
    assert found is not None
    return found


def pairs(found: Sighting) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(each.task, each.other, each.paths) for each in found.overlaps]


def change(path: Path) -> None:
    """All that an agent may do to files, some of it ignored."""
    write(path, {"lines.txt": edited("x"), "new/deep/file.txt": "new\n", "x.log": "no\n", "out/a": "no\n"})
    (path / "old/one.txt").unlink()
    (path / "old/two.txt").rename(path / "moved.txt")
    (path / "old").rmdir()
    (path / "link").symlink_to("/etc/passwd")
    (path / "run.sh").write_text("#!/bin/sh\n")
    (path / "run.sh").chmod(0o755)
    (path / ":odd name\n\\").write_text("odd\n")


def test_what_is_read_of_a_copy_is_what_would_be_imported(lined: World) -> None:
    (workspace,) = workspaces(lined, A)
    radar = MergeRadar(lined.place)
    looked(radar, lined, A)
    change(workspace.path)
    assert pairs(looked(radar, lined, A)) == []
    (sight,) = radar._sights.values()
    read = radar._git.run_now("ls-tree", "-r", sight.commit)
    made = collected(lined, workspace)
    assert read.decode().strip() == git(lined.root, "ls-tree", "-r", made.commit)


def test_what_is_read_of_layers_is_what_would_be_imported(lined: World) -> None:
    layered = Layered(lined)
    script = (
        "rm -r old; mkdir old; echo 1 > old/three.txt; rm lines.txt; mkdir lines.txt; echo 1 > lines.txt/a\n"
        "echo x > x.log; mkdir out; echo x > out/a; ln -s /etc/passwd link; mkdir empty; touch .gitignore"
    )
    workspace, _ = layered.agent(script, main_of(lined))
    radar = MergeRadar(lined.place)
    run(radar.look([AttemptKey(workspace.task, 1)], (), main_of(lined)))
    (sight,) = radar._sights.values()
    read = radar._git.run_now("ls-tree", "-r", sight.commit)
    made = run(layered.workspaces.collect(workspace, "made\n"))
    assert read.decode().strip() == git(lined.root, "ls-tree", "-r", made.commit)


def test_a_file_in_a_folder_that_another_change_moved_is_an_overlap(lined: World) -> None:
    one, other = workspaces(lined, A, B)
    (one.path / "old").rename(one.path / "fresh")
    write(other.path, {"old/three.txt": "three\n"})
    radar = MergeRadar(lined.place)
    assert [pair[:2] for pair in pairs(looked(radar, lined, A, B))] == [("a", "b")]


def test_a_change_of_main_that_one_of_them_has_is_not_taken_for_its_own(lined: World) -> None:
    """The second began with a line of main that the first one conflicts with."""
    (one,) = workspaces(lined, A)
    write(one.path, {"lines.txt": edited("mine")})
    write(lined.root, {"lines.txt": edited("theirs")})
    git(lined.root, "commit", "-qam", "meanwhile")
    (other,) = workspaces(lined, B)
    write(other.path, {"lines.txt": edited("theirs").replace("\n25\n", "\nb\n")})
    write(other.path, {"other.txt": "b\n"})
    radar = MergeRadar(lined.place)
    found = pairs(looked(radar, lined, A, B))
    assert ("a", MAIN, ("lines.txt",)) in found
    write(one.path, {"lines.txt": edited("theirs")})
    assert pairs(looked(radar, lined, A, B)) == []


def test_a_finished_change_is_compared_and_two_of_them_are_not(lined: World) -> None:
    (one,), main = workspaces(lined, A), main_of(lined)
    write(one.path, {"lines.txt": edited("a")})
    made = [
        Queued(
            AttemptKey(TaskId(word), 1), lined.made({"lines.txt": edited(word)}, main), main, ("lines.txt",)
        )
        for word in ("b", "c")
    ]
    found = pairs(looked(MergeRadar(lined.place), lined, A, queued=tuple(made)))
    assert [pair[:2] for pair in found] == [("a", "b"), ("a", "c")]


def test_what_has_not_changed_is_neither_read_nor_merged_again(
    lined: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = workspaces(lined, A, B)
    write(one.path, {"lines.txt": edited("a")})
    write(other.path, {"lines.txt": edited("b")})
    radar = MergeRadar(lined.place)
    before, main = looked(radar, lined, A, B), main_of(lined)
    monkeypatch.setenv("PATH", "/nonexistent")  # no git can be started now
    assert looked(radar, lined, A, B, main=main) == before
    assert pairs(before) == [("a", "b", ("lines.txt",))]


def test_the_scratch_folder_is_made_anew_when_it_is_full(
    lined: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = workspaces(lined, A, B)
    write(one.path, {"lines.txt": edited("a")})
    write(other.path, {"lines.txt": edited("b")})
    radar = MergeRadar(lined.place)
    before, scratch = looked(radar, lined, A, B), radar._scratch
    monkeypatch.setattr("interlock.git.radar.KEPT_BYTES", 0)
    assert looked(radar, lined, A, B) == before
    assert radar._scratch != scratch
    assert [path.name for path in (lined.place.state / "radar").iterdir()] == [radar._scratch.name]  # type: ignore[union-attr] # it is there
    run(radar.close())
    assert not (lined.place.state / "radar").exists()


def test_folders_without_end_links_and_shut_ones_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "pipe")
    found = scan(tmp_path, (), ("gone.txt",), None)
    assert {path: mark.mode for path, mark in found.files.items()} == {"loop": b"120000"}
    assert found.gone == {"pipe", "gone.txt"}
    (tmp_path / "/".join("d" * (DEPTH + 2))).mkdir(parents=True)
    with pytest.raises(TooMuch, match="deep"):
        scan(tmp_path, (), (), None)


def test_answers_of_git_are_read_and_too_few_are_an_error() -> None:
    out = b"0\0t1\0a\0b~" + b"f" * 40 + b"\0\x001\0t2\0\0"
    assert answers(out, 2) == [Merged("t1", ("a", "b")), Merged("t2")]
    with pytest.raises((ValueError, IndexError)):
        answers(out[:-2], 2)


FOLDERS = ("a", "b", "a/c", "d")
FILES = tuple(f"{folder}/{name}" for folder in FOLDERS for name in "xyz")
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("edit"), st.sampled_from(FILES), st.integers(0, 9)),
        st.tuples(st.just("remove"), st.sampled_from(FILES), st.just(0)),
        st.tuples(st.just("move"), st.sampled_from(FOLDERS), st.integers(0, 2)),
        st.tuples(st.just("file"), st.sampled_from(FOLDERS), st.just(0)),
        st.tuples(st.just("add"), st.sampled_from((*FOLDERS, "e")), st.integers(0, 2)),
    ),
    min_size=1,
    max_size=4,
)


def text(path: str, line: int = -1, word: str = "") -> bytes:
    return "".join(f"{word if number == line else path}{number}\n" for number in range(10)).encode()


def done(deeds: list[tuple[str, str, int]], side: str) -> dict[str, bytes]:
    """The files after these changes."""
    files = {path: text(path) for path in FILES}
    for deed, path, number in deeds:
        inside = [each for each in files if each.startswith(f"{path}/")]
        if deed == "edit" and path in files:
            files[path] = text(path, number, side)
        elif deed == "remove":
            files.pop(path, None)
        elif deed == "move":
            for each in inside:
                files[f"to{number}/{each}"] = files.pop(each)
        elif deed == "file":
            for each in inside:
                del files[each]
            files[path] = f"{side}\n".encode()
        elif deed == "add" and path not in files:
            files[f"{path}/new{number}"] = f"{side}\n".encode()
    return files


@pytest.fixture(scope="module")
def scratch_trees(tmp_path_factory: pytest.TempPathFactory) -> TreeBuilder:
    root = tmp_path_factory.mktemp("trees") / "project"
    make_world(root)
    place = World(root).place
    write_git_dir(root / "own", place, "ref: refs/heads/none", [str(place.objects)])
    return TreeBuilder(place, Git(root / "own"))


def built(
    trees: TreeBuilder, base: str, old: Mapping[str, bytes], new: Mapping[str, bytes]
) -> tuple[str, frozenset[bytes]]:
    changes: dict[bytes, Leaf | None] = {path.encode(): None for path in old.keys() - new.keys()}
    for path in new:
        if new[path] != old.get(path):
            changes[path.encode()] = Leaf(b"100644", trees.put("blob", new[path]))
    plan = planned(changes)
    run(trees.load(base, plan))
    return trees.build(base, plan)


@examples(2)
@given(DEEDS, DEEDS)
def test_two_changes_that_touch_nothing_in_common_merge(
    scratch_trees: TreeBuilder, ours: list[tuple[str, str, int]], theirs: list[tuple[str, str, int]]
) -> None:
    """Rule 3, against git itself: edits, removals, moved folders, files in place of folders, new files."""
    trees, empty = scratch_trees, {path: text(path) for path in FILES}
    base, _ = built(trees, trees.put("tree", b""), {}, empty)
    root = trees.commit(base, trees._place.git.run_now("rev-parse", trees._place.ref).decode().strip())
    made = [built(trees, base, empty, done(deeds, side)) for deeds, side in ((ours, "A"), (theirs, "B"))]
    commits = [trees.commit(tree, root) for tree, _ in made]
    sides = {
        AttemptKey(task, 1): Side(commit, root, touched, True)
        for task, commit, (_, touched) in zip((A, B), commits, made, strict=True)
    }
    words = ("merge-tree", "--write-tree", "--stdin", "--name-only", "--no-messages")
    said = run(trees._git.run(*words, feed=" ".join(commits).encode() + b"\n"))
    (merged,) = answers(said.out, 1)
    assert related(sides) or not merged.paths
