"""A state folder has one lineage, whoever asks first."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interlock.git.lineage import ensure_lineage, read_lineage
from interlock.model.errors import EnvironmentProblem


def test_asking_makes_nothing(tmp_path: Path) -> None:
    assert read_lineage(tmp_path / "shop" / ".git/interlock") == ""
    assert not (tmp_path / "shop").exists()


def test_all_that_begin_it_at_once_get_the_same(tmp_path: Path) -> None:
    state = tmp_path / "shop" / ".git/interlock"
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: ensure_lineage(state), range(32)))
    assert found == {read_lineage(state)}
    assert [path.name for path in state.iterdir()] == ["lineage"]


def test_folders_of_the_same_name_differ_and_odd_names_make_one_word(tmp_path: Path) -> None:
    one, two = (ensure_lineage(tmp_path / place / "mein Läden" / ".git/interlock") for place in ("a", "b"))
    assert one != two
    assert one.startswith("mein-L-den-")
    assert one.isascii()


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"two words", b"\0" * 40])
def test_a_damaged_one_is_said_and_not_replaced(tmp_path: Path, content: bytes) -> None:
    """With a new one, a shared server would show another project."""
    (tmp_path / "lineage").write_bytes(content)
    with pytest.raises(EnvironmentProblem, match="is damaged") as caught:
        ensure_lineage(tmp_path)
    assert "refs/interlock/fence" in caught.value.hint
