"""What a look at a checkout without git has to leave to git, whatever it looks for."""

from pathlib import Path

from tests.git.world import git


def link_for_folder(root: Path) -> None:
    (root / "src").rename(root.parent / "away")
    (root / "src").symlink_to(root.parent / "away")


def another_version(root: Path) -> None:
    git(root, "update-index", "--index-version", "4")


def broken_index(root: Path) -> None:
    index = root / ".git" / "index"
    index.write_bytes(index.read_bytes()[:60])


def no_index(root: Path) -> None:
    (root / ".git" / "index").unlink()


SPOILT = [link_for_folder, another_version, broken_index, no_index]
