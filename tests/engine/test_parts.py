"""Submodules and files of LFS are there for agents and checks, as the checkout has them."""

import hashlib
from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.run.tree import linux

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, linux]

CONTENT = b"the real thing\n"
OID = hashlib.sha256(CONTENT).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(CONTENT)}\n"


def with_pointer(scratch: Scratch, agent: str, verify: str = "grep -q 'real thing' big.bin") -> None:
    """A file of LFS, as a machine without git-lfs sees it: git takes the pointer as it is."""
    scratch.write(__gitattributes="*.bin filter=lfs diff=lfs merge=lfs -text\n", big__bin=POINTER)
    scratch.graph("  t: {goal: t}\n", agent, verify=verify)


@pytest.mark.parametrize("kept_in", ["store", "checkout"])
def test_a_file_of_lfs_has_its_content_and_its_pointer_stays_on_main(scratch: Scratch, kept_in: str) -> None:
    agent = "cp big.bin copy.txt; git add copy.txt; git commit -qam 'all of it'"
    with_pointer(scratch, agent)
    if kept_in == "store":
        place = scratch.root / ".git/lfs/objects" / OID[:2] / OID[2:4] / OID
        place.parent.mkdir(parents=True)
        place.write_bytes(CONTENT)
    else:
        # As git-lfs leaves it: the content in the checkout, and an index that knows it by its times.
        (scratch.root / "big.bin").write_bytes(CONTENT)
        scratch.git("update-index", "--assume-unchanged", "big.bin")
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}
    assert scratch.git("show", "main:copy.txt") == CONTENT.decode().strip()
    assert scratch.git("show", "main:big.bin") == POINTER.strip()


def test_what_does_not_match_its_digest_is_not_shown(scratch: Scratch) -> None:
    with_pointer(scratch, "cp big.bin copy.txt", verify="test -s big.bin")
    place = scratch.root / ".git/lfs/objects" / OID[:2] / OID[2:4] / OID
    place.parent.mkdir(parents=True)
    place.write_bytes(b"too short\n")
    said = scratch.interlock("run")
    assert "git LFS files are not downloaded: big.bin: git lfs pull" in said
    assert scratch.git("show", "main:copy.txt") == POINTER.strip()


def test_a_submodule_of_the_checkout_is_there(scratch: Scratch, tmp_path: Path) -> None:
    library = Scratch(tmp_path / "elsewhere" / "library")
    library.write(words__txt="from the library\n")
    library.commit()
    allowed = ("-c", "protocol.file.allow=always")
    scratch.git(*allowed, "submodule", "--quiet", "add", str(library.root), "libs/words")
    scratch.graph("  t: {goal: t}\n", "cp libs/words/words.txt t.txt", verify="test -s libs/words/words.txt")
    scratch.interlock("run")
    assert scratch.git("show", "main:t.txt") == "from the library"
    assert scratch.git("status", "--porcelain") == ""


ALLOWED = ("-c", "protocol.file.allow=always")
SHOWN = "cat libs/words/words.txt"


def with_library(scratch: Scratch, folder: Path) -> Scratch:
    """A project with a submodule."""
    library = Scratch(folder / "library")
    library.write(words__txt="old\n", __gitignore="built\nbuilt.txt\n")
    library.commit()
    scratch.git(*ALLOWED, "submodule", "--quiet", "add", str(library.root), "libs/words")
    return library


def moved(scratch: Scratch, library: Scratch, text: str) -> None:
    """Main gets another commit of the submodule, which is in its checkout, as a person would do it."""
    library.write(words__txt=text)
    commit = library.commit()
    inside = ("-C", "libs/words")
    scratch.git(*inside, *ALLOWED, "fetch", "--quiet", "origin")
    scratch.git(*inside, "checkout", "--quiet", commit)
    scratch.git("commit", "-qam", "move the submodule")


def test_a_check_sees_the_submodule_that_main_moved_meanwhile(scratch: Scratch, tmp_path: Path) -> None:
    library = with_library(scratch, tmp_path / "elsewhere")
    at_work = f"echo at work; {WAIT.format(gate=scratch.gates / 'gate')}"
    scratch.write(expected__txt="old\n")
    verify = "cmp expected.txt libs/words/words.txt"
    scratch.graph("  t: {goal: t}\n", f"{SHOWN} > before.txt; {at_work}", verify=verify)
    run = scratch.start("run")
    run.wait_for_line("t started")
    scratch.wait_for_output("t", "at work")
    scratch.write(expected__txt="new\n")
    moved(scratch, library, "new\n")
    (scratch.gates / "gate").touch()
    assert run.wait() == 0, run.output
    assert scratch.git("show", "main:before.txt") == "old"
    assert scratch.git("ls-tree", "main", "libs/words") == scratch.git("ls-tree", "main~1", "libs/words")


@pytest.mark.parametrize("state", ["another commit", "edited", "hidden edit", "removed", "untracked"])
def test_a_check_sees_what_main_names_and_not_what_the_checkout_has(
    scratch: Scratch, tmp_path: Path, state: str
) -> None:
    library = with_library(scratch, tmp_path / "elsewhere")
    untracked = "test ! -e libs/words/more.txt"
    scratch.graph("  t: {goal: t}\n", "echo t > t.txt", verify=f"{SHOWN} | grep -qx old && {untracked}")
    words = scratch.root / "libs/words/words.txt"
    if state == "another commit":
        moved(scratch, library, "new\n")
        scratch.git("reset", "-q", "--soft", "HEAD~1")
        scratch.git("reset", "-q")
    elif state == "removed":
        scratch.git("submodule", "--quiet", "deinit", "-f", "libs/words")
    elif state == "untracked":
        words.with_name("more.txt").write_text("more\n")
    else:
        if state == "hidden edit":
            scratch.git("-C", "libs/words", "update-index", "--assume-unchanged", "words.txt")
        words.write_text("edited\n")
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}
    if "edit" in state:
        assert words.read_text() == "edited\n"


def test_a_submodule_in_a_submodule_is_shown_and_so_is_what_was_built_in_it(
    scratch: Scratch, tmp_path: Path
) -> None:
    library = with_library(scratch, tmp_path / "elsewhere")
    inner = Scratch(tmp_path / "inner" / "library")
    inner.write(deep__txt="deep\n")
    inner.commit()
    library.git(*ALLOWED, "submodule", "--quiet", "add", str(inner.root), "inner")
    moved(scratch, library, "new\n")
    scratch.git(*ALLOWED, "submodule", "--quiet", "update", "--init", "--recursive")
    built = scratch.root / "libs/words/built"
    built.mkdir()
    (built / "x.txt").write_text("built\n")
    built.with_suffix(".txt").write_text("one file\n")
    shown = "cat libs/words/inner/deep.txt libs/words/built/x.txt libs/words/built.txt"
    writes = "echo mine > libs/words/built/x.txt; echo mine > libs/words/words.txt; echo > libs/words/more"
    scratch.graph("  t: {goal: t}\n", f"{shown} > t.txt; {writes}", verify=shown)
    scratch.interlock("run")
    assert scratch.git("show", "main:t.txt") == "deep\nbuilt\none file"
    assert scratch.git("status", "--porcelain") == ""
    assert (built / "x.txt").read_text() == "built\n"


def test_a_commit_that_the_submodule_does_not_have_is_named(scratch: Scratch, tmp_path: Path) -> None:
    library = with_library(scratch, tmp_path / "elsewhere")
    scratch.graph("  t: {goal: t}\n", "echo t > t.txt", verify=SHOWN)
    library.write(words__txt="new\n")
    commit = library.commit()
    scratch.git("update-index", "--cacheinfo", f"160000,{commit},libs/words")
    scratch.git("commit", "-qm", "as a pull without an update of the submodule leaves it")
    absent = f"the repository of submodule libs/words has no commit {commit[:12]}"
    assert absent in scratch.interlock("run", code=7)
    assert "git submodule update --init -- libs/words" in scratch.interlock("doctor", code=None)
    scratch.git(*ALLOWED, "submodule", "--quiet", "update", "--init")
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}


MOVES = {
    "commit": 'git update-index --cacheinfo "160000,$(git rev-parse HEAD),libs/words"; git commit -qm m',
    "removed": "git rm -q --cached libs/words; git commit -qm m",
    "files": "git rm -q --cached libs/words; git add -f libs/words/words.txt; git commit -qm m",
    "added": 'git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),libs/more"; git commit -qm m',
}


def test_a_change_that_moves_a_submodule_goes_back(scratch: Scratch, tmp_path: Path) -> None:
    """The next attempt is told the reason, and what it leaves as it was lands."""
    with_library(scratch, tmp_path / "elsewhere")
    told = 'grep -q "cannot publish commits of a submodule" "$INTERLOCK_PROMPT_FILE"'
    moves = "".join(f"{task}) {script};;\n" for task, script in MOVES.items())
    agent = f'{told} || case "$INTERLOCK_TASK_ID" in\n{moves}esac\necho done > "$INTERLOCK_TASK_ID.txt"'
    scratch.graph("".join(f"  {task}: {{goal: x}}\n" for task in MOVES), agent, verify=SHOWN)
    before = scratch.git("rev-parse", "main")
    scratch.interlock("run")
    changed = scratch.git("diff", "--name-only", before, "main").splitlines()
    assert sorted(changed) == sorted(f"{task}.txt" for task in MOVES)
    failures = {row["fact"]["task"]: row["fact"] for row in scratch.facts("PhaseFailed")}
    assert {task: failure["why"]["code"] for task, failure in failures.items()} == dict.fromkeys(
        {*MOVES} - {"added"}, "submodule"
    )
    assert {failure["why"]["fields"]["paths"][0] for failure in failures.values()} == {"libs/words"}


@pytest.mark.parametrize("way", ["attributes", "autocrlf", "eol"])
def test_files_are_written_again_when_the_line_ends_of_the_repository_change(
    scratch: Scratch, way: str
) -> None:
    """Later runs showed the tree that the first one had made, in its form."""
    scratch.write(words__txt="one\ntwo\n", **({"__gitattributes": "*.txt text\n"} if way == "eol" else {}))
    cases = "grep -c \"$(printf '\\r')\" words.txt > $INTERLOCK_TASK_ID.out || true"
    scratch.graph("  a: {goal: x}\n", cases, verify="test -s words.txt")
    scratch.interlock("run")
    assert scratch.git("show", "main:a.out") == "0"
    if way == "attributes":
        info = scratch.root / ".git/info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text("*.txt text eol=crlf\n")
    else:
        scratch.git("config", f"core.{way}", "true" if way == "autocrlf" else "crlf")
    graph = scratch.root / "task-graph.yaml"
    graph.write_text(graph.read_text() + "  b: {goal: x}\n")
    scratch.git("commit", "-qam", "more")
    scratch.interlock("run")
    assert scratch.git("show", "main:b.out") == "2"


def test_content_of_lfs_that_came_after_a_run_is_shown(scratch: Scratch) -> None:
    with_pointer(scratch, "cp big.bin $INTERLOCK_TASK_ID.txt; true", verify="test -s big.bin")
    scratch.interlock("run")
    assert scratch.git("show", "main:t.txt") == POINTER.strip()
    place = scratch.root / ".git/lfs/objects" / OID[:2] / OID[2:4] / OID
    place.parent.mkdir(parents=True)
    place.write_bytes(CONTENT)
    graph = scratch.root / "task-graph.yaml"
    graph.write_text(graph.read_text() + "  u: {goal: u}\n")
    scratch.git("commit", "-qam", "more")
    scratch.interlock("run")
    assert scratch.git("show", "main:u.txt") == CONTENT.decode().strip()
