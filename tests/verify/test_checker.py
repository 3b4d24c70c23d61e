"""The repository's own checks on a tree, with real git and real processes (W7)."""

import asyncio
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from interlock.git.discover import discover
from interlock.git.workspaces import GitWorkspaces
from interlock.model.outcome import CheckResult
from interlock.model.suite import SuiteResult
from interlock.model.task import Tree
from interlock.process import LocalProcesses
from interlock.verify import LocalChecker
from interlock.verify.breaking import SAID
from interlock.verify.protocol import CheckOrder
from tests.verify.rooms import OpenRooms

pytestmark = pytest.mark.slow


@dataclass
class Bench:
    """A repository with one commit, and a checker on it."""

    state: Path
    tree: Tree
    checker: LocalChecker

    def check(
        self, *commands: str, timeout_seconds: float = 60.0, changed: tuple[str, ...] = ()
    ) -> list[CheckResult]:
        env = {"INTERLOCK_TASK_ID": "a"}
        order = CheckOrder("a/1", self.tree, commands, timeout_seconds, env, changed=changed)
        return list(asyncio.run(self.checker.check(order)))


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    argv = ["git", *identity, "-C", str(folder), *words]
    return subprocess.run(argv, capture_output=True, check=True, text=True).stdout.strip()


LED_AWAY = "linked/away.xml is a link out of the checkout, and a report that goes there is lost: remove it"
"""Of each check on the tree of `bench` that wrote a report."""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "file").write_text("tested\n")
    (tmp_path / "tree.xml").write_text('<testsuite><testcase name="planted"/></testsuite>')
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "away.xml").symlink_to("/dev/null")
    (tmp_path / "linked" / "zero").write_text("0\n")
    git(tmp_path, "add", "file", "tree.xml", "linked")
    git(tmp_path, "commit", "-q", "-m", "first")
    place = asyncio.run(discover(tmp_path))
    processes = LocalProcesses(grace_seconds=0.2, log_limit_bytes=32 << 20)
    checker = LocalChecker(OpenRooms(GitWorkspaces(place)), processes, place.state)
    return Bench(place.state, Tree(git(tmp_path, "rev-parse", "HEAD^{tree}")), checker)


def test_all_commands_run_in_order_also_after_a_red_one(bench: Bench) -> None:
    first, second, third = bench.check("cat file", "cat file; exit 3", "echo still here")
    assert [first.passed, second.passed, third.passed] == [True, False, True]
    assert {first.usual_seconds, second.usual_seconds} == {0.0}, "none of them hung"
    assert (second.exit_code, second.tail) == (3, "tested")
    assert third.tail == "still here"


def test_a_long_output_is_read_beside_the_loop(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """16 MB of empty lines kept the engine from all else for five seconds and more."""

    async def check() -> None:
        asyncio.get_running_loop().slow_callback_duration = 2.5
        order = CheckOrder("a/1", bench.tree, ("yes '' | head -c 16000000",), 60.0, {})
        assert (await bench.checker.check(order))[0].passed

    asyncio.run(check(), debug=True)
    assert [text for record in caplog.records if "took" in (text := record.getMessage())] == []


def test_passed_tests_do_not_push_the_failure_out_of_the_end_that_is_told(bench: Bench) -> None:
    """pytest lists the passed tests last, because we ask it to name them."""
    listed = "for i in $(seq 400); do echo PASSED test_a.py::test_number_$i; done"
    (red,) = bench.check(f"echo 'E   assert 1 == 2'; {listed}; echo '1 failed, 400 passed in 0.10s'; exit 1")
    assert red.tail == "E   assert 1 == 2\n1 failed, 400 passed in 0.10s"


def test_a_long_report_does_not_push_the_words_of_a_canary_out_of_the_end_that_is_told(bench: Bench) -> None:
    """A hundred tests fail, and pytest cuts the lines of its summary at the width of the terminal."""
    (result,) = bench.check(
        f"echo 'E   RuntimeError: {SAID}'; seq -f 'FAILED test.py::test_%g - Runt...' 200; exit 1"
    )
    assert result.tail.startswith(f"E   RuntimeError: {SAID}\n")
    assert result.tail.endswith("test_200 - Runt...")


def test_of_report_files_only_those_that_the_command_itself_wrote_count(bench: Bench) -> None:
    """The tree holds one too; it is there before the command, whatever becomes of it."""
    report = '<testsuite><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite>'
    written, planted, moved, odd, broken = bench.check(
        f"mkdir -p out/deep; echo '{report}' > out/deep/r.xml; echo '<coverage/>' > c.xml; exit 1",
        "ln -s tree.xml link.xml; exit 1",
        "mv tree.xml other.xml; cp -p other.xml third.xml; exit 1",
        "mkfifo pipe.xml; mkdir folder.xml; exit 1",
        "echo '<testsuite><testcase' > r.xml; exit 1",
    )
    assert written.suite == SuiteResult(("a",), ("b",), 1, 1, LED_AWAY)
    assert [each.suite for each in (planted, moved, odd)] == [None, None, None]
    assert broken.suite and broken.suite.flaw.startswith("its report r.xml cannot be read")


def test_a_report_that_goes_to_a_path_of_the_tree_is_not_passed_over(bench: Bench) -> None:
    """A change could commit the file that its new failing test is reported in, or a link in its place."""
    report = '<testsuite><testcase name="a"/></testsuite>'
    over, same, beside, stray = bench.check(
        f"echo '{report}' > tree.xml; echo '{report}' > own.xml; exit 1",
        "cat tree.xml > copy; cat copy > tree.xml; exit 1",
        f"echo '{report}' > linked/own.xml; echo '{report}' > linked/away.xml; exit 1",
        f"echo '<!DOCTYPE a><testsuite/>' > a.xml; echo '{report}' > own.xml",
    )
    remove = "remove it from the repository and ignore it"
    planted = f"its report tree.xml does not count, because it existed before the check: {remove}"
    assert over.suite == SuiteResult(("a",), (), 1, 0, planted)
    assert same.suite == SuiteResult(flaw=planted)
    assert beside.suite and beside.suite.flaw == LED_AWAY
    broken = "its report a.xml cannot be read: it declares a document type"
    assert stray.suite == SuiteResult(("a",), (), 1, 0, broken)


def test_a_command_is_a_shell_line(bench: Bench) -> None:
    assert bench.check("false || echo $INTERLOCK_TASK_ID | tr a-z A-Z")[0].tail == "A"


def test_what_a_check_writes_is_gone_in_the_next_order(bench: Bench) -> None:
    bench.check("echo broken > file; echo more > extra")
    clean = bench.check("cat file; test ! -e extra")[0]
    assert (clean.exit_code, clean.tail) == (0, "tested")


def test_the_output_is_kept_as_evidence_of_the_tree_and_the_command(bench: Bench) -> None:
    bench.check("echo one", "echo two")
    result = bench.check("echo one", "echo two")[1]
    assert result.log == "evidence/a/1/2.log"
    header = f"# interlock: tree {bench.tree}: echo two"
    assert (bench.state / result.log).read_text().splitlines() == [header, "two"] * 2


def test_a_check_that_takes_too_long_is_red_whatever_it_answers(bench: Bench) -> None:
    script = "trap 'exit 0' TERM; echo waiting; while :; do sleep 0.01; done"
    result = bench.check(script, timeout_seconds=3.0)[0]
    assert (result.timed_out, result.exit_code, result.passed) == (True, 124, False)
    assert result.tail.splitlines()[0] == "waiting"


def test_a_check_that_writes_too_much_is_red_whatever_it_answers(bench: Bench) -> None:
    script = "trap 'exit 0' TERM; while :; do head -c 100000 /dev/zero; done"
    result = bench.check(script)[0]
    assert (result.timed_out, result.passed) == (False, False)


def test_a_server_that_a_check_leaves_behind_does_not_live_on(bench: Bench) -> None:
    """It would hold its port against the next candidate."""
    mark = uuid.uuid4().hex
    started = f"mkfifo up; (setsid sh -c 'echo up > up; read _ < up' {mark} &); read it < up; echo $it"
    assert bench.check(started)[0].tail == "up"
    running = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert not any(mark in line for line in running)


def test_whatever_a_check_puts_in_place_of_a_file_of_the_change_is_not_read_for_ever(bench: Bench) -> None:
    """A link to /dev kept a thread of the engine busy until it was killed; a sparse file did for hours."""
    ways = {
        "cp file copy && cat copy > file": (),
        "echo other > file": ("file",),
        "truncate -s 1T file": ("file",),
        "rm file && mkfifo file": ("file",),
        "rm file && ln -s tree.xml file": ("file",),
        "rm -r linked && ln -s /dev linked": ("linked/away.xml", "linked/zero"),
        "chmod +x file; touch linked/zero": ("file",),
        "cp file copy && mv copy file; chmod 600 linked/zero": (),  # of the mode, git keeps one bit
        "ln -sf /dev/zero linked/away.xml": ("linked/away.xml",),
        "rm linked/away.xml && cp file linked/away.xml": ("linked/away.xml",),
        "echo other > file; exit 3": (),  # it failed, whatever it edited
    }
    found = bench.check(*ways, changed=("file", "linked/away.xml", "linked/zero", "missing"))
    assert {result.command: result.edited for result in found} == ways
