"""Failures compared: two are the same if they differ only in text that changes from run to run.

1. Escape sequences, moments, durations, addresses, object names, temporary directories, free-standing numbers
   and white space are taken out.
2. A number that is part of a word stays (`test_case_2`, `E501`): it says which thing failed.
3. Of a path in a temporary directory, the file's own name stays, for the same reason.

A fingerprint covers all that was printed, so it tells whether one task failed twice in the same way. Two
tasks run different commands and print different things around the same cause: they share a symptom, which is
the one line that tells it.
"""

import re
from dataclasses import dataclass, field
from hashlib import sha256

from interlock.model.failure_words import check_ending, failure_text
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Why

DIGITS = 12

ESCAPE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
TEMPORARY = r"/(?:private/)?(?:tmp|var/tmp|var/folders|dev/shm|run/user)/[^\s'\"<>|:;,)\]}]*"
DAY = r"\d{4}-\d\d-\d\d"
CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
MOMENT = rf"\b{DAY}(?:[T ]{CLOCK})?|\b\d\d?:\d\d:\d\d(?:[.,]\d+)?"
UUID = r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
HEX = r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}\b"
DURATION = (
    r"(?<![\w.])\d+(?:\.\d+)?\s?"
    r"(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?|m|h|hours?)(?![A-Za-z_])"
)
NUMBER = r"(?<![A-Za-z_0-9])\d+(?:[.,]\d+)*"

TEMPORARY_NAME = r"\btmp[a-z0-9_]{8}\b"


def _own_name(path: re.Match[str]) -> str:
    """The file's name, if it has an ending as written files do; made-up names have none."""
    name = path[0].rpartition("/")[2]
    return f"<tmp>/{name}" if re.search(r"[\w-]\.[A-Za-z]\w*$", name) else "<tmp>"


def normalised(text: str) -> str:
    text = re.sub(ESCAPE, "", text)
    text = re.sub(TEMPORARY, _own_name, text)
    text = re.sub(TEMPORARY_NAME, "<tmp>", text)
    text = re.sub(MOMENT, "<time>", text)
    text = re.sub(f"{UUID}|{HEX}", "<hex>", text)
    text = re.sub(DURATION, "<time>", text)
    text = re.sub(NUMBER, "#", text)
    return " ".join(text.split())


def fingerprint(error: ErrorClass, command: str, text: str) -> str:
    """A short name for a failure: equal for the same failure of the same command."""
    parts = "\0".join((error, command, normalised(text)))
    return sha256(parts.encode(errors="replace")).hexdigest()[:DIGITS]


@dataclass(frozen=True, slots=True)
class Symptom:
    """The line that tells a failure, and a short name that other tasks' failures of this kind share."""

    id: str
    line: str
    example: str = field(default="", compare=False)
    """The same line as it was printed."""


NAMED = re.compile(r"(?:Error|Exception|Failure|Panic)\b\s*:\s*\S")
TOLD = (
    *("error", "fatal", "panic", "cannot", "can't", "could not", "must", "missing", "undefined", "unknown"),
    *("unresolved", "not found", "no such", "not defined", "expected", "required", "denied", "refused"),
    *("exception", "failure"),
)
"""Words of lines that speak of an error."""
NOISE = re.compile(
    r"^(?:make(?:\[\d+\])?: \*\*\*|FAILED\b|ERRORS?\b|=+ |-+ |_+ |npm (?:ERR!|error) code|\d+ )"
)
"""Lines that count failures and name none."""
PLACE = re.compile(r"^(?:E\s{2,})?(?:[^\s:()]+[:(]\d+(?:[:,]\d+)?\)?:?\s+(?:-\s+)?)?")
"""The file and line in front of a message: the same mistake is made in many files."""
TELLING_WORDS = 3
"""The least words of a line that identifies a failure; `AssertionError: assert # == #` has fewer."""
LINE_CHARS = 300
LINES_COMPARED = 20


def symptom(error: ErrorClass, why: Reason | None, feedback: str) -> Symptom:
    """Return the symptom of a failure, the same for every task that it happens to."""
    if why and why.code == Why.CHECK_FAILED:  # the same failure, whatever it fails together with
        why = Reason(why.code, {name: value for name, value in why.fields.items() if name != "cause"})
    summary = failure_text(why)
    if why and why.code == Why.CHECK_FAILED and why.names("newly_failing"):
        # The output has the failures of main as well, and may begin with them.
        line = normalised(check_ending(why))[:LINE_CHARS]
        return Symptom(_name(error, line), line, summary[:LINE_CHARS])
    text = re.sub(ESCAPE, "", feedback) if "\x1b" in feedback else feedback
    told = _telling(text)
    line = normalised(PLACE.sub("", told, count=1))[:LINE_CHARS]
    example = " ".join((told or summary).split())[:LINE_CHARS]
    if error is not ErrorClass.CONFLICT and len(re.findall(r"[A-Za-z_]{2,}", line)) >= TELLING_WORDS:
        return Symptom(_name(error, line), line, example)
    whole = normalised(summary)
    end = normalised("\n".join(text.splitlines()[-LINES_COMPARED:]))
    return Symptom(_name(error, whole, end), line or whole[:LINE_CHARS], example)


def _telling(text: str) -> str:
    """The first line that names an error, else the first that speaks of one: the rest are consequences."""
    lowered = text.lower()
    words = [word for word in TOLD if word in lowered]  # few of them, and a report may have many lines
    lines = [line.strip() for line in text.splitlines() if words and _has_any(line.lower(), words)]
    # A quotation begins with its source, which may be a command with such a word.
    said = [line for line in lines if not NOISE.match(line) and not line.endswith("`:")]
    named = next((line for line in said if NAMED.search(line)), "")
    return named or (said[0] if said else "")


def _has_any(line: str, words: list[str]) -> bool:
    return any(word in line for word in words)


def _name(error: ErrorClass, *parts: str) -> str:
    return sha256("\0".join((error, *parts)).encode(errors="replace")).hexdigest()[:DIGITS]
