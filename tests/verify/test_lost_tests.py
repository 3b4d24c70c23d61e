"""The files of tests that a change takes something from, as its diff shows them."""

import pytest

from interlock.model.evidence import Evidence, Gap, Grade, weigh
from interlock.model.outcome import CheckResult
from interlock.model.suite import SuiteResult
from interlock.verify.lost_tests import files_of_tests, lost_tests


def part(path: str, *lines: str, header: str = "index 1..2 100644") -> str:
    return "\n".join((f"diff --git a/{path} b/{path}", header, f"--- a/{path}", f"+++ b/{path}", *lines, ""))


def renamed(old: str, new: str) -> str:
    return f"diff --git a/{old} b/{new}\nsimilarity index 100%\nrename from {old}\nrename to {new}\n"


GONE = part("tests/a.sh", "@@ -1 +0,0 @@", "-test 1", header="deleted file mode 100644")
BINARY = "diff --git a/tests/a.sh b/tests/a.sh\nBinary files a/tests/a.sh and b/tests/a.sh differ\n"
LESS = part("tests/b.py", "@@ -1,2 +1 @@", "-assert 1", "-assert 2", "+assert 3")


@pytest.mark.parametrize(
    ("diff", "lost"),
    [
        (GONE, ("tests/a.sh",)),
        (LESS, ("tests/b.py",)),
        (part("tests/b.py", "@@ -1 +1,2 @@", "-assert 1", "+assert 3", "+assert 4"), ()),
        (part("tests/b.py", "@@ -1 +1 @@", "-assert 1", "+# assert 1"), ("tests/b.py",)),
        (part("tests/b.py", "@@ -1,3 +1 @@", "-", "-# a remark", "-  // another"), ()),
        (part("tests/b.rs", "@@ -1 +0,0 @@", "-#[test]"), ("tests/b.rs",)),
        (part("tests/b.py", "@@ -1 +1 @@", "--- a = b", "+++ a = b"), ()),
        (part("tests/b.py", "@@ -0,0 +1 @@", "+x\x0cdiff --git a/z b/z\u2028deleted file mode"), ()),
        (renamed("tests/a.sh", "tests/b.sh"), ()),
        (renamed("tests/a.sh", "tests/a.sh.off"), ("tests/a.sh",)),
        (renamed("tests/test_a.py", "tests/unit/test_b.py"), ()),
        (renamed("tests/test_a.py", "tests/a.py"), ("tests/test_a.py",)),
        (renamed("a.test.js", "a.js.test"), ("a.test.js",)),
        ("diff --git a/t/a b/t/a\nold mode 100755\nnew mode 100644\n", ("t/a",)),
        ("diff --git a/t/a b/t/a\nold mode 100644\nnew mode 100755\n", ()),
        (BINARY, ("tests/a.sh",)),
        (BINARY.replace("a.sh", "a.png"), ()),
        (BINARY.replace("Binary files a/tests/a.sh", "new file mode 100644\nBinary files /dev/null"), ()),
        (GONE.replace("a/tests/a.sh b/tests/a.sh", '"a/t\\t.sh" "b/t\\t.sh"'), ("t\\t.sh",)),
    ],
)
def test_files_that_are_gone_or_have_less_code_have_lost_tests(diff: str, lost: tuple[str, ...]) -> None:
    assert lost_tests(diff, (), is_whole=True, is_counted=False) == lost


def test_beside_a_report_only_files_count_that_no_report_is_about() -> None:
    more = part("tests/c.py", "@@ -1 +0,0 @@", "-x", header="deleted file mode 100644")
    assert lost_tests(GONE + LESS + more, (), is_whole=True, is_counted=True) == ("tests/a.sh",)


def test_files_behind_the_end_of_a_diff_that_was_cut_count_as_lost() -> None:
    paths = ("tests/b.py", "tests/c.py", "tests/d.py")
    kept = part("tests/b.py", "@@ -0,0 +1 @@", "+x") + part("tests/c.py", "@@ -0,0 +1 @@", "+x")
    assert lost_tests(kept, paths, is_whole=False, is_counted=False) == ("tests/c.py", "tests/d.py")


def test_tests_that_a_report_shows_to_be_fewer_are_named_by_that_report() -> None:
    green = CheckResult("a", 0)
    fewer = CheckResult("a", 0, suite=SuiteResult(passed_count=3), fewer_passed=1, main_passed=4)
    assert weigh([green], lost_tests=("t",)) == Evidence(Grade.OBSERVED, Gap.TESTS_REMOVED, ("t",))
    assert weigh([fewer, green], lost_tests=("t",)) == Evidence(
        Grade.OBSERVED, Gap.FEWER_TESTS, ("a",), fewer_tests=1
    )


def test_files_are_tests_by_their_names() -> None:
    tests = ("tests/a.sh", "test_a.py", "test-a.sh", "a-test.sh", "t/a.t", "a.bats", "a.spec.ts", "a-spec.js")
    assert files_of_tests(["src/a.py", *tests, "check.sh", "latest.py", "contest.js"]) == tests
