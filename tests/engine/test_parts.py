"""Submodules and files of LFS are there for agents and checks, as the checkout has them."""

import hashlib
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch
from tests.run.tree import linux

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, linux]

CONTENT = b"the real thing\n"
OID = hashlib.sha256(CONTENT).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(CONTENT)}\n"


def with_pointer(scratch: Scratch, agent: str, verify: str = "grep -q 'real thing' big.bin") -> None:
    """A file of LFS, as a machine without git-lfs sees it: git takes the pointer as it is."""
    scratch.write(__gitattributes="*.bin filter=lfs diff=lfs merge=lfs -text\n", big__bin=POINTER)
    scratch.graph("  t: {goal: t}\n", agent, verify=verify)


@pytest.mark.parametrize("kept_in", ["store", "checkout"])
def test_a_file_of_lfs_has_its_content_and_its_pointer_stays_on_main(scratch: Scratch, kept_in: str) -> None:
    agent = "cp big.bin copy.txt; git add copy.txt; git commit -qam 'all of it'"
    with_pointer(scratch, agent)
    if kept_in == "store":
        place = scratch.root / ".git/lfs/objects" / OID[:2] / OID[2:4] / OID
        place.parent.mkdir(parents=True)
        place.write_bytes(CONTENT)
    else:
        # As git-lfs leaves it: the content in the checkout, and an index that knows it by its times.
        (scratch.root / "big.bin").write_bytes(CONTENT)
        scratch.git("update-index", "--assume-unchanged", "big.bin")
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}
    assert scratch.git("show", "main:copy.txt") == CONTENT.decode().strip()
    assert scratch.git("show", "main:big.bin") == POINTER.strip()


def test_what_does_not_match_its_digest_is_not_shown(scratch: Scratch) -> None:
    with_pointer(scratch, "cp big.bin copy.txt", verify="test -s big.bin")
    place = scratch.root / ".git/lfs/objects" / OID[:2] / OID[2:4] / OID
    place.parent.mkdir(parents=True)
    place.write_bytes(b"too short\n")
    said = scratch.interlock("run")
    assert "git LFS files are not downloaded: big.bin: git lfs pull" in said
    assert scratch.git("show", "main:copy.txt") == POINTER.strip()


def test_a_submodule_of_the_checkout_is_there(scratch: Scratch, tmp_path: Path) -> None:
    library = Scratch(tmp_path / "elsewhere" / "library")
    library.write(words__txt="from the library\n")
    library.commit()
    allowed = ("-c", "protocol.file.allow=always")
    scratch.git(*allowed, "submodule", "--quiet", "add", str(library.root), "libs/words")
    scratch.graph("  t: {goal: t}\n", "cp libs/words/words.txt t.txt", verify="test -s libs/words/words.txt")
    scratch.interlock("run")
    assert scratch.git("show", "main:t.txt") == "from the library"
    assert scratch.git("status", "--porcelain") == ""
