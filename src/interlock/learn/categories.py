"""Finds the kind of work that a task is, and its apparent difficulty, from its definition alone.

What a person declared counts. Else the paths it touches, if all of them are of one kind: a change of code
that also touches its tests and docs is no test and no documentation. Else the words of its goal's
first sentence.
"""

import re
from dataclasses import dataclass

from interlock.events.state import OTHER
from interlock.model.reason import Reason, Why
from interlock.model.task import COMPLEXITIES, Task

PATHS: tuple[tuple[str, str], ...] = (
    ("docs", r"(^|/)docs?/|(^|/)(README|CHANGELOG|CONTRIBUTING)\b|\.(md|rst|adoc)$"),
    ("tests", r"(^|/)(tests?|spec|__tests__)/|(^|/)test_[^/]*$|[._](test|spec)\.\w+$"),
    ("migration", r"(^|/)migrations?/|\.sql$"),
    ("ci", r"^\.github/|^\.gitlab-ci|^\.circleci/|^\.ci/|(^|/)Jenkinsfile$"),
    (
        "build",
        r"(^|/)(Makefile|Dockerfile|pyproject\.toml|package\.json|go\.mod|Cargo\.toml|requirements[^/]*)$",
    ),
    ("frontend", r"(^|/)(frontend|web|ui|components|styles)/|\.(css|scss|tsx|jsx|html|vue|svelte)$"),
)
"""Patterns of paths and globs, by category."""
WORDS: tuple[tuple[str, str], ...] = (
    ("fix", r"fix(es|ed)?|bugs?|crash(es)?|regressions?|broken|wrong"),
    ("docs", r"document(s|ation)?|docs|readme|changelog|docstrings?|tutorial"),
    ("refactor", r"refactor|renam(e|es|ing)|extract|simplify|clean ?up|restructure|split|move"),
    ("tests", r"tests?|coverage"),
    ("migration", r"migrat(e|es|ion|ions)|schema"),
    ("performance", r"speed|faster|slow|optimi[sz]e|performance|latency|cache"),
    ("build", r"upgrade|bump|dependenc(y|ies)|packaging"),
    ("feature", r"add|implement|support|introduce|new|allow|create|build|write"),
)
"""Words of the goal, by category; of several that occur, the category that stands first here."""

HARD_WORDS = r"redesign|rewrite|concurren\w*|protocol|security|migrat\w*"
LONG_GOAL, SHORT_GOAL = 150, 40
SENTENCE_CHARS = 200

# Made once: a plan may have ten thousand tasks.
_PATHS = [(name, re.compile(pattern)) for name, pattern in PATHS]
_ANY_PATH = re.compile("|".join(pattern for _, pattern in PATHS))
_WORDS = [(name, re.compile(rf"\b({pattern})\b", re.IGNORECASE)) for name, pattern in WORDS]
_ANY_WORD = re.compile(rf"\b({'|'.join(pattern for _, pattern in WORDS)})\b", re.IGNORECASE)
_HARD = re.compile(rf"\b({HARD_WORDS})\b", re.IGNORECASE)
_END = re.compile(r"[.:;!?]\s|\n")


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of work, and what it was inferred from."""

    name: str
    why: Reason


def category(task: Task) -> Category:
    if task.category:
        return Category(task.category, Reason(Why.DECLARED))
    return _by_paths(task) or _by_words(task) or Category(OTHER, Reason(Why.KIND_UNKNOWN))


def _by_paths(task: Task) -> Category | None:
    if not task.touches or not _ANY_PATH.search(task.touches[0]):
        return None
    for name, pattern in _PATHS:
        if all(map(pattern.search, task.touches)):
            return Category(name, Reason(Why.FROM_PATHS, {"paths": tuple(task.touches[:2])}))
    return None


def _by_words(task: Task) -> Category | None:
    """Infer the category from the first sentence: later ones mention tests and failures of all sorts."""
    sentence = _END.split(task.goal[:SENTENCE_CHARS].lstrip(), maxsplit=1)[0]
    if not _ANY_WORD.search(sentence):
        return None
    for name, pattern in _WORDS:
        if found := pattern.search(sentence):
            return Category(name, Reason(Why.FROM_WORD, {"word": found[0].lower()}))
    return None


def complexity(task: Task) -> str:
    """Return the difficulty as declared, or as it looks: long goals, many places, many conditions."""
    if task.complexity:
        return task.complexity
    words = len(task.goal.split())
    signs = (
        words > SHORT_GOAL,
        words > LONG_GOAL,
        len(task.touches) > 4,
        len(task.needs) > 3,
        len(task.done_when) > 2,
        _HARD.search(task.goal) is not None,
    )
    low, medium, high = COMPLEXITIES
    return high if sum(signs) > 2 else medium if any(signs) else low
