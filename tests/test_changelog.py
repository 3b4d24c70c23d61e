"""The tool behind `make changelog`: every file of `changes/` once, the newest first."""

import re
from pathlib import Path

from scripts.changelog import changelog

ROOT = Path(__file__).resolve().parent.parent


def test_the_newest_release_and_its_newest_change_come_first(tmp_path: Path) -> None:
    for name, text in {
        "README.md": "# Changes",
        "0012-new.md": "# New\n\nSee [checks](../docs/checks.md).\n\n## Note\n\nText.",
        "0011-what-failed.md": "Plain text.",
        "0.9.0/0002-nine.md": "# Nine",
        "0.10.0/0003-ten.md": "# Ten\n\nSee [checks](../../docs/checks.md).",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    page = changelog(tmp_path, "0.11.0")
    assert re.findall(r"^#+ .*", page, re.MULTILINE)[1:] == [
        "## 0.11.0",
        "### New",
        "#### Note",
        "### What failed",
        "## 0.10.0",
        "### Ten",
        "## 0.9.0",
        "### Nine",
    ]
    assert page.count("[checks](docs/checks.md)") == 2


def test_every_change_of_this_repository_is_in_its_changelog() -> None:
    page = changelog(ROOT / "changes", "1.0")
    assert page.count("\n### ") == len(list((ROOT / "changes").glob("**/[0-9]*-*.md")))
