"""`interlock run` with agents whose work is small to write and huge to read: the run goes on without it."""

from pathlib import Path

import pytest

from interlock.git.files import remove_tree
from tests.engine.scratch import Scratch
from tests.run.tree import linux
from tests.sandbox.room import furnished

pytestmark = [linux, pytest.mark.sandbox, pytest.mark.slow]

COMMIT = 'c=$(git commit-tree "$t" -p HEAD -m bomb) && git update-ref HEAD "$c"'
FULL = r"""
case $INTERLOCK_TASK_ID in
quick) head -c 60000000 /dev/urandom > big ;;
hidden) python3 -c "
import os, signal
f = open('hidden', 'wb', 0)
os.unlink('hidden')
f.write(bytes(60_000_000))
signal.pause()
" ;;
esac
"""
AGENT = rf"""
DIG='import os, sys
for _ in range(int(sys.argv[2])):
    os.mkdir(sys.argv[1])
    os.chdir(sys.argv[1])
open("bottom", "w").write("x")'
blob=$(echo x | git hash-object -w --stdin)
case $INTERLOCK_TASK_ID in
honest) echo fine > honest.txt ;;
tree-bomb)
  t=$(printf '100644 blob %s\tf\n' "$blob" | git mktree)
  for level in 1 2 3 4 5 6 7 8 9; do
    t=$(for n in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\t%s\n' "$t" "$n"; done | git mktree)
  done
  {COMMIT} ;;
sparse) truncate -s 1T one; truncate -s 1T two ;;
long-name)
  name=$(head -c 5000 /dev/zero | tr '\0' n)
  t=$( (git ls-tree HEAD; printf '100644 blob %s\t%s\n' "$blob" "$name") | git mktree)
  {COMMIT} ;;
nested) python3 -c "$DIG" d 1100 ;;
long-path) python3 -c "$DIG" "$(head -c 200 /dev/zero | tr '\0' n)" 40 ;;
esac
"""
REFUSED = {
    "tree-bomb": "files in one change",
    "sparse": "one alone 1,024.0 GiB",
    "long-name": "a file name has 5,000 bytes",
    "nested": "201 folders deep",
    "long-path": "a path has",
}


def test_each_bomb_is_refused_with_a_sentence_and_the_run_goes_on(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "probe").mkdir()
    furnished(tmp_path / "probe", "bubblewrap")
    scratch = Scratch(tmp_path / "repository")
    request.addfinalizer(lambda: remove_tree(scratch.root))  # pytest recurses, and breaks off
    scratch.graph("".join(f"  {name}: {{goal: x}}\n" for name in ("honest", *REFUSED)), AGENT, retries="0")
    lines = scratch.interlock("run", code=1).splitlines()
    assert scratch.git("show", "main:honest.txt") == "fine"
    for name, part in REFUSED.items():
        (said,) = [line for line in lines if f" {name}: implement failed: " in line]
        assert "the attempt is too large to import" in said
        assert part in said
    scratch.interlock("gc", "--older-than", "0s")


def test_what_is_over_the_disk_limit_does_not_land_and_is_kept(tmp_path: Path) -> None:
    """One attempt is quicker than any look at its folders, the other hides what it wrote."""
    (tmp_path / "probe").mkdir()
    furnished(tmp_path / "probe", "bubblewrap")
    scratch = Scratch(tmp_path / "repository")
    scratch.write(interlock__toml="disk_limit_bytes = 20000000\n")
    scratch.graph("  quick: {goal: x}\n  hidden: {goal: x}\n", FULL, retries="0")
    before = scratch.git("rev-parse", "main")
    lines = scratch.interlock("run", code=1).splitlines()
    for name in ("quick", "hidden"):
        (said,) = [line for line in lines if f" {name}: implement failed: " in line]
        assert "more on the disk than disk_limit_bytes allows" in said
    assert scratch.git("rev-parse", "main") == before
    kept = scratch.git("for-each-ref", "--format=%(refname)", "refs/interlock/work/quick")
    assert int(scratch.git("cat-file", "-s", f"{kept}:big")) > 10_000_000
