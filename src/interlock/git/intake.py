"""Brings an agent's objects into the repository: packed by us, checked strictly, in quarantine till then."""

import asyncio
import contextlib
import os
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path

from interlock.git.bounds import too_large
from interlock.git.command import Git
from interlock.git.errors import refused
from interlock.git.files import remove_tree
from interlock.git.place import Place
from interlock.model.errors import RejectedObjects

LIMIT_BYTES = 200 << 20
_EXPANDED = 10
"""One file may be so many times larger than all new content when it is packed: 2 GiB, as on the disk."""
_SMALL = 100
"""The most objects that are stored singly: a pack for each attempt would slow every later lookup down."""


async def take_in(
    place: Place, trusted: Git, wanted: Sequence[str], base: str, limit_bytes: int = LIMIT_BYTES
) -> None:
    """Copy what `wanted` has and `base` has not. `RejectedObjects` says what is wrong with it."""
    scratch = trusted.git_dir / "incoming"
    remove_tree(scratch)
    (scratch / "info").mkdir(parents=True)
    (scratch / "pack").mkdir()
    (scratch / "info" / "alternates").write_text(f"{place.objects}\n", errors="surrogateescape")
    stream = scratch / "stream"
    await _pack(trusted, wanted, base, stream, limit_bytes)
    # Not the durable git of `place`: what is in quarantine may well be lost with the power.
    quarantine = Git(
        place.common_dir,
        variables={"GIT_OBJECT_DIRECTORY": str(scratch)},
        unhurried=trusted.unhurried,
        untrusted=True,
    )
    is_small = _count(stream) <= _SMALL
    words = ("unpack-objects", "-q") if is_small else ("index-pack", "--stdin", "--fix-thin", "--threads=1")
    try:
        await _inspect(quarantine, stream, *words)
    except RejectedObjects:
        await _refuse_large_file(trusted, wanted, base, limit_bytes)
        raise
    release = _release_objects if is_small else _release_packs
    await asyncio.to_thread(release, scratch, place.objects)
    await asyncio.to_thread(remove_tree, scratch)


async def _pack(trusted: Git, wanted: Sequence[str], base: str, stream: Path, limit_bytes: int) -> None:
    words = (
        # What is left out here is missed by the inspection, before it is ever unpacked.
        f"--filter=blob:limit={_EXPANDED * limit_bytes + 1}",
        "--revs",
        "--thin",
        "--stdout",
        "--quiet",
        "--no-use-bitmap-index",
        "--delta-base-offset",
        "--threads=1",
    )
    with stream.open("wb") as sink:
        said = await trusted.run(
            "pack-objects",
            *words,
            feed=_revisions(wanted, base),
            sink=sink,
            limit_bytes=limit_bytes,
            ok=range(256),
        )
    if said.cut:
        raise RejectedObjects(f"the attempt holds more than {limit_bytes / (1 << 20):g} MiB of new content")
    if said.code:
        raise refused("pack-objects", said.err)


async def _refuse_large_file(trusted: Git, wanted: Sequence[str], base: str, limit_bytes: int) -> None:
    """Say so if the reason for a refusal was a file that is huge when it is unpacked."""
    most = _EXPANDED * limit_bytes
    words = ("--objects", "--no-object-names", f"--filter=blob:limit={most + 1}", "--filter-print-omitted")
    said = await trusted.run("rev-list", *words, "--stdin", feed=_revisions(wanted, base), ok=range(256))
    if b"\n~" in said.out:
        raise too_large("one of its files is too large", f"{most:,} bytes")


def _revisions(wanted: Sequence[str], base: str) -> bytes:
    return "".join([*(f"{commit}\n" for commit in wanted), f"^{base}\n"]).encode()


def _count(stream: Path) -> int:
    """Count the objects of a pack."""
    with stream.open("rb") as file:
        return int.from_bytes(file.read(12)[8:], "big")


async def _inspect(quarantine: Git, stream: Path, *words: str) -> None:
    """Strict: no broken object, and no link to one that is neither in the pack nor in the repository."""
    with stream.open("rb") as feed:
        said = await quarantine.run(*words, "--strict", feed=feed, ok=range(256))
    if said.code:
        raise refused(words[0], said.err)


def _release_objects(scratch: Path, objects: Path) -> None:
    """Out of quarantine one by one, as git itself does after a push. No ref leads to them before all are."""
    for folder in scratch.glob("[0-9a-f][0-9a-f]"):
        home = objects / folder.name
        with contextlib.suppress(FileExistsError):
            home.mkdir()
            home.chmod(folder.stat().st_mode)  # as git made it, for users who share the repository
        for file in folder.iterdir():
            _put(file, home / file.name)


def _release_packs(scratch: Path, objects: Path) -> None:
    # The index comes last: git looks for packs by their index.
    for part in sorted((scratch / "pack").iterdir(), key=lambda path: path.suffix == ".idx"):
        _put(part, objects / "pack" / part.name)


def _put(file: Path, target: Path) -> None:
    """Move a file to where it is relied on: it is on the disk before it has its name."""
    # A name that git clears away after a crash. Another attempt may bring the same object at the same time.
    fresh = target.with_name(f"tmp_obj_{uuid.uuid4().hex}")
    shutil.move(file, fresh)
    with fresh.open("rb") as written:
        os.fsync(written.fileno())
    fresh.replace(target)
