"""What an approval of a change is for: a digest that a merge onto another main leaves as it is. A14."""

import subprocess
from pathlib import Path

import pytest

from interlock.git.measure import measured
from interlock.model.outcome import Measured

TEXT = "".join(f"line {number}\n" for number in range(40))


def diff_of(folder: Path, before: dict[str, str | bytes], after: dict[str, str | bytes]) -> Measured:
    """The measure of a change of these files, by real git."""
    folder.mkdir()

    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True).stdout

    def tree(files: dict[str, str | bytes]) -> str:
        git("rm", "-rq", "--cached", "--ignore-unmatch", ".")
        for name, content in files.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        git("add", *files)
        return git("write-tree").decode().strip()

    git("init", "-q")
    words = ("diff-tree", "-r", "-p", "-U0", "--no-renames", "--full-index")
    return measured(git(*words, tree(before), tree(after)))


def test_lines_that_main_moved_or_edited_elsewhere_leave_the_digest(tmp_path: Path) -> None:
    changed = TEXT.replace("line 20\n", "line 20, changed\nand more\n")
    one = diff_of(tmp_path / "one", {"a": TEXT}, {"a": changed})
    moved = diff_of(tmp_path / "two", {"a": f"new\n{TEXT}"}, {"a": f"new\n{changed}"})
    near = TEXT.replace("line 22", "edited by main")
    beside = diff_of(
        tmp_path / "three", {"a": near}, {"a": near.replace("line 20\n", "line 20, changed\nand more\n")}
    )
    assert one == moved == beside
    assert one.lines == 3


@pytest.mark.parametrize(
    "after",
    [
        {"a": TEXT.replace("line 20", "\tline 20")},
        {"a": TEXT.replace("line 20", "line 20 ")},
        {"a": TEXT.replace("line 20\n", "\nline 20\n")},
        {"a": TEXT.removesuffix("\n")},
        {"a": TEXT, "b": ""},
        {"b": TEXT},
    ],
    ids=["indented", "trailing", "empty line", "no end of line", "empty file", "moved"],
)
def test_any_other_change_has_another_digest(tmp_path: Path, after: dict[str, str | bytes]) -> None:
    one = diff_of(tmp_path / "one", {"a": TEXT}, {"a": TEXT.replace("line 20", "line 21")})
    other = diff_of(tmp_path / "two", {"a": TEXT}, after)
    assert one.digest != other.digest


def test_a_file_that_is_no_text_counts_by_its_content(tmp_path: Path) -> None:
    one = diff_of(tmp_path / "one", {"a": b"\0one"}, {"a": b"\0two"})
    same = diff_of(tmp_path / "two", {"a": b"\0one", "b": "x"}, {"a": b"\0two", "b": "x"})
    other = diff_of(tmp_path / "three", {"a": b"\0one"}, {"a": b"\0six"})
    assert one == same
    assert one.lines == other.lines == -1
    assert one.digest != other.digest


def test_lines_that_look_like_a_header_are_lines(tmp_path: Path) -> None:
    found = diff_of(
        tmp_path / "one", {"a": "-- a/x\n"}, {"a": "++ b/x\ndiff --git\n@@ -1 +1 @@\nindex 1..2\n"}
    )
    assert found.lines == 5


def test_a_submodule_a_bare_return_and_a_very_long_line_are_lines(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    found = diff_of(tmp_path / "one", {"a": "one\r"}, {"a": "one\rtwo\rthree\n", "b": f"{long}\n"})
    assert found.lines == 3
    ends = diff_of(tmp_path / "two", {"a": "one\r"}, {"a": "one\rtwo\nthree\n", "b": f"{long}\n"})
    assert ends.digest != found.digest

    def link(number: int) -> bytes:
        return f"160000 commit {number:040x}\tlib\n".encode()

    git = ["git", "-C", str(tmp_path / "one")]
    trees = [
        subprocess.run([*git, "mktree"], input=link(number), capture_output=True, check=True).stdout.decode()
        for number in (1, 2, 3)
    ]
    words = ("diff-tree", "-r", "-p", "-U0", "--no-renames", "--full-index")
    one, two = (
        measured(
            subprocess.run(
                [*git, *words, trees[0].strip(), tree.strip()], capture_output=True, check=True
            ).stdout
        )
        for tree in trees[1:]
    )
    assert one.lines == two.lines == 2
    assert one.digest != two.digest
