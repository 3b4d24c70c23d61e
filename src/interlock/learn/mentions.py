"""Files and folders that the words of a goal name, for tasks that do not say what they touch."""

import re
from collections.abc import Collection, Iterator

_WORD = re.compile(r"[\w./-]+")
PATH = 0.7
"""A path that stands there in full is most often edited, and sometimes an example."""
NAME = 0.5
"""The name of a file, or the end of its path."""
MEANT_MOST = 3
"""A name that more files have than this says nothing."""


class Mentions:
    """The files of a tree, searched for the few words of a goal that look like paths."""

    def __init__(self, files: Collection[str]) -> None:
        self._files = files
        self._known: dict[str, tuple[tuple[str, float], ...]] = {}
        """Meanings of words, looked up once: goals are made of the same ones."""

    def of(self, text: str) -> dict[str, float]:
        """Paths and folders that a text names, each with the probability that it will be edited."""
        found: dict[str, float] = {}
        for word in dict.fromkeys(_WORD.findall(text)):
            meant = self._known.get(word)
            if meant is None:
                meant = self._known[word] = tuple(self._meant(word))
            for path, probability in meant:
                found[path] = max(probability, found.get(path, 0.0))
        return found

    def _meant(self, word: str) -> Iterator[tuple[str, float]]:
        name = word.strip("./-")
        if name in self._files:
            yield name, PATH
        elif "/" in word and any(path.startswith(f"{name}/") for path in self._files):
            yield f"{name}/**", PATH
        elif "." in name or "/" in name:
            meant = sorted(path for path in self._files if path.endswith(f"/{name}"))
            if len(meant) <= MEANT_MOST:
                yield from ((path, NAME / len(meant)) for path in meant)
