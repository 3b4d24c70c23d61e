"""Tell a check that found something wrong from one that could not run.

Pure. A report in which a test passed shows that the tests ran, in spite of other output: then only what the
test program itself says about its start counts. Patterns are tried in order, the most telling first.
"""

import re
from collections.abc import Iterator

from interlock.model.suite import SuiteResult, Unable
from interlock.verify.reports.naming import plain
from interlock.verify.services import NOT_STARTED

LOOKED_AT = 64 * 1024
"""Characters of the end of the output: why a program gave up stands there."""
NOT_EXECUTABLE, NOT_FOUND = 126, 127
NO_TESTS_EXIT = 5
"""pytest and unittest."""

Found = tuple[Unable, str]

_MODULE = (
    r"No module named '?([\w.]+)'?",
    r"Cannot find (?:module|package) ['\"]([^'\"]+)['\"]",
    r"cannot load such file -- (\S+)",
    r"no required module provides package (\S+?)[;:]",
)
_SERVICE = re.compile(r"^interlock: the service (\S+) did not start: ", re.MULTILINE)
_PYTEST = (
    (Unable.COLLECTION, r"Interrupted: \d+ errors? during collection()"),
    (Unable.PATH, r"^ERROR: (?:file or directory not found|not found): (\S+)"),
    (Unable.COLLECTION, r"^(?:ImportError|ConftestImportFailure).* conftest ?'?([^'\n]*)'?"),
    (Unable.USAGE, r"^ERROR: usage: .*\n.*error: (.+)"),
    (Unable.COLLECTION, r"^(INTERNALERROR)>"),
)
_OTHERS = (
    (Unable.NO_TESTS, r"^No tests found, exiting with code 1()"),
    (Unable.NO_TESTS, r"No test files found()"),
    (Unable.NO_TESTS, r"Couldn.t find any files to test()"),
    (Unable.NETWORK, r"Could not resolve host(?:name)?:? ['\"]?([\w.-]*)"),
    (Unable.NETWORK, r"dial tcp: lookup ([\w.-]+)"),
    (Unable.NETWORK, r"(?:ENOTFOUND|EAI_AGAIN) ?([\w.-]*)"),
    (Unable.NETWORK, r"(?:npm|pnpm|yarn|registry|index).*(?:ECONNREFUSED|ENETUNREACH|ETIMEDOUT)() ?"),
    (Unable.NETWORK, r"(?:Temporary failure in name resolution|Name or service not known)()"),
    (Unable.NETWORK, r"(?:Network is unreachable|error sending request for url|\bdns error)()"),
    (Unable.NETWORK, r"(?:you're using offline mode|--offline was specified)()"),
    (Unable.PROGRAM, r"^(?:\S*sh|env)(?:: line \d+|: \d+)?: '?([^:'\s]+)'?: (?:command )?not found"),
    (Unable.PROGRAM, r"^env: '?([^:'\s]+)'?: No such file or directory"),
    (Unable.PROGRAM, r"^g?make(?:\[\d+\])?: (\S+): (?:No such file or directory|Command not found)"),
    (Unable.SCRIPT, r"Missing script:? [\"']?([^\s\"']+)"),
    (Unable.SCRIPT, r"^(?:error|Usage Error:?) .*?[Cc]ommand \"([^\"]+)\" not found"),
    (Unable.TARGET, r"No rule to make target ['`]([^'`]+)['`]"),
    (Unable.TARGET, r"No targets specified and no (makefile) found"),
    *((Unable.MODULE, pattern) for pattern in _MODULE),
    (Unable.COLLECTION, r"error: could not compile [`']([^`']+)[`']"),
    (Unable.COLLECTION, r"^FAIL\s+(\S+) \[build failed\]"),
)
_NOT_STARTED = re.compile(
    r"^(?:g?make(?:\[\d+\])?: \*\*\* .*\bError 12[67]\b|npm (?:ERR!|error) (?:code|errno) 12[67]\b"
    r"|.*\bELIFECYCLE\b.*\bexit code 12[67]\b|error Command failed with exit code 12[67]\b)",
    re.MULTILINE,
)
"""The last words of make, npm, pnpm and yarn about a program that the shell could not start."""
_PROGRAMS = tuple((kind, pattern) for kind, pattern in _OTHERS if kind is Unable.PROGRAM)


def unable(exit_code: int, timed_out: bool, output: str, suite: SuiteResult | None) -> Found | None:
    """Return the reason why a check could not run, and its subject; None if it ran, green or red."""
    if timed_out:
        return Unable.TIMEOUT, ""
    if exit_code == 0:
        return None
    text = plain(output[-LOOKED_AT:]).replace("\u2018", "'").replace("\u2019", "'")
    if exit_code == NOT_STARTED and (service := _SERVICE.search(text)):
        return Unable.SERVICE, service[1]
    return next(_reasons(exit_code, text, suite), None)


def needs_network(output: str) -> bool:
    """Tell if a command that failed says that it could not reach a server."""
    return any(kind is Unable.NETWORK for kind, _ in _matches(_OTHERS, plain(output)))


def _reasons(exit_code: int, text: str, suite: SuiteResult | None) -> Iterator[Found]:
    for kind, about in _matches(_PYTEST, text):
        module = next(_matches([(Unable.MODULE, pattern) for pattern in _MODULE], text), None)
        yield module if kind is Unable.COLLECTION and module else (kind, about)
    if exit_code in (NOT_FOUND, NOT_EXECUTABLE) or _NOT_STARTED.search(text):
        yield from _matches(_PROGRAMS, text)
        yield from _without_name(exit_code, text)
    if suite and suite.passed_count:
        return
    if exit_code == NO_TESTS_EXIT and suite is not None and not suite.ran:
        yield Unable.NO_TESTS, ""
    yield from _matches(_OTHERS, text)


def _without_name(exit_code: int, text: str) -> Iterator[Found]:
    """A program that could not be started, where no line of a shell says that it was not found."""
    if refused := _after(r"^\S*sh(?:: line \d+|: \d+)?: ([^:\n]+): Permission denied", text):
        yield Unable.NOT_EXECUTABLE, refused
    kind = Unable.NOT_EXECUTABLE if exit_code == NOT_EXECUTABLE else Unable.PROGRAM
    yield kind, ""


def _matches(patterns: "tuple[Found, ...] | list[Found]", text: str) -> Iterator[Found]:
    for kind, pattern in patterns:
        if found := re.search(pattern, text, re.MULTILINE):
            yield kind, found[1]


def _after(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""
