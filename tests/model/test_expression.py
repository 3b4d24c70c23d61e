"""Conditions in files (A8): what they mean, and that nothing but their own error ever comes out of them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interlock.model.expression import (
    MAX_CHARS,
    MAX_DEPTH,
    NUMBER,
    TEXT,
    TRUTH,
    WORDS,
    ExpressionError,
    Kind,
    Known,
    parse,
)

NAMES = {
    "category": Kind(TEXT),
    "complexity": Kind(NUMBER, ("low", "medium", "high")),
    "attempt.number": Kind(NUMBER),
    "attempt.failed": Kind(TRUTH),
    "labels": Kind(WORDS),
}
VALUES: dict[str, Known] = {
    "category": "docs",
    "complexity": 2.0,
    "attempt.number": 3,
    "attempt.failed": True,
    "labels": ("ui", "slow"),
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("category == 'docs'", True),
        ('category != "docs"', False),
        ("category == 'docs' and complexity <= 2", True),
        ("complexity < 2 or attempt.number >= 3", True),
        ("not category == 'docs' or false", False),
        ("not (category == 'code' and attempt.failed)", True),
        ("attempt.failed", True),
        ("attempt.failed == false", False),
        ("category in ['code', 'docs']", True),
        ("category not in ['code', 'docs']", False),
        ("'ui' in labels", True),
        ("'db' not in labels", True),
        ("complexity <= 'medium'", True),
        ("complexity > 'medium'", False),
        ("complexity in ['low', 'medium']", True),
        ("'low' < complexity", True),
        ("2.5 > complexity", True),
        ("category == none", False),
        ("true or category == 'x' and false", True),
    ],
)
def test_a_condition_means_what_it_says(text: str, holds: bool) -> None:
    assert parse(text, NAMES).holds(VALUES) is holds


def test_a_name_without_a_value_equals_only_none() -> None:
    for text in (
        "category == 'docs'",
        "complexity <= 9",
        "complexity > 0",
        "attempt.failed",
        "'ui' in labels",
    ):
        assert not parse(text, NAMES).holds({})
    assert parse("category == none and complexity == none", NAMES).holds({})


@pytest.mark.parametrize(
    ("text", "column", "told"),
    [
        ("categroy == 'docs'", 1, "`categroy` is not known"),
        ("category = 'docs'", 10, "`=` is not part of a condition"),
        ("category == 'docs", 13, "does not end"),
        ("category == docs", 13, "`docs` is not known"),
        ("category == 2", 10, "a number and text cannot be compared"),
        ("category < 'x'", 10, "`<` compares numbers"),
        ("complexity <= 'hgh'", 15, "complexity is never 'hgh'"),
        ("category ==", 12, "ends too early"),
        ("category", 9, "a comparison is missing"),
        ("(category == 'a'", 17, "`)` is missing"),
        ("category == 'a' category == 'b'", 17, "not expected"),
        ("category in labels and complexity in labels", 24, "text only"),
        ("category in [labels]", 14, "literals only"),
        ("category in 'docs'", 13, "not a list"),
        ("labels == 'ui'", 8, "cannot be compared"),
        ("open('/etc/passwd')", 1, "`open` is not known"),
        ("category.__class__ == 'x'", 1, "`category.__class__` is not known"),
        ("1 + 1 == 2", 3, "`+` is not part of a condition"),
        ("", 1, "ends too early"),
    ],
)
def test_a_mistake_is_told_with_its_column(text: str, column: int, told: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    assert caught.value.column == column and told in caught.value.text


def test_length_and_depth_have_limits() -> None:
    deep = MAX_DEPTH * 10
    for text in ("(" * deep + "true" + ")" * deep, "not " * deep + "true", "true or " * MAX_CHARS + "true"):
        with pytest.raises(ExpressionError):
            parse(text, NAMES)


WORDS_OF_IT = [
    *(
        "and",
        "or",
        "not",
        "in",
        "true",
        "false",
        "none",
        "(",
        ")",
        "[",
        "]",
        ",",
        "==",
        "!=",
        "<",
        ">=",
        "'a'",
    ),
    *("3", "'low'", *NAMES, "other", "'", "=", "\n", "é", "\x00"),
]
VALUE = st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.text()).map(tuple)


@given(
    st.lists(st.sampled_from(WORDS_OF_IT), max_size=25).map(" ".join) | st.text(max_size=60),
    st.dictionaries(st.sampled_from(sorted(NAMES)), VALUE),
)
@example("not " * 200, {})
@example("complexity == 1", {"complexity": float("nan")})
def test_nothing_but_its_own_error_comes_out_whatever_is_written(
    text: str, values: dict[str, str | float | bool | tuple[str, ...] | None]
) -> None:
    try:
        condition = parse(text, NAMES)
    except ExpressionError as error:
        assert 1 <= error.column <= len(text) + 1
    else:
        assert condition.holds(values) in (True, False)


LEAVES = st.sampled_from(
    ["category == 'docs'", "complexity > 2", "attempt.failed", "'ui' in labels", "false"]
)


@given(
    st.recursive(LEAVES, lambda inner: st.tuples(st.sampled_from(["and", "or"]), inner, inner), max_leaves=8)
)
def test_and_or_and_brackets_are_those_of_logic(tree: object) -> None:
    def text(node: object) -> str:
        return f"({text(node[1])} {node[0]} {text(node[2])})" if isinstance(node, tuple) else str(node)

    def holds(node: object) -> bool:
        if not isinstance(node, tuple):
            return parse(str(node), NAMES).holds(VALUES)
        sides = holds(node[1]), holds(node[2])
        return all(sides) if node[0] == "and" else any(sides)

    assert parse(text(tree), NAMES).holds(VALUES) is holds(tree)
