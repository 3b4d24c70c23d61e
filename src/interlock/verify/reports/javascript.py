"""Reports of the test programs of JavaScript, and TAP, which many other programs write."""

import re
from collections.abc import Iterator

from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import suite_of

# TAP, as node:test, tap and many others write it. A nested test is named after those around it.

_TAP_PLAN = re.compile(r"^1\.\.\d+\b", re.MULTILINE)
_TAP_SUITE = re.compile(r"^ *type: 'suite'$")
_TAP_RESULT = re.compile(r"^( *)(not )?ok\b *(\d+)?(?: -)? *(.*)$")
_TAP_SUBTEST = re.compile(r"^( *)# Subtest: (.+)$")
_TAP_DIRECTIVE = re.compile(r"(?<!\\)# *(skip|todo)\b", re.IGNORECASE)
_TAP_TIME = re.compile(r"\s*# *time=.*$")
_TAP_INDENT = 4


def read_tap(text: str) -> SuiteResult | None:
    """Tests by name; None if this is no TAP, or TAP without its plan: node:test prints that where another
    test program runs it."""
    if not _TAP_PLAN.search(text):
        return None
    around: list[str] = []
    tests: list[tuple[str, bool]] = []
    groups: set[str] = set()
    known = 0
    for line in text.splitlines():
        if opened := _TAP_SUBTEST.match(line):
            depth = len(opened[1]) // _TAP_INDENT
            around = [*around[:depth], opened[2].strip()]
        elif result := _TAP_RESULT.match(line):
            known = len(tests)
            _tap_take(result, around, tests, groups)
        elif _TAP_SUITE.match(line):
            del tests[known:]  # a suite without tests
    return suite_of(tests) if tests else SuiteResult()


def _tap_take(
    result: re.Match[str], around: list[str], tests: list[tuple[str, bool]], groups: set[str]
) -> None:
    depth = len(result[1]) // _TAP_INDENT
    title = _TAP_TIME.sub("", _TAP_DIRECTIVE.split(result[4])[0]).strip() or f"test {result[3]}"
    name = " > ".join([*around[:depth], title])
    groups.update(" > ".join(around[:end]) for end in range(1, depth + 1))
    # A result that sums up the ones nested in it is no test of its own.
    if name not in groups and not _TAP_DIRECTIVE.search(result[4]):
        tests.append((name, not result[2]))


# node:test as it prints for people (`--test-reporter=spec`).

_NODE_SUMMARY = re.compile(r"^\u2139 (pass|fail) (\d+)$", re.MULTILINE)
_NODE_LINE = re.compile(r"^( *)([✔✖▶]) (.+?)(?: \([\d.]+m?s\))?(?: # .*)?$")
_NODE_DETAILS = "✖ failing tests:"
_NODE_INDENT = 2


def read_node(text: str) -> SuiteResult | None:
    counts: dict[str, int] = {}
    for word, number in _NODE_SUMMARY.findall(text):
        counts[word] = counts.get(word, 0) + int(number)
    if not counts:
        return None
    around: list[str] = []
    tests: list[tuple[str, bool]] = []
    groups: set[str] = set()
    for line in text.split(_NODE_DETAILS, 1)[0].splitlines():
        if found := _NODE_LINE.match(line):
            around = around[: len(found[1]) // _NODE_INDENT]
            name = " > ".join([*around, found[3]])
            if found[2] == "▶":
                around.append(found[3])
                groups.add(name)
            elif name not in groups:
                tests.append((name, found[2] == "✔"))
    return suite_of(tests, counts.get("pass", 0), counts.get("fail", 0))


# mocha, as it prints by default: titles by indentation, then what passed and what failed.

_MOCHA_PASSING = re.compile(r"^  (\d+) passing\b.*$", re.MULTILINE)
_MOCHA_FAILING = re.compile(r"^  (\d+) failing$", re.MULTILINE)
_MOCHA_TITLE = re.compile(r"^((?:  )+)(\S.*)$")
_MOCHA_GOOD = re.compile(r"^[✔✓√] (.+?)(?: \(\d+ms\))?$")
_MOCHA_BAD = re.compile(r"^\d+\) (.+)$")


def read_mocha(text: str) -> SuiteResult | None:
    passing = _MOCHA_PASSING.search(text)
    if not passing:
        return None
    around: list[str] = []
    tests: list[tuple[str, bool]] = []
    for line in text[: passing.start()].splitlines():
        title = _MOCHA_TITLE.match(line)
        if not title:
            continue
        depth = len(title[1]) // 2 - 1
        around = around[:depth]
        if found := _MOCHA_GOOD.match(title[2]) or _MOCHA_BAD.match(title[2]):
            tests.append((" > ".join([*around, found[1]]), title[2][0] in "✔✓√"))
        elif not title[2].startswith("- "):
            around.append(title[2])
    failing = _MOCHA_FAILING.search(text)
    return suite_of(tests, int(passing[1]), int(failing[1]) if failing else 0)


# vitest: failing tests by name. What passed is named by `--reporter=verbose`, and otherwise counted.

_VITEST_TESTS = re.compile(r"^ +Tests +(.*\(\d+\).*|no tests)$", re.MULTILINE)
_VITEST_FAIL = re.compile(r"^ *FAIL +(.+)$", re.MULTILINE)
_VITEST_PASS = re.compile(
    r"^ [✓√] (\S.*? > .+?)(?: \((?:retry|repeat) x\d+\))*(?: +[\d.]+m?s)?$", re.MULTILINE
)


def read_vitest(text: str) -> SuiteResult | None:
    sums = _VITEST_TESTS.findall(text)
    if not sums:
        return None
    failed = [(name.strip(), False) for name in dict.fromkeys(_VITEST_FAIL.findall(text))]
    passed, passed_count = _VITEST_PASS.findall(text), _number(sums, "passed")
    # Other lines may look like it: it is the verbose report if all are there.
    tests = [*((name, True) for name in passed), *failed] if len(passed) == passed_count else failed
    return suite_of(tests, passed_count, _number(sums, "failed"))


def _number(sums: list[str], word: str) -> int:
    return sum(int(number) for text in sums for number in re.findall(rf"(\d+) {word}\b", text))


# jest: failing tests by name. What passed is named by `--verbose`, and otherwise counted.
#
# With a single test file jest prints as with `--verbose`, and no longer once there is a second one. Names
# that the next report may not have cannot be compared with it, so passed tests are only counted there.

_JEST_TESTS = re.compile(r"^Tests: +(.*\d+ total)$", re.MULTILINE)
_JEST_FILE = re.compile(r"^(?:FAIL|PASS) (\S.*?)(?: \([\d.]+ m?s\))?$")
_JEST_BAD = re.compile(r"^  ● (.+)$")
_JEST_TREE = re.compile(r"^((?:  )+)(?:([✓✕○✎√]) )?(\S.*?)(?: \([\d.]+ m?s\))?$")


def read_jest(text: str) -> SuiteResult | None:
    sums = _JEST_TESTS.findall(text)
    if not sums:
        return None
    lines = text.splitlines()
    failed = [(name, False) for name in dict.fromkeys(_jest_failures(lines))]
    passed, passed_count = list(_jest_passes(lines)), _number(sums, "passed")
    is_named = len(passed) == passed_count and sum(bool(_JEST_FILE.match(line)) for line in lines) > 1
    tests = [*((name, True) for name in passed), *failed] if is_named else failed
    return suite_of(tests, passed_count, _number(sums, "failed"))


def _jest_failures(lines: list[str]) -> Iterator[str]:
    file = ""
    for line in lines:
        if found := _JEST_FILE.match(line):
            file = found[1]
        elif found := _JEST_BAD.match(line):
            yield f"{file} > {found[1]}".replace(" \u203a ", " > ")


def _jest_passes(lines: list[str]) -> Iterator[str]:
    """The tree below the line of each file: titles by indentation, up to the first line that is not of it."""
    around: list[str] | None = None
    for line in lines:
        if found := _JEST_FILE.match(line):
            around = [found[1]]
        elif around and (found := _JEST_TREE.match(line)) and not _JEST_BAD.match(line):
            around = around[: len(found[1]) // 2]
            if found[2] in ("✓", "√"):
                yield " > ".join([*around, found[3]])
            elif not found[2]:
                around.append(found[3])
        else:
            around = None


# ava, as it prints by default.

_AVA_SUMMARY = re.compile(r"^  (\d+) tests? (passed|failed)$", re.MULTILINE)
_AVA_LINE = re.compile(r"^  (✔|✘ \[fail\]:|✖) (.+?)(?: \([\d.]+m?s\))?$", re.MULTILINE)
_AVA_BEHIND = re.compile(r" (?:Error thrown in test|Rejected promise returned by test|Test finished .*)$")


def read_ava(text: str) -> SuiteResult | None:
    counts: dict[str, int] = {}
    for number, word in _AVA_SUMMARY.findall(text):
        counts[word] = counts.get(word, 0) + int(number)
    if not counts:
        return None
    body = text[: next(_AVA_SUMMARY.finditer(text)).start()]
    tests = [(_AVA_BEHIND.sub("", name), mark == "✔") for mark, name in _AVA_LINE.findall(body)]
    return suite_of(
        tests, counts.get("passed"), counts.get("failed")
    )  # what passed is counted only if all did
