"""Recalls how the person has resolved the same conflict before: what their git keeps as `rerere`.

1. git compares conflicts in files of a work tree. It gets one of our own, with just these files and their own
   index, so neither the checkout nor the person's records are written.
2. Of the records only those of the conflicts at hand are copied, and only plain files of bounded size.
3. Agents cannot record anything: the folder is outside of every sandbox.
"""

import asyncio
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from interlock.git.command import Git
from interlock.git.conflicts import Content, write_blob
from interlock.git.files import SCRATCH, read_beneath
from interlock.git.layout import write_git_dir
from interlock.git.place import Place
from interlock.model.outcome import Clash
from interlock.model.task import Tree

_BYTES = 8 << 20
"""The most that is read of conflicting files together, and of one record."""
_RECORD = re.compile(rb"([0-9a-f]{40,64})(?:\.\d+)?\t(\d+)")
_KEPT = re.compile(r"(pre|post)image(\.\d+)?")
_MOST_RECORDS = 40
_OFF = ("false", "no", "off", "0")


def is_used(place: Place) -> bool:
    """Return True if the person's git recalls resolutions, and has recorded any."""
    is_off = place.settings.get("rerere.enabled", "").lower() in _OFF
    return not is_off and (place.common_dir / "rr-cache").is_dir()


async def recall(place: Place, marked: Tree, clashes: Sequence[Clash]) -> dict[str, Content]:
    """Return the content of those of these files whose conflict the person has resolved before."""
    named = [clash for clash in clashes if "\n" not in clash.path]
    found = await place.git.objects([f"{marked}:{clash.path}" for clash in named], _BYTES)
    if not found:
        return {}
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as home:
        contents = [content for _, content in found]
        recalled = await _recall(place, Path(home), named, contents)
        return {
            clash.path: Content(clash.mode, await write_blob(place, content))
            for clash, before, content in zip(named, contents, recalled, strict=True)
            if content is not None and content != before and b"<<<<<<< " not in content
        }


async def _recall(
    place: Place, home: Path, clashes: Sequence[Clash], contents: Sequence[bytes]
) -> list[bytes | None]:
    """Let git resolve these files, which are named by their number; what each holds then."""
    files, git_dir = home / "files", home / "git"
    await asyncio.to_thread(_write, place, git_dir, files, contents)
    git = Git(git_dir, files, untrusted=True)
    stages = [
        f"100644 {side} {stage}\t{number}\0"
        for number, clash in enumerate(clashes)
        for stage, side in ((1, clash.base), (2, clash.ours), (3, clash.theirs))
        if side
    ]
    await git.run("update-index", "-z", "--index-info", feed="".join(stages).encode())
    await git.run("rerere")
    if not await asyncio.to_thread(_copy_records, place, git_dir):
        return [None for _ in clashes]
    await git.run("rerere")
    texts = [read_beneath(files, str(number), _BYTES) for number in range(len(clashes))]
    return [None if text is None else text.encode("utf-8", "surrogateescape") for text in texts]


def _write(place: Place, git_dir: Path, files: Path, contents: Sequence[bytes]) -> None:
    write_git_dir(git_dir, place, "ref: refs/heads/none", [str(place.objects)])
    (git_dir / "rr-cache").mkdir()  # that turns it on
    files.mkdir()
    for number, content in enumerate(contents):
        (files / str(number)).write_bytes(content)


def _copy_records(place: Place, git_dir: Path) -> bool:
    """Copy the person's records of the conflicts that git has found; False if there is none."""
    note = git_dir / "MERGE_RR"
    ids = {found[1].decode() for found in _RECORD.finditer(note.read_bytes() if note.exists() else b"")}
    copied = False
    for each in sorted(ids):
        source, target = place.common_dir / "rr-cache" / each, git_dir / "rr-cache" / each
        names = [path.name for path in source.glob("*image*") if _KEPT.fullmatch(path.name)]
        for name in sorted(names)[:_MOST_RECORDS]:
            if (text := read_beneath(source, name, _BYTES)) is not None:
                (target / name).write_bytes(text.encode("utf-8", "surrogateescape"))
                copied = True
    if copied:
        note.unlink()
    return copied
