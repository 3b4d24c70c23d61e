"""Graphs that are refused, each with its place, a reason and a hint (MISSION W3, T2; SAFETY B10).

`python -m pytest tests/plan -k malformed -v` lists them all.
"""

from dataclasses import dataclass

import pytest

from interlock.plan import GraphProblems, parse
from interlock.plan.problem import Severity

HEAD = "version: 1\nagents: {bot: {use: command, run: [bot]}}\ndefaults: {agent: bot}\n"


def agent(text: str) -> str:
    """A file with one agent, in line 2, which starts in column 10."""
    return f"version: 1\nagents: {{{text}}}\ntasks: {{}}\n"


def task(text: str) -> str:
    """A file with the task `a` in line 5, whose fields start in column 7."""
    return f"{HEAD}tasks:\n  a: {{{text}}}\n"


@dataclass(frozen=True)
class Malformed:
    """A graph, and what must be said about it."""

    name: str
    text: str | bytes
    at: str
    reason: str
    hint: str


DEEP = f"version: 1\ntasks: {'[' * 40}{']' * 40}\n"
MANY = HEAD + "tasks:\n" + "".join(f"  t{i}: {{goal: x}}\n" for i in range(10_001))
CIRCLE = "tasks:\n  a: {goal: x, needs: [c]}\n  b: {goal: x, needs: [a]}\n  c: {goal: x, needs: [a]}\n"

TABLE = [
    # What is not YAML
    Malformed("tab", "version: 1\ntasks:\n\ta: {}\n", "3:1", "a tab is used", "indent with spaces"),
    Malformed("open-brace", "version: 1\ntasks: {a: {goal: x}\n", "2:8", "not closed", "close the bracket"),
    Malformed(
        "open-quote", 'version: 1\ntasks: {a: {goal: "x}}\n', "2:19", "not closed", "close the bracket"
    ),
    Malformed("colon", task("").replace("{}", "\n    goal: fix: it"), "6:14", "mapping values", "`: ` in it"),
    Malformed("at-sign", "version: 1\ntasks:\n  a:\n    goal: @me\n", "4:11", "cannot start", "in quotes"),
    Malformed("indentation", "a:\n    b: 1\n  c: 2\n", "3:3", "expected key", "align the key"),
    Malformed("missing-comma", "version: 1\ntasks: {a: [b c: d} \n", "2:19", "',' or ']'", "`]`"),
    Malformed("escape", task('goal: "\\q"'), "5:14", "unknown escape", "backslash"),
    Malformed("inline-dash", "tasks:\n  needs: - b\n", "2:10", "sequence entries", "line of its own"),
    Malformed("control-character", "version: 1\n# bell \x07\n", "2:8", "U+0007", "control characters"),
    Malformed("surrogate", "version: 1\n# \ud800\n", "2:3", "U+D800", "UTF-8"),
    Malformed("not-utf8", b"version: 1\ntasks: \xff\n", "2:8", "0xff is not UTF-8", "save the file"),
    Malformed("empty", "# nothing yet\n", "1:1", "the file is empty", "interlock init"),
    Malformed(
        "second-document", f"{HEAD}tasks: {{}}\n---\na: 1\n", "5:1", "second document", "remove the `---`"
    ),
    # YAML that we do not take
    Malformed("duplicate-key", task("goal: x, goal: y"), "5:16", "`goal` appears twice", "in line 5"),
    Malformed(
        "duplicate-task", f"{task('goal: x')}  a: {{goal: y}}\n", "6:3", "`a` appears twice", "in line 5"
    ),
    Malformed("anchor", task("goal: &g x"), "5:13", "anchors are not allowed (`&g`)", "repeat the value"),
    Malformed("alias", task("goal: *g"), "5:13", "aliases are not allowed (`*g`)", "write the value out"),
    Malformed("tag", task("goal: !!str x"), "5:13", "tags are not allowed (`!!str`)", "quotes"),
    Malformed("python-tag", task("goal: !!python/name:os.system x"), "5:13", "tags are not", "remove it"),
    Malformed("merge-key", task("<<: {goal: x}, goal: y"), "5:7", "merge keys", "`defaults:`"),
    Malformed("list-as-key", f"{HEAD}tasks:\n  ? [a]\n  : {{goal: x}}\n", "5:5", "plain text", "name: value"),
    Malformed("too-deep", DEEP, "2:39", "deeper than 32", "brackets"),
    Malformed("too-large", "#" * (1024 * 1024 + 1), "1:1", "larger than 1 MiB", "shorten"),
    Malformed("too-many-tasks", MANY, "10005:3", "10001 tasks", "split the work"),
    Malformed("hidden-escape", task('goal: "x\\e[31m"'), "5:13", "control character", "escape sequence"),
    # The shape
    Malformed("list-at-root", "- a\n", "1:1", "must be a mapping", "version: 1"),
    Malformed("text-at-root", "hello\n", "1:1", "must be a mapping", "version: 1"),
    Malformed("no-version", "tasks: {}\n", "1:1", "no `version`", "version: 1"),
    Malformed("other-version", "version: 2\ntasks: {}\n", "1:10", "must be 1", "version: 1"),
    Malformed("true-version", "version: true\ntasks: {}\n", "1:10", "must be 1", "version: 1"),
    Malformed("no-tasks-key", "version: 1\n", "1:1", "no `tasks`", "add `tasks:`"),
    Malformed("tasks-without-value", f"{HEAD}tasks:\n", "4:7", "no value", "after the colon"),
    Malformed("tasks-as-list", f"{HEAD}tasks: [a]\n", "4:8", "is a list", "key: value"),
    Malformed("task-as-text", f"{HEAD}tasks:\n  a: do it\n", "5:6", "is text", "key: value"),
    Malformed(
        "unknown-section", f"{HEAD}taskz: 1\ntasks: {{}}\n", "4:1", "unknown key `taskz`", "mean `tasks`"
    ),
    Malformed("unknown-field", task("goal: x, need: []"), "5:16", "unknown key `need`", "mean `needs`"),
    Malformed(
        "unlike-any-field", task("goal: x, qqq: 1"), "5:16", "unknown key `qqq`", "keys here are agent,"
    ),
    Malformed(
        "unknown-default", "version: 1\ndefaults: {retry: 1}\ntasks: {}\n", "2:12", "`retry`", "`retries`"
    ),
    Malformed("no-goal", task("touches: [a]"), "5:3", "`a` has no `goal`", "add `goal:`"),
    Malformed("empty-goal", task("goal: ' '"), "5:13", "`goal` is empty", "write something"),
    Malformed("goal-as-number", task("goal: 12"), "5:13", "is a number", 'quotes: "12"'),
    Malformed("goal-as-list", task("goal: [x]"), "5:13", "is a list", "one text"),
    Malformed("needs-as-text", task("goal: x, needs: b"), "5:23", "is text: expected a list", "[b]"),
    Malformed("needs-as-mapping", task("goal: x, needs: {b: 1}"), "5:23", "is a mapping", "[first, second]"),
    Malformed("need-as-number", task("goal: x, needs: [7]"), "5:24", "is a number", 'quotes: "7"'),
    Malformed("needs-without-value", task("goal: x, needs: "), "5:23", "no value", "after the colon"),
    Malformed("check-as-boolean", task("goal: x, done_when: true"), "5:27", "a command", "in quotes"),
    Malformed("check-in-list", task("goal: x, verify: [true]"), "5:25", "true or false", 'quotes: "true"'),
    Malformed("empty-check", task("goal: x, verify: ['']"), "5:25", "is empty", "write something"),
    Malformed(
        "check-without-inputs",
        task("goal: x, verify: [{run: make}]"),
        "5:25",
        "no `inputs`",
        "sees all files",
    ),
    Malformed("check-without-run", task("goal: x, verify: [{inputs: [a]}]"), "5:25", "no `run`", "add `run:"),
    Malformed(
        "empty-inputs", task("goal: x, verify: [{run: m, inputs: []}]"), "5:42", "is empty", "write something"
    ),
    Malformed(
        "input-outside", task("goal: x, verify: [{run: m, inputs: [../a]}]"), "5:43", "leaves", "without `..`"
    ),
    Malformed(
        "unknown-check-key",
        task("goal: x, verify: [{run: m, input: [a]}]"),
        "5:34",
        "unknown key `input`",
        "mean `inputs`",
    ),
    Malformed(
        "two-sets-of-inputs",
        task("goal: x, verify: [{run: m, inputs: [a]}], done_when: [m]"),
        "5:61",
        "`m` has other inputs elsewhere",
        "write the same `inputs`",
    ),
    Malformed("two-line-lease", task('goal: x, uses: ["a\\nb"]'), "5:23", "one line", "line breaks"),
    Malformed("label-as-float", task("goal: x, labels: [1.5]"), "5:25", "is a number", 'quotes: "1.5"'),
    Malformed("task-id", f"{HEAD}tasks:\n  Add Login: {{goal: x}}\n", "5:3", "not a task id", "a-z, 0-9"),
    Malformed(
        "option-id", f"{HEAD}tasks:\n  -x: {{goal: x}}\n", "5:3", "`-x` is not a task id", "starting with"
    ),
    Malformed("duration", task("goal: x, timeout: 30 minutes"), "5:25", "`30 minutes`", "90s, 30m, 2h"),
    Malformed("negative-duration", task("goal: x, timeout: -5"), "5:25", "between 0 and", "30m"),
    Malformed("endless-duration", task("goal: x, timeout: .inf"), "5:25", "between 0 and", "30m"),
    Malformed("zero-duration", task("goal: x, estimate: 0s"), "5:26", "more than 0", "the default"),
    Malformed("duration-as-list", task("goal: x, estimate: [1]"), "5:26", "a duration", "seconds"),
    Malformed("negative-retries", task("goal: x, retries: -1"), "5:25", "at least 0", "one attempt"),
    Malformed("half-retries", task("goal: x, retries: 1.5"), "5:25", "a whole number", "whole number"),
    Malformed("many-retries", task("goal: x, retries: 999"), "5:25", "at most 100", "default"),
    Malformed("priority-number", task("goal: x, priority: 5"), "5:26", "not a priority", "4 or lowest"),
    Malformed("priority-name", task("goal: x, priority: urgent"), "5:26", "not a priority", "0 or critical"),
    # Paths
    Malformed("absolute-path", task("goal: x, touches: [/etc/**]"), "5:26", "absolute path", "relative"),
    Malformed("home-path", task("goal: x, shared: [~/x]"), "5:25", "absolute path", "relative"),
    Malformed("drive-path", task("goal: x, shared: ['C:/x']"), "5:25", "absolute path", "relative"),
    Malformed(
        "leaving-path", task("goal: x, exclusive: [a/../../b]"), "5:28", "leaves the repo", "without `..`"
    ),
    Malformed(
        "git-path", task("goal: x, touches: [.git/config]"), "5:26", "files in .git", "part of the repo"
    ),
    Malformed("backslash", task("goal: x, touches: ['a\\b']"), "5:26", "a backslash", "`/`"),
    Malformed("empty-path", task("goal: x, touches: ['']"), "5:26", "is empty", "remove it"),
    # Agents
    Malformed("no-agents", "version: 1\ntasks:\n  a: {goal: x}\n", "2:1", "no agents", "agents: {worker"),
    Malformed(
        "no-agent", f"{agent('c: {use: command, run: [c]}')[:-3]}{{a: {{goal: x}}}}\n", "3:9", "no agent", "c"
    ),
    Malformed("unknown-agent", task("goal: x, agent: bto"), "5:23", "unknown agent `bto`", "mean `bot`"),
    Malformed("unknown-kind", agent("c: {use: robot, run: [c]}"), "2:19", "`robot`", "the kinds are command"),
    Malformed("near-kind", agent("c: {use: claude-cod}"), "2:19", "`claude-cod`", "mean `claude-code`"),
    Malformed("kind-as-number", agent("c: {use: 1, run: [c]}"), "2:19", "a number", "in quotes"),
    Malformed("run-as-text", agent("c: {use: command, run: c -p}"), "2:33", "list of words", "run: [sh, -c"),
    Malformed("run-empty", agent("c: {use: command, run: []}"), "2:33", "no program", "program first"),
    Malformed("run-number", agent("c: {use: command, run: [c, 2]}"), "2:37", "a number", 'quotes: "2"'),
    Malformed("no-run", agent("c: {use: command}"), "2:10", "`c` has no `run`", "does not work without"),
    Malformed("no-url", agent("c: {use: built-in, model: m}"), "2:10", "`c` has no `url`", "does not work"),
    Malformed("own-run", agent("c: {use: codex, run: [c]}"), "2:26", "`run` has no effect", "remove it"),
    Malformed("no-address", agent("c: {use: codex, url: host}"), "2:31", "not the address", "http://"),
    Malformed(
        "key-in-url", agent("c: {use: codex, url: 'http://a:b@c/'}"), "2:31", "must not contain", "`key_env`"
    ),
    Malformed("no-wire", agent("c: {use: command, run: [c], wire: x}"), "2:44", "one of", "anthropic"),
    Malformed("no-leave", agent("c: {use: codex, permissions: x}"), "2:39", "one of allow", "write allow"),
    Malformed("agent-name", agent("C D: {use: command, run: [c]}"), "2:10", "not an agent name", "a-z"),
    Malformed("env-name", agent("c: {use: command, run: [c], env: {1: a}}"), "2:44", "not a name", "letters"),
    Malformed(
        "our-env", agent("c: {use: command, run: [c], env: {INTERLOCK_A: a}}"), "2:44", "itself", "choose"
    ),
    # The whole
    Malformed(
        "unknown-need",
        f"{task('goal: x, needs: [loign]')}  login: {{goal: y}}\n",
        "5:24",
        "`loign`",
        "`login`",
    ),
    Malformed("need-unlike-any", task("goal: x, needs: [zzzzzz]"), "5:24", "`zzzzzz`", "tasks of this file"),
    Malformed("self-need", task("goal: x, needs: [a]"), "5:24", "`a` needs itself", "remove it"),
    Malformed(
        "other-project", task("goal: x, needs: ['web:a']"), "5:24", "not supported yet", "of this file"
    ),
    Malformed("circle", f"{HEAD}{CIRCLE}", "5:24", "a -> c -> a", "remove one"),
]


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_malformed_graph_is_refused_with_its_place_a_reason_and_a_hint(case: Malformed) -> None:
    with pytest.raises(GraphProblems) as refused:
        parse(case.text, "task-graph.yaml")
    problem = next((one for one in refused.value.problems if f"{one.line}:{one.col}" == case.at), None)
    assert problem is not None, f"nothing at {case.at}, but:\n{refused.value}"
    assert case.reason in problem.message
    assert case.hint in problem.hint
    assert problem.severity is Severity.ERROR
    assert str(problem).startswith(f"task-graph.yaml:{case.at}: error: ")


def test_the_table_has_no_case_twice() -> None:
    assert len({case.name for case in TABLE}) == len(TABLE) >= 30


def test_a_problem_shows_the_line_with_a_caret_below_the_place() -> None:
    with pytest.raises(GraphProblems) as refused:
        parse(task("goal: x, needs: [nobody]"), "work/task-graph.yaml")
    assert str(refused.value) == (
        "work/task-graph.yaml:5:24: error: unknown task `nobody`\n"
        "    5 |   a: {goal: x, needs: [nobody]}\n"
        "      |                        ^\n"
        "hint: `needs` names tasks of this file"
    )


def test_all_problems_are_told_at_once_from_top_to_bottom() -> None:
    text = task("goal: '', retries: -1, needs: [zz]") + "  B: {goal: x}\n  c: {goal: y, needs: [a, d]}\n"
    with pytest.raises(GraphProblems) as refused:
        parse(text, "g")
    places = [(one.line, one.col) for one in refused.value.problems]
    assert places == [(5, 13), (5, 26), (5, 38), (6, 3), (7, 27)]


def test_a_need_of_a_broken_task_is_no_second_problem() -> None:
    with pytest.raises(GraphProblems) as refused:
        parse(task("goal: 1, agent: 2") + "  b: {goal: x, needs: [a]}\n", "g")
    assert [(one.line, one.col) for one in refused.value.problems] == [(5, 13), (5, 23)]


def test_of_two_circles_one_is_drawn() -> None:
    names = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "e"), ("e", "c"), ("f", "e")]
    body = "".join(f"  {id}: {{goal: x, needs: [{need}]}}\n" for id, need in names)
    with pytest.raises(GraphProblems) as refused:
        parse(f"{HEAD}tasks:\n{body}", "g")
    messages = [one.message.partition(": ")[2] for one in refused.value.problems]
    assert messages == ["a -> b -> a"]


def test_a_long_circle_is_shortened() -> None:
    body = "".join(f"  t{i}: {{goal: x, needs: [t{(i + 1) % 50}]}}\n" for i in range(50))
    with pytest.raises(GraphProblems) as refused:
        parse(f"{HEAD}tasks:\n{body}", "g")
    assert "... 38 more ... -> t49 -> t0" in str(refused.value)


def test_an_alias_bomb_is_refused_at_its_first_anchor() -> None:
    """Nothing is built from an alias, so nine levels of nine cost what their text costs."""
    levels = ["version: 1", "tasks: {}", "a: &a [x, x, x, x, x, x, x, x, x]"]
    levels += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    with pytest.raises(GraphProblems) as refused:
        parse("\n".join(levels), "bomb")
    assert str(refused.value.problems[0]).startswith("bomb:3:1: error: unknown key `a`")
    assert refused.value.problems[1].message == "anchors are not allowed (`&a`)"


def test_a_file_of_nothing_but_aliases_stops_at_the_thousandth() -> None:
    with pytest.raises(GraphProblems) as refused:
        parse(f"a: [{'*b,' * 20_000}]", "bomb")
    assert len(refused.value.problems) == 1000


def test_what_the_file_says_cannot_steer_the_terminal() -> None:
    with pytest.raises(GraphProblems) as refused:
        parse(task('goal: x, "\\e[2J": 1'), "g")
    assert "\x1b" not in str(refused.value)
