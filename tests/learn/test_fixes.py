"""What one change has and another had not, read from their diffs (K5)."""

from interlock.learn.fixes import EXCERPT_CHARS, difference, edits


def diff(path: str, *lines: str) -> str:
    """A diff as git prints it: these lines, between two that stay."""
    old = 2 + sum(not line.startswith("+") for line in lines)
    new = 2 + sum(not line.startswith("-") for line in lines)
    body = "\n".join((" before", *lines, " after"))
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ -1,{old} +1,{new} @@ def f():\n{body}\n"


def test_a_file_that_only_the_landed_change_touches_comes_first() -> None:
    failed = diff("a.py", "+one", "+two")
    landed = diff("a.py", "+one", "+three") + diff("conf.toml", "-strict = false", "+strict = true")
    fix = difference(failed, landed)
    assert fix is not None
    assert fix.paths == ("conf.toml", "a.py")
    assert fix.excerpt.splitlines() == [
        "conf.toml, in what landed:",
        "-strict = false",
        "+strict = true",
        "a.py, in what landed:",
        "+three",
        "a.py, in what failed instead:",
        "+two",
    ]


def test_the_same_change_on_another_base_teaches_nothing() -> None:
    assert difference(diff("a.py", "+one"), diff("a.py", "+one").replace("@@ -1,", "@@ -91,")) is None
    assert difference("", "") is None


def test_blank_lines_make_no_difference() -> None:
    assert difference(diff("a.py", "+one"), diff("a.py", "+one", "+   ")) is None


def test_a_line_that_looks_like_a_header_is_a_line() -> None:
    assert edits(diff("a.py", "+++ b/other.py", "--- a/other.py")) == {
        "a.py": ["+++ b/other.py", "--- a/other.py"]
    }


def test_a_file_that_is_new_or_gone_has_its_name() -> None:
    new = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
    gone = "diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert edits(new + gone) == {"n": ["+x"], "g": ["-x"]}
    without_end = diff("e", "-x", "\\ No newline at end of file", "+y")
    assert edits(without_end)["e"] == ["-x", "+y"]


def test_a_long_difference_is_cut() -> None:
    fix = difference("", diff("a.py", *(f"+line {n}" for n in range(1_000))))
    assert fix is not None
    assert len(fix.excerpt) < EXCERPT_CHARS + 10
    assert fix.excerpt.endswith("[cut]")
