"""Brings an agent's objects into the repository: packed by us, checked strictly, in quarantine till then."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from interlock.git.command import Git
from interlock.git.errors import refused
from interlock.git.files import remove_tree
from interlock.git.place import Place
from interlock.model.errors import RejectedObjects

LIMIT_BYTES = 200 << 20
_SMALL = 100
"""Up to this many objects are stored singly: a pack for each attempt would slow every later lookup down."""


async def take_in(
    place: Place, trusted: Git, wanted: Sequence[str], base: str, limit_bytes: int = LIMIT_BYTES
) -> None:
    """Copy what `wanted` has and `base` has not. `RejectedObjects` says what is wrong with it."""
    scratch = trusted.git_dir / "incoming"
    remove_tree(scratch)
    (scratch / "info").mkdir(parents=True)
    (scratch / "pack").mkdir()
    (scratch / "info" / "alternates").write_text(f"{place.objects}\n", errors="surrogateescape")
    await _pack(trusted, wanted, base, scratch / "stream", limit_bytes)
    # Not the durable git of `place`: what is in quarantine may well be lost with the power.
    quarantine = Git(place.common_dir, variables={"GIT_OBJECT_DIRECTORY": str(scratch)})
    await _inspect(quarantine, scratch / "stream")
    await _release(place, scratch)
    remove_tree(scratch)


async def _pack(trusted: Git, wanted: Sequence[str], base: str, stream: Path, limit_bytes: int) -> None:
    revisions = "".join(f"{commit}\n" for commit in wanted) + f"^{base}\n"
    words = (
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
            "pack-objects", *words, feed=revisions.encode(), sink=sink, limit_bytes=limit_bytes, ok=range(256)
        )
    if said.cut:
        raise RejectedObjects(f"the attempt holds more than {limit_bytes / (1 << 20):g} MiB of new content")
    if said.code:
        raise refused("pack-objects", said.err)


async def _inspect(quarantine: Git, stream: Path) -> None:
    """Strict: no broken object, and no link to one that is neither in the pack nor in the repository."""
    with stream.open("rb") as feed:
        said = await quarantine.run(
            "index-pack", "--stdin", "--fix-thin", "--strict", "--threads=1", feed=feed, ok=range(256)
        )
    if said.code:
        raise refused("index-pack", said.err)


async def _release(place: Place, scratch: Path) -> None:
    """Out of quarantine."""
    for pack in (scratch / "pack").glob("pack-*.pack"):
        with pack.open("rb") as file:
            count = int.from_bytes(file.read(12)[8:], "big")
        if count <= _SMALL:
            with pack.open("rb") as file:
                await place.git.run("unpack-objects", "-q", feed=file)
            continue
        # The index comes last: git looks for packs by their index.
        for part in sorted(pack.parent.glob(f"{pack.stem}.*"), key=lambda path: path.suffix == ".idx"):
            fresh = place.objects / "pack" / f"tmp_{part.name}"
            shutil.copyfile(part, fresh)
            fresh.chmod(0o444)
            fresh.replace(place.objects / "pack" / part.name)
