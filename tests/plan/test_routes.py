"""Routes of the task graph (A8): the agents of tasks that name none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.plan import GraphProblems, parse

HEAD = """version: 1
agents:
  local: {use: command, run: [l], complexity: medium, labels: [cheap]}
  claude: {use: command, run: [c], capabilities: [sql]}
  gpt: {use: command, run: [g]}
"""
ROUTES = """routes:
  - {when: "category == 'docs' and complexity <= 2", try: [local, claude]}
  - {when: "'urgent' in labels or priority == 0", try: gpt}
  - {when: "category in ['db', 'schema']", try: any}
defaults: {agent: claude}
"""


def task(fields: str, head: str = HEAD + ROUTES) -> tuple[list[str], str]:
    (found,) = parse(f"{head}tasks:\n  a: {{goal: x{fields}}}\n", "g").tasks
    return [agent.name for agent in found.candidates], found.route.partition(":")[0]


@pytest.mark.parametrize(
    ("fields", "agents", "route"),
    [
        (", category: docs, complexity: low", ["local", "claude"], "routes[0]"),
        (", category: docs, complexity: high", ["claude"], ""),
        (", category: docs", ["claude"], ""),  # its complexity is not known
        (", labels: [urgent]", ["gpt"], "routes[1]"),
        (", priority: critical, category: db", ["gpt"], "routes[1]"),
        (", category: db", ["local", "claude", "gpt"], "routes[2]"),
        (", category: db, requires: [sql]", ["claude"], "routes[2]"),
        (", category: db, complexity: high", ["claude", "gpt"], "routes[2]"),
        (", category: db, agent: local", ["local"], ""),  # its own word comes first
        ("", ["claude"], ""),
    ],
)
def test_the_first_route_whose_condition_holds_names_the_agents(
    fields: str, agents: list[str], route: str
) -> None:
    assert task(fields) == (agents, route)


def test_a_condition_sees_the_defaults_of_all_tasks_and_the_id() -> None:
    head = f"{HEAD}defaults: {{category: docs}}\n"
    by_category = head + "routes: [{when: \"category == 'docs'\", try: [local]}]\n"
    assert task("", by_category) == (["local"], "routes[0]")
    by_id = head + "routes: [{when: \"task == 'a'\", try: gpt}, {try: claude}]\n"
    assert task("", by_id) == (["gpt"], "routes[0]")
    assert task("", by_id.replace("'a'", "'b'")) == (["claude"], "routes[1]")


def test_a_graph_without_routes_names_none() -> None:
    assert task("", f"{HEAD}defaults: {{agent: gpt}}\n") == (["gpt"], "")


@pytest.mark.parametrize(
    ("routes", "problem", "place"),
    [
        (
            '[{when: "category = 1", try: gpt}]',
            "routes[0].when column 10: `=` is not part of a condition",
            17,
        ),
        ("[{try: gtp}]", "unknown agent `gtp`", 16),
        ('[{when: "true"}]', "`routes` has no `try`", 10),
        ('[{whn: "true", try: gpt}]', "unknown key `whn`", 11),
        ('[{when: "true", try: []}]', "`try` is empty", 30),
        ("[{when: \"categry == 'x'\", try: gpt}]", "routes[0].when column 1: `categry` is not known", 17),
    ],
)
def test_a_mistake_in_a_route_is_told_at_its_place(routes: str, problem: str, place: int) -> None:
    with pytest.raises(GraphProblems) as caught:
        parse(f"{HEAD}routes: {routes}\ndefaults: {{agent: gpt}}\ntasks:\n  a: {{goal: x}}\n", "g")
    first = caught.value.problems[0]
    assert first.message == problem
    assert (first.line, first.col) == (6, place)


def test_a_route_that_no_task_can_reach_is_a_warning() -> None:
    head = f'{HEAD}routes: [{{try: gpt}}, {{when: "true", try: local}}]\n'
    (warning,) = parse(f"{head}tasks:\n  a: {{goal: x}}\n", "g").warnings
    assert warning.message == "no task reaches routes[1]: routes[0] takes all"


@given(st.text(max_size=40))
def test_whatever_a_condition_is_the_graph_is_read_or_refused_with_its_place(text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    try:
        parse(f"{HEAD}routes:\n  - {{when: {quoted}, try: gpt}}\ntasks:\n  a: {{goal: x, agent: gpt}}\n", "g")
    except GraphProblems as refused:
        assert refused.problems
