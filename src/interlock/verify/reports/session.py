"""Finds out if the report of a red check explains why it is red, and what the command printed beside it.

Rules:
1. One session of one test program. A second one may be a second reason, and may repeat names.
2. No early stop: tests behind a known failure would never run.
3. No reason of the test program's own beside failing tests: a coverage limit, an error outside of tests.
4. All that is printed before and after the session is kept, so that it can be compared with main's. A linter
   in the same command has no other way to show.
5. Where the report is in files, the output has no session that we know. Then all lines are kept but those
   that name a test of the files.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from interlock.model.failure import normalised
from interlock.model.suite import SuiteResult
from interlock.verify.reports.naming import plain, short_lines

BESIDE_LINES = 500
"""The most lines beside a report. With more the output is a log, and the fact about main would be one too."""
BESIDE_CHARS = 160
TITLE_WORDS = 12
"""Words of a title that is looked for in a line. Without an end, a long line would take too long."""
_AROUND = "\"'`()[]<>,;:."

_ONE_CHECK_EACH = "give each command a check of its own in `verify`"


_INNER = r"\s*$|  "
"""Blank and indented lines."""


@dataclass(frozen=True, slots=True)
class _Session:
    """The lines in which a session of a test program begins and ends, and the one that it has just once."""

    begin: str
    end: str
    once: str
    above: str = r"(?!)"
    """Lines that belong to it where they stand right above its begin."""
    below: str = r"(?!)"


_DOTS = r"(?=[.FEsxXu]*\.\.)[.FEsxXu]{6,}"
"""Progress, also where the log of a test stands in the same line. A path begins with fewer of these."""
_PYTEST_END = r"=*[ \t]*(\d+ [a-z ]+(, \d+ [a-z ]+)*|no tests ran) in [\d.]+ ?s( \([\d:, a-z]+\))?[ \t]*=*$"
_SESSIONS = (
    _Session(  # pytest
        r"=+ test session starts =+$|(\S+\.py )?[.FEsxX]+ *(\[ *\d+%\])?$|\S+\.py::\S+ "
        rf"|{_DOTS}|bringing up nodes|=+ (ERRORS|FAILURES|short test summary info) =+$",
        _PYTEST_END,
        _PYTEST_END,
    ),
    _Session(  # unittest
        rf"{_DOTS}|[.FEsxu]+$|\S+ \([\w.]+\)( \.\.\. .*)?$|={{70}}$|-{{70}}$",
        r"Ran \d+ tests? in ",
        r"Ran \d+ tests? in [\d.]+s$",
        below=r"\s*$|(OK|FAILED|NO TESTS RAN)( \(.*\))?$",
    ),
    _Session(  # TAP
        r"TAP version \d|1\.\.\d+|(not )?ok\b|# Subtest",
        r"1\.\.\d+|(not )?ok\b|# (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|time)\b",
        r"1\.\.\d+",
        below=_INNER,
    ),
    _Session(  # node:test
        r" *[✔✖▶﹣] ",
        r"\u2139 duration_ms",
        r"\u2139 pass \d+$",
        below=_INNER + r"|✖ failing tests:$|✖ .+ \([\d.]+m?s\)$|test at |[}\]]$",
    ),
    _Session(  # mocha
        r" +([✔✓√]|\d+\)) ", r"  \d+ (passing|pending|failing)\b", r"  \d+ passing\b", _INNER, _INNER
    ),
    _Session(r" *(RUN|DEV) +v\d", r" +Duration +", r" +Tests +(.*\(\d+\)|no tests)"),  # vitest
    _Session(r"(PASS|FAIL) ", r"Time: |Ran all test suites", r"Tests: +.*\d+ total$"),  # jest
    _Session(  # ava
        r"  ([✔✖]|✘ \[fail\]:|- \[\w+\]) ", r"  \d+ tests? ", r"  \d+ tests? (passed|failed)$", below=_INNER
    ),
    _Session(  # go: a command may name packages one after the other; their tests have other names
        r"=== RUN|--- (PASS|FAIL|SKIP)|(ok  |FAIL|\?   )\t|\{\"(Time|Action)\"",
        r"(ok  |FAIL|\?   )\t|\{\"(Time|Action)\"",
        r"(?!)",
        below=r"FAIL$",
    ),
    _Session(  # cargo
        r" +(Compiling|Finished|Running|Blocking|Fresh|Dirty|Doc-tests) |running \d+ tests?$|warning: ",
        r"test result: |error: \d+ targets? failed|error: (doc)?test failed|all doctests ran",
        r" +Finished ",
        below=_INNER,
    ),
    _Session(  # ctest
        r"Internal ctest changing|Test project |Running tests\.\.\.$",
        r"Total Test time ",
        r"Total Test time ",
        below=r"\s*$|\t|Errors while running CTest|The following tests (did not run|FAILED):$",
    ),
    _Session(r"ninja: | *\d+/\d+ .* (OK|FAIL) ", r"Full log written to ", r"Full log written to "),  # meson
    _Session(
        r"(PASS|FAIL|XFAIL|SKIP): ", r"=+$", r"# TOTAL: ", below=r"See |Please report |=+$|\s*$"
    ),  # automake
    _Session(r".*<testsuites?\b", r".*</testsuites?>", r"(?!)"),  # JUnit
)
_OWN_REASONS = re.compile(
    r"^.*(?:\bBail out!"
    r"|FAIL Required test coverage|Coverage failure:|[Cc]overage .*(?:not meet|not met|not reached|below)"
    r"|meet (?:global )?threshold"
    r"|Unhandled (?:Errors?|Rejections?)\b|^ +Errors +\d+ error|^ *Type Errors +"
    r"|^INTERNALERROR>"
    r"|^\u2139 cancelled [1-9]).*$",
    re.MULTILINE,
)
_REASONS_OF = (
    (  # go
        re.compile(r"^(?:ok  |FAIL)\t", re.MULTILINE),
        re.compile(r"^(?:panic: |exit status (?!1$)\d+).*$", re.MULTILINE),
    ),
    (  # cargo
        re.compile(r"^test result: ", re.MULTILINE),
        re.compile(r"^error(?:\[E\d+\])?: (?!\d+ targets? failed:|test failed, to rerun).*$", re.MULTILINE),
    ),
)
"""Reasons that hold for one program only: others print the same words with another meaning."""
_STOPPED = re.compile(
    r"^.*(?:!! (?:\S+: )?stopping after \d+ failures?|!! (?:\S+: )?Interrupted|xdist\.dsession\.Interrupted"
    r"|^Test Suites: .* \d+ of \d+ total).*$",
    re.MULTILINE,
)
_CARGO_STOPPED = re.compile(r"^error: (?:doc)?test failed, to rerun", re.MULTILINE)
_CARGO_ENDED = re.compile(r"^error: \d+ targets? failed:", re.MULTILINE)
_TESTING = re.compile(
    r"\b(?:py\.?tests?|unittest|mocha|jest|vitest|ava|tox|nox|tests?)\b(?!/)|\bcargo test|\bgo test", re.I
)
_MOVING = re.compile(r"\s*(?:cd|export|source|\.|mkdir|rm|cp|test|\[)\s")
_OPTIONS = (
    (r"\bpy\.?test\b.*?\s(-[qvsl]*x[qvsl]*|--exitfirst|--maxfail(?:[= ]\S+)?)(?=\s|$)"),
    (r"\b(?:unittest|manage\.py)\b.*?\s(-f|--failfast)(?=\s|$)"),
    (r"\b(?:mocha|jest)\b.*?\s(-b)(?=\s|$)"),
    (r"\s(--bail(?:[= ]\d+)?|--fail-?fast|-failfast)(?=\s|$)"),
)


def accounted(
    command: str, output: str, suite: SuiteResult, words: frozenset[str] = frozenset()
) -> SuiteResult:
    """The result of a red check with why its report does not account for that, or what was printed beside.

    `words`: the classes and names of the tests, where the report is in files.
    """
    text = short_lines(plain(output))
    outside = [line for line in _outside(text) if not (words and _names_a_test(line, words))]
    # npm and make print the commands that they run.
    commands = [command, *(line.removeprefix("> ") for line in outside)]
    flaw = suite.flaw or next(chain(_stops(commands), _flaws(text, len(outside))), "")
    return replace(suite, flaw=flaw, beside=() if flaw else tuple(_numbered(outside)))


def _stops(commands: list[str]) -> Iterator[str]:
    for command in commands:
        if option := _stopping(command):
            yield f"`{option}` stops before the tests after a failing one: remove it"
        if part := _stopping_part(command):
            yield f"the commands after `{part}` do not run while it fails: {_ONE_CHECK_EACH}"


def _flaws(text: str, beside: int) -> Iterator[str]:
    if stopped := _STOPPED.search(text):
        yield f"it stopped early ({_short(stopped[0])}), so later tests did not run: let it run to the end"
    if _CARGO_STOPPED.search(text) and not _CARGO_ENDED.search(text):
        yield "cargo stops after the first target with a failing test: add `--no-fail-fast`"
    if own := _own_reason(text):
        yield f"it is red for another reason too ({_short(own[0])})"
    count = sum(len(re.findall(rf"^(?:{kind.once})", text, re.MULTILINE)) for kind in _SESSIONS)
    if count > 1:
        yield f"it has {count} test sessions: {_ONE_CHECK_EACH}"
    if (planned := re.search(r"^1\.\.(\d+)", text, re.MULTILINE)) and int(planned[1]) != _tap_results(text):
        yield f"{planned[1]} tests were planned and {_tap_results(text)} ran"
    if beside > BESIDE_LINES:
        yield f"it prints more than {BESIDE_LINES} lines beside its report: {_ONE_CHECK_EACH}"


def _own_reason(text: str) -> re.Match[str] | None:
    others = (reasons.search(text) for program, reasons in _REASONS_OF if program.search(text))
    return _OWN_REASONS.search(text) or next(filter(None, others), None)


def _tap_results(text: str) -> int:
    return len(re.findall(r"^(?:not )?ok\b", text, re.MULTILINE))


def _stopping(command: str) -> str:
    found = next((match for pattern in _OPTIONS if (match := re.search(pattern, command))), None)
    return found[1] if found else ""


def _stopping_part(command: str) -> str:
    """The part of `a && b` that runs the tests and is not the last."""
    between = r"&&|;|\n" if re.search(r"\bset -\w*e|\bsh -\w*e", command) else r"&&"
    parts = [part.strip() for part in re.split(between, command)]
    return next((part for part in parts[:-1] if _TESTING.search(part) and not _MOVING.match(part)), "")


def _outside(text: str) -> Iterator[str]:
    """The lines before the session and after it."""
    lines = text.splitlines()
    spans = [span for kind in _SESSIONS if (span := _span(lines, kind))]
    first = min((span[0] for span in spans), default=0)
    last = max((span[1] for span in spans), default=-1)
    yield from (line for line in (*lines[:first], *lines[last + 1 :]) if line.strip())


def _names_a_test(line: str, words: frozenset[str]) -> bool:
    parts = line.split()
    spans = (
        " ".join(parts[start:end]).strip(_AROUND)
        for start in range(len(parts))
        for end in range(start + 1, min(len(parts), start + TITLE_WORDS) + 1)
    )
    return any(span in words for span in spans)


def _span(lines: list[str], kind: _Session) -> tuple[int, int] | None:
    """The first line and the last of a session; None: there is none of this kind."""
    begins, ends, above, below = map(re.compile, (kind.begin, kind.end, kind.above, kind.below))
    last = max((at for at, line in enumerate(lines) if ends.match(line)), default=None)
    if last is None:
        return None
    first = next((at for at, line in enumerate(lines[: last + 1]) if begins.match(line)), last)
    while first and above.match(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and below.match(lines[last + 1]):
        last += 1
    return first, last


def _numbered(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they are in every run; one that comes again is numbered, as a second finding is a new one."""
    seen: Counter[str] = Counter()
    for line in lines:
        name = _short(normalised(re.sub(r"\S*/_logs/\S+", "<log>", line)))
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


def _short(line: str) -> str:
    return " ".join(line.split())[:BESIDE_CHARS]
