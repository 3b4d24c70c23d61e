"""Files that the words of a goal name, for tasks that do not say what they touch."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from posixpath import basename, dirname, splitext

_WORD = re.compile(r"[\w./-]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
PATH = 0.7
"""A path that stands there in full is most often edited, and sometimes an example."""
NAME = 0.5
WORD = 0.3
"""A word that is also the name of a module."""
WORD_CHARS = 4
MEANT_MOST = 3
"""A name that more files have than this says nothing."""
_EVERYWHERE = frozenset(
    {"init", "main", "index", "test", "tests", "docs", "source", "model", "models", "types"}
)
"""Names of files that are also words of every goal."""


class Mentions:
    """An index over the files of a tree, by what people call them."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = frozenset(files)
        self._folders = {folder for path in self._files for folder in _above(path)}
        self._called: dict[str, set[str]] = defaultdict(set)
        for path in self._files:
            self._called[basename(path).lower()].add(path)
            self._called[_plain(splitext(basename(path))[0])].add(path)
        for folder in self._folders:
            self._called[_plain(basename(folder))].add(f"{folder}/**")
        self._known: dict[str, tuple[tuple[str, float], ...]] = {}
        """What words mean, looked up once: goals are made of the same ones."""

    def of(self, text: str) -> dict[str, float]:
        """Paths and folders that a text names, each with the probability that it will be edited."""
        found: dict[str, float] = {}
        for word in dict.fromkeys(_WORD.findall(text)):
            meant = self._known.get(word)
            if meant is None:
                meant = self._known[word] = tuple(self._meant(word.strip("./-")))
            for path, probability in meant:
                found[path] = max(probability, found.get(path, 0.0))
        return found

    def _meant(self, word: str) -> Iterator[tuple[str, float]]:
        if word in self._files:
            yield word, PATH
        elif word in self._folders:
            yield f"{word}/**", PATH
        elif "/" in word:
            called = self._called.get(basename(word).lower(), ())
            yield from self._shared([path for path in called if path.endswith(f"/{word}")], NAME)
        elif "." in word:
            yield from self._shared(self._called.get(word.lower(), ()), NAME)
        elif len(word) >= WORD_CHARS and (plain := _plain(word)) not in _EVERYWHERE:
            yield from self._shared(
                self._called.get(plain, set()) | self._called.get(f"{plain}s", set()), WORD
            )
            yield from self._shared(self._called.get(plain.removesuffix("s"), ()), WORD)

    def _shared(self, paths: Iterable[str], probability: float) -> Iterator[tuple[str, float]]:
        meant = sorted(paths)
        if len(meant) <= MEANT_MOST:
            for path in meant:
                yield path, probability / len(meant)


def _above(path: str) -> Iterator[str]:
    while path := dirname(path):
        yield path


def _plain(name: str) -> str:
    """`LoginPage`, `login-page` and `login_page` are the same name."""
    return _CAMEL.sub("_", name).lower().replace("-", "_")
