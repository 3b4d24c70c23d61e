"""Files that are written as a whole."""

from pathlib import Path

from interlock.git.files import write_durably


def test_a_file_is_replaced_and_no_descriptor_stays_open(tmp_path: Path) -> None:
    """A run writes notes for each attempt, for days."""
    before = len(list(Path("/dev/fd").iterdir()))
    for text in ("one", "two"):
        write_durably(tmp_path / "note", text)
    assert (tmp_path / "note").read_text() == "two"
    assert [path.name for path in tmp_path.iterdir()] == ["note"]
    assert len(list(Path("/dev/fd").iterdir())) == before
