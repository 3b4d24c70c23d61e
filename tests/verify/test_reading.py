"""Which files of a change were read, by the last access that the kernel notes."""

from pathlib import Path

import pytest

from interlock.verify.checker import mark_unread, notes_accesses, still_unread


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if not notes_accesses(tmp_path, copies_read=True):
        pytest.skip("this disk does not note accesses")
    for name in ("read.py", "unread.py", "gone.py"):
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "link.py").symlink_to("read.py")
    return tmp_path


def test_a_file_that_was_read_is_told_from_one_that_was_not(folder: Path) -> None:
    marked = mark_unread(folder, ["read.py", "unread.py", "gone.py", "link.py", "missing.py"])
    assert marked == ("read.py", "unread.py", "gone.py")
    assert still_unread(folder, marked) == marked
    (folder / "read.py").read_text()
    (folder / "gone.py").unlink()
    assert still_unread(folder, marked) == ("unread.py",)


def test_looking_whether_a_file_is_there_is_no_reading(folder: Path) -> None:
    marked = mark_unread(folder, ["read.py"])
    assert (folder / "read.py").stat().st_size > 0
    assert still_unread(folder, marked) == ("read.py",)


def test_the_time_of_the_last_change_stays(folder: Path) -> None:
    before = (folder / "read.py").stat().st_mtime_ns
    mark_unread(folder, ["read.py"])
    assert (folder / "read.py").stat().st_mtime_ns == before


def test_a_folder_that_cannot_be_written_to_notes_nothing(tmp_path: Path) -> None:
    assert not notes_accesses(tmp_path / "missing", copies_read=True)
    assert not notes_accesses(tmp_path / "missing", copies_read=False)
    assert [path.name for path in tmp_path.iterdir()] == []
