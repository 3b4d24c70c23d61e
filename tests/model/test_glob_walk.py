"""A walk down the folders finds exactly the paths that a glob matches."""

from hypothesis import given
from hypothesis import strategies as st

from interlock.model.glob_walk import enter, step
from interlock.model.globs import matches

NAMES = st.sampled_from(["a", "b", "ab", "a.py", "[", "*"])
GLOBS = st.lists(st.sampled_from(["a", "b", "*", "?", "**", "a*", "[ab]", "*.py"]), min_size=1, max_size=4)


@given(GLOBS, st.booleans(), st.lists(NAMES, min_size=1, max_size=5))
def test_it_ends_where_the_glob_matches(segments: list[str], below: bool, names: list[str]) -> None:
    glob = "/".join(segments) + "/" * below
    walk = enter([glob])
    wholes = []
    for name in names:
        wholes.append(any(each.is_whole for each in walk))
        walk = step(walk, name)
    assert any(each.is_match for each in walk) == matches(glob, "/".join(names))
    assert not any(wholes) or any(each.is_match for each in walk)
