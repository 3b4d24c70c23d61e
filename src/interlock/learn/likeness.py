"""Finds tasks of the past that are like another: by the words of their goals, story, category and paths."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from interlock.model.task import Task

SIMILAR = 0.25
"""Tasks less alike than this teach nothing about each other."""
SIMILAR_MOST = 20
BY_STORY, BY_CATEGORY, BY_PATHS = 0.25, 0.1, 0.3

_WORDS = re.compile(r"[a-z0-9]{3,}")
_COMMON = frozenset(
    {"the", "and", "for", "with", "that", "this", "from", "into", "not", "are", "its", "when"}
)


@dataclass(frozen=True, slots=True)
class Done:
    """A task that was worked on, and what it touched."""

    spec: Task
    touched: tuple[str, ...]


class Likeness:
    """An index over tasks that were worked on, so that asking it costs what they have in common."""

    def __init__(self, done: Iterable[Done]) -> None:
        self._done = list(done)
        self._sizes: list[int] = []
        self._with_word: dict[str, list[int]] = defaultdict(list)
        self._with_story: dict[str, list[int]] = defaultdict(list)
        self._with_category: dict[str, list[int]] = defaultdict(list)
        self._with_path: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(self._done):
            words = words_of(one.spec.goal)
            self._sizes.append(len(words))
            for word in words:
                self._with_word[word].append(at)
            self._with_story[one.spec.story].append(at)
            self._with_category[one.spec.category].append(at)
            for path in set(one.spec.touches):
                self._with_path[path].append(at)

    def to(self, spec: Task) -> list[tuple[float, Done]]:
        """The tasks most like one, from 0 to 1, the least alike first."""
        words = words_of(spec.goal)
        common = Counter(chain.from_iterable(self._with_word.get(word, ()) for word in words))
        beside, size, sizes = self._beside_words(spec), len(words), self._sizes
        for at in beside:
            common.setdefault(at, 0)
        # No goal is more like this one than the share of its words that it has: most pairs end here.
        least = SIMILAR * size
        found = [
            (share, at)
            for at, count in common.items()
            if (count >= least or at in beside)
            and (share := beside.get(at, 0.0) + count / (size + sizes[at] - count or 1)) >= SIMILAR
        ]
        found.sort()
        # One more than wanted: the task itself may be among them.
        likest = [(min(1.0, share), self._done[at]) for share, at in found[-SIMILAR_MOST - 1 :]]
        return [pair for pair in likest if pair[1].spec.id != spec.id][-SIMILAR_MOST:]

    def _beside_words(self, spec: Task) -> dict[int, float]:
        found: dict[int, float] = defaultdict(float)
        if spec.story:
            for at in self._with_story.get(spec.story, ()):
                found[at] += BY_STORY
        if spec.category:
            for at in self._with_category.get(spec.category, ()):
                found[at] += BY_CATEGORY
        for at in {at for path in spec.touches for at in self._with_path.get(path, ())}:
            found[at] += BY_PATHS
        return found


def words_of(text: str) -> frozenset[str]:
    """The words of a goal that tell it from others."""
    return frozenset(_WORDS.findall(text.lower())) - _COMMON
