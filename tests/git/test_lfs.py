"""Content of LFS files that a checkout has takes the place of the pointers, if it is what they name."""

import hashlib
from pathlib import Path

import pytest

from interlock.git.lfs import fill
from tests.git.world import World, run, write

CONTENT = b"the real thing\n"
POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    f"oid sha256:{hashlib.sha256(CONTENT).hexdigest()}\nsize {len(CONTENT)}\n"
)


@pytest.mark.parametrize(
    ("content", "filled"), [(CONTENT, ["in/big.bin"]), (b"another thing!\n", []), (b"shorter\n", [])]
)
def test_only_content_with_the_digest_of_its_pointer_is_copied_and_nothing_is_left_beside_it(
    world: World, tmp_path: Path, content: bytes, filled: list[str]
) -> None:
    commit = world.commit({".gitattributes": "*.bin filter=lfs -text\n", "in/big.bin": POINTER})
    (world.root / "in/big.bin").write_bytes(content)
    files = tmp_path / "files"
    write(files, {"in/big.bin": POINTER})
    left = [] if filled else ["in/big.bin"]
    assert run(fill(world.place, files, commit)) == (filled, left)
    assert (files / "in/big.bin").read_bytes() == (CONTENT if filled else POINTER.encode())
    assert [path.name for path in (files / "in").iterdir()] == ["big.bin"]
