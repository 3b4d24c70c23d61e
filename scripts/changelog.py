"""Gather `changes/` into CHANGELOG.md: the newest release first, and in each the newest change first.

Files in `changes/` itself belong to the version that `interlock --version` shows. A folder in it, such as
`changes/0.1.0/`, holds the files of a release that has been made.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from interlock import __version__

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# Changelog

<!-- Written by `make changelog` from changes/. Edit the files there, not this page. -->

`make changelog` writes this page before a release. Newer changes are files in [changes](changes/README.md).
"""


def changelog(changes: Path, version: str) -> str:
    """The whole page."""
    return "\n".join([HEAD, *(line for part in _releases(changes, version) for line in part)])


def _releases(changes: Path, version: str) -> Iterator[Iterator[str]]:
    yield _release(changes, version)
    made = [folder for folder in changes.iterdir() if folder.is_dir()]
    for folder in sorted(made, key=lambda folder: _numbers(folder.name), reverse=True):
        yield _release(folder, folder.name)


def _release(folder: Path, version: str) -> Iterator[str]:
    files = sorted(folder.glob("[0-9]*-*.md"), reverse=True)
    if files:
        yield f"## {version}\n"
        yield from map(_entry, files)


def _entry(path: Path) -> str:
    """One file, under its own title or under the topic in its name, two levels further down."""
    text = path.read_text(encoding="utf-8").strip()
    if not text.startswith("# "):
        text = f"# {path.stem.split('-', 1)[1].replace('-', ' ').capitalize()}\n\n{text}"
    deeper = re.sub(r"^(#+ )", r"##\1", text, flags=re.MULTILINE)
    return re.sub(r"\]\((\.\./)+", "](", deeper) + "\n"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def main() -> None:
    """Write the page."""
    page = ROOT / "CHANGELOG.md"
    page.write_text(changelog(ROOT / "changes", __version__), encoding="utf-8")
    print(f"changelog: wrote {page.name}")


if __name__ == "__main__":
    main()
