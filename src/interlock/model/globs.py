"""Globs: the paths that one matches, and a test if two can match the same path.

Rules:
1. `*` and `?` stay within one segment, `**` as a whole segment stands for any number of them, none included.
2. A glob without wildcards, or with a slash at its end, also means everything below it.
3. `[...]` is a class of characters; one that cannot be read stands for any character, and two classes are
   taken to have a character in common. So `overlap` may err only towards True, and only there.
4. No regular expression matches a whole path: globs come from files that others write, and a table of
   reachable pairs cannot be made to run for ever.
"""

import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeVar

_STAR: Final = "*"  # in a segment: any characters; as a segment of its own: any segments
_ANY: Final = "?"
_Class = re.Pattern[str]
_Atom = str | _Class
Segment = str | tuple[_Atom, ...]
"""Plain text without wildcards, or the atoms of a pattern. `SPAN` is the segment `**`."""
SPAN: Final[Segment] = (_STAR, _STAR)
_T = TypeVar("_T")


def overlap(a: str, b: str) -> bool:
    # Most pairs live in different folders; they are told apart here and do not crowd the cache.
    if any(map(operator.ne, stem(a), stem(b))):
        return False
    return _overlap(a, b)


@lru_cache(maxsize=65536)
def _overlap(a: str, b: str) -> bool:
    return _meet(segments_of(a), segments_of(b), SPAN, segments_meet)


def matches(glob: str, path: str) -> bool:
    segments = tuple(_split(path))
    if any(map(operator.ne, stem(glob), segments)):
        return False
    return _meet(segments_of(glob), segments, SPAN, segments_meet)


@lru_cache(maxsize=65536)
def is_literal(glob: str) -> bool:
    """Tell if it names one path (and what is below it) rather than a pattern."""
    return all(isinstance(segment, str) for segment in map(_parse_segment, _split(glob)))


@lru_cache(maxsize=65536)
def stem(glob: str) -> tuple[str, ...]:
    """The plain folders it starts with. Globs of which neither stem begins the other cannot overlap."""
    segments: list[str] = []
    for segment in segments_of(glob):
        if not isinstance(segment, str):
            break
        segments.append(segment)
    return tuple(segments)


def _split(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment not in ("", ".")]


@lru_cache(maxsize=65536)
def segments_of(glob: str) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    for text in _split(glob):
        segment = _parse_segment(text)
        if segment is not SPAN or segments[-1:] != [SPAN]:
            segments.append(segment)
    if (is_literal(glob) or glob.endswith("/")) and segments[-1:] != [SPAN]:
        segments.append(SPAN)
    return tuple(segments)


def _parse_segment(text: str) -> Segment:
    if text == "**":
        return SPAN
    atoms: list[_Atom] = []
    at = 0
    while at < len(text):
        end = _class_end(text, at) if text[at] == "[" else 0
        if end:
            atoms.append(_parse_class(text[at + 1 : end]))
            at = end + 1
            continue
        if text[at] != _STAR or atoms[-1:] != [_STAR]:
            atoms.append(text[at])
        at += 1
    return text if all(isinstance(atom, str) and atom not in "*?" for atom in atoms) else tuple(atoms)


def _class_end(text: str, start: int) -> int:
    """Return the index of the `]` that closes the class at `start`; 0 if none does (`[` is a character)."""
    first = start + 2 if text[start + 1 : start + 2] in ("!", "^") else start + 1
    return max(text.find("]", first + 1), 0)  # a `]` in first place belongs to the class


def _parse_class(body: str) -> _Atom:
    negated = body[0] in "!^"
    members = body[1:] if negated else body
    text = re.sub(r"([\\\[\]&~|^])", r"\\\1", members)
    try:
        return re.compile(f"[{'^' if negated else ''}{text}]", re.DOTALL)
    except re.error:
        return _ANY


@lru_cache(maxsize=65536)
def segments_meet(a: Segment, b: Segment) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    return _meet(_atoms(a), _atoms(b), _STAR, _atoms_meet)


def _atoms(segment: Segment) -> Sequence[_Atom]:
    if isinstance(segment, tuple):
        return segment
    # A file may be called `*`: in plain text that is a character like any other.
    return [re.compile(re.escape(char)) if char in "*?" else char for char in segment]


def _atoms_meet(a: _Atom, b: _Atom) -> bool:
    if _ANY in (a, b):
        return True
    if isinstance(a, str):
        return a == b if isinstance(b, str) else b.fullmatch(a) is not None
    return a.fullmatch(b) is not None if isinstance(b, str) else True


def _meet(a: Sequence[_T], b: Sequence[_T], star: _T, meet: Callable[[_T, _T], bool]) -> bool:
    """Tell if both patterns accept one sequence, when `star` stands for any number of elements."""
    reached = [True] + [False] * len(b)
    for i in range(len(a) + 1):
        following = [False] * (len(b) + 1)
        for j in range(len(b) + 1):
            if not reached[j]:
                continue
            a_spans, b_spans = i < len(a) and a[i] == star, j < len(b) and b[j] == star
            if a_spans or (i < len(a) and b_spans):
                following[j] = True  # a's star takes no more, or b's star takes an element of a
            if j < len(b) and (a_spans or b_spans):
                reached[j + 1] = True
            if i < len(a) and j < len(b) and not a_spans and not b_spans and meet(a[i], b[j]):
                following[j + 1] = True
        if i == len(a):
            return reached[len(b)]
        reached = following
    return False
