"""Globs as leases and footprints understand them (W3, D5, K4)."""

from fnmatch import fnmatchcase
from functools import cache
from itertools import product

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from interlock.model.globs import is_literal, matches, overlap
from tests.tiers import examples

WORDS = ["".join(word) for size in range(1, 11) for word in product("ab", repeat=size)]
"""As long as two names of five characters need to lie behind one another."""
SHORT = WORDS[:6]
PATHS = ["/".join(parts) for depth in range(1, 5) for parts in product(SHORT, repeat=depth)]
"""Deep enough for two globs of two names each, and wide enough for names of two characters."""

names = st.text("ab*?", min_size=1, max_size=2).filter(lambda text: text != "**")
spans = st.sampled_from(("", "**/"))
globs = st.builds(
    lambda a, x, b, y, c: f"{a}{x}/{b}{y}{c}".replace("//", "/"),
    spans, names, spans, st.one_of(names, st.just("")), st.sampled_from(("", "/", "/**")),
)  # fmt: skip


def means(glob: str, path: str) -> bool:
    """The rules of the module once more, slow and by recursion."""
    plain = not any(mark in glob for mark in "*?[")
    return _means(glob.removesuffix("/").split("/"), path.split("/"), plain or glob.endswith("/"))


def _means(glob: list[str], path: list[str], below: bool) -> bool:
    if not glob:
        return below or not path
    if glob[0] == "**":
        return any(_means(glob[1:], path[skip:], below) for skip in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], glob[0]) and _means(glob[1:], path[1:], below)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("src/auth", "src/auth", True),
        ("src/auth", "src/auth/login.py", True),
        ("src/auth/", "src/auth/deep/er.py", True),
        ("src/auth", "src/authors.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**", "src/deep/a.py", True),
        ("src/**/a.py", "src/a.py", True),
        ("**/a.py", "x/y/a.py", True),
        ("src/*", "src/a/b", False),
        ("src/*/", "src/a/b", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("[ab].py", "a.py", True),
        ("[!ab].py", "a.py", False),
        ("[a-c].py", "b.py", True),
        ("[]x].py", "].py", True),
        ("[ab.py", "[ab.py", True),
        ("./src//auth", "src/auth/x", True),
        (".", "anything/at/all", True),
        ("*", "*", True),
        ("a?", "a*", True),
        ("ä*", "äöü", True),
    ],
)
def test_a_glob_means_the_paths_a_reader_expects(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("src/auth", "src/auth/login.py", True),
        ("src/auth", "src/authors", False),
        ("src/**", "src", True),
        ("src/*.py", "src/*.md", False),
        ("src/a*", "src/*b", True),
        ("**/test_*.py", "src/**", True),
        ("docs/**", "src/**", False),
        ("*/a", "b/*", True),
        ("[ab]", "[cd]", True),  # rule 3: classes are not compared with each other
        ("[ab]", "c", False),
        ("[z-a]", "q", True),  # rule 3: a class nobody can read
    ],
)
def test_two_globs_overlap_when_one_path_fits_both(a: str, b: str, expected: bool) -> None:
    assert overlap(a, b) is expected
    assert overlap(b, a) is expected


def test_a_glob_made_to_explode_a_matcher_is_answered_at_once() -> None:
    """A graph file is written by others; a regular expression would not come back from this one."""
    assert not matches("*a" * 30 + "b", "a" * 120)
    assert not overlap("**/a/" * 20 + "b", "a/" * 40 + "*.py")


def test_only_a_glob_without_wildcards_is_literal() -> None:
    assert is_literal("src/auth/") and is_literal("a[b")
    assert not is_literal("src/*") and not is_literal("**") and not is_literal("[a]")


@pytest.mark.property
@given(globs, st.sampled_from(PATHS))
def test_matching_equals_the_rules_read_literally(glob: str, path: str) -> None:
    assert matches(glob, path) == means(glob, path)


@pytest.mark.property
@pytest.mark.slow
@examples(2)
@given(globs, globs)
def test_overlap_is_symmetric_and_equals_brute_force(a: str, b: str) -> None:
    assert overlap(a, b) == overlap(b, a) == bool(meant(a) & meant(b))


@cache
def meant(glob: str) -> frozenset[str]:
    return frozenset(path for path in PATHS if means(glob, path))


@pytest.mark.property
@example("??aa", "*bb")
@given(st.text("ab*?", min_size=1, max_size=4), st.text("ab*?", min_size=1, max_size=4))
def test_names_overlap_exactly_when_a_word_fits_both(a: str, b: str) -> None:
    assume("**" not in (a, b))
    assert overlap(f"x/{a}*", f"x/{b}?") == any(
        fnmatchcase(w, a + "*") and fnmatchcase(w, b + "?") for w in WORDS
    )


@pytest.mark.property
@given(st.sampled_from(PATHS), st.sampled_from(PATHS))
def test_literal_paths_overlap_when_equal_or_one_contains_the_other(a: str, b: str) -> None:
    expected = a == b or a.startswith(b + "/") or b.startswith(a + "/")
    assert overlap(a, b) == expected
