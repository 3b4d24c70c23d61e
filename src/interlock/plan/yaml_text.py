"""Reads YAML text into plain values, with the place of each.

Rules:
1. The text is read as a stream of events, so nothing is built from what is refused: no alias is followed.
2. Scalars mean what YAML 1.2 says: `no`, `on` and `1:30` are text. Keys are always text.
3. Everything wrong is noted and reading goes on, except after a syntax error or at a limit.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml
from yaml.events import MappingEndEvent, ScalarEvent, SequenceEndEvent

from interlock.plan.problem import Notes, Position

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_NOTES = 1000
"""A file with more problems than this is not a task graph; reading stops there."""

_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_NUMBER = re.compile(
    r"(?P<int>[-+]?[0-9]+)|0o(?P<octal>[0-7]+)|0x(?P<hex>[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<special>[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)
_COLUMNS = 2 * MAX_BYTES
"""No line has as many."""
_YAML_TAG = "tag:yaml.org,2002:"
_NUMBER_STARTS = frozenset("0123456789+-.")
_NUMBER_LENGTH = 40
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

# libyaml where PyYAML was built with it, as its wheels are; else the same in Python, many times slower.
Parser = type[yaml.CSafeLoader] | type[yaml.SafeLoader]
FASTEST: Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NO_KEYS: Mapping[str, Any] = MappingProxyType({})
_Event = (
    Any  # one of yaml's events; its stubs say neither what each kind carries nor that its marks are there
)

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]


class Places(NamedTuple):
    """The position of a value, and the content of a list or mapping. `_at` makes the numbers."""

    at: int
    items: "Sequence[Places | int]" = ()
    keys: "Mapping[str, tuple[int, Places | int]]" = _NO_KEYS

    def of(self, path: tuple[str | int, ...], at_key: bool = False) -> Position:
        """The place of what `path` leads to; as far as it leads, when that is not there."""
        here: Places | int = self
        at = self.at
        for step in path:
            if not isinstance(here, Places):
                break
            if isinstance(step, int) and step < len(here.items):
                here = here.items[step]
            elif isinstance(step, str) and step in here.keys:
                at, here = here.keys[step]
                if at_key:
                    continue
            else:
                break
            at = here.at if isinstance(here, Places) else here
        return _place(at)

    def inside(self, *path: str) -> Collection[str]:
        here: Places | int = self
        for step in path:
            if not isinstance(here, Places) or step not in here.keys:
                return ()
            here = here.keys[step][1]
        return here.keys if isinstance(here, Places) else ()


class Document(NamedTuple):
    """The parsed document."""

    value: Value
    places: Places


class _Stop(Exception):
    """Raised when the rest of the file cannot be parsed; the problem has been noted."""


def split_lines(text: str) -> list[str]:
    """The lines as YAML counts them."""
    return _LINE_BREAK.split(text)


def read(text: str, notes: Notes, parser_type: Parser = FASTEST) -> Document | None:
    """The one document in the text; None, with a note, if there is none to look at."""
    if not _is_readable(text, notes):
        return None
    parser = parser_type(text)
    try:
        return _Reader(parser, notes).document()
    except _Stop:
        return None
    except yaml.MarkedYAMLError as error:
        _note_syntax(error, split_lines(text), notes)
        return None
    finally:
        parser.dispose()


def _is_readable(text: str, notes: Notes) -> bool:
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        notes.add(
            Position(1, 1), "the file is larger than 1 MiB", "split the work, or shorten the goals and lists"
        )
        return False
    if bad := _FORBIDDEN.search(text):
        before = split_lines(text[: bad.start()])
        code = f"U+{ord(bad[0]):04X}"
        notes.add(
            Position(len(before), len(before[-1]) + 1),
            f"the character {code} is not allowed",
            "save the file as plain UTF-8 text without control characters",
        )
        return False
    return True


class _Reader:
    """Builds values from events, going one call deeper for each nested collection, `MAX_DEPTH` at most."""

    def __init__(self, parser: yaml.CSafeLoader | yaml.SafeLoader, notes: Notes) -> None:
        self._next: Callable[[], _Event] = parser.get_event
        self._notes = notes

    def document(self) -> Document | None:
        self._next()  # the start of the stream
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            self._notes.add(
                Position(1, 1), "the file is empty", "start with `version: 1`, or run `interlock init`"
            )
            return None
        value, place = self._value(self._next(), 1)
        self._next()  # the end of the document
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            self._note(
                after, "a second document begins here", "keep one document in the file; remove the `---`"
            )
        return Document(value, place if isinstance(place, Places) else Places(place))

    def _value(self, event: _Event, depth: int) -> tuple[Value, Places | int]:
        kind = type(event)
        if kind is yaml.AliasEvent:
            self._note(event, f"aliases are not allowed (`*{event.anchor}`)", "write the value out again")
            return None, _at(event.start_mark)
        if event.anchor is not None:
            self._note(
                event,
                f"anchors are not allowed (`&{event.anchor}`)",
                "remove it, and repeat the value where needed",
            )
        if event.tag is not None:
            self._note(
                event,
                f"tags are not allowed (`{event.tag.replace(_YAML_TAG, '!!')}`)",
                "remove it; put text in quotes",
            )
        if kind is ScalarEvent:
            return self._scalar(event), _at(event.start_mark)
        if depth > MAX_DEPTH:
            self._note(
                event, f"nested deeper than {MAX_DEPTH} levels", "a task graph needs four; check the brackets"
            )
            raise _Stop
        return self._mapping(event, depth) if kind is yaml.MappingStartEvent else self._list(event, depth)

    def _scalar(self, event: _Event) -> Value:
        if event.style == '"' and _ESCAPED.search(event.value):
            self._note(event, "the text contains a control character", "remove the escape sequence")
        return _plain(event.value) if event.implicit[0] else event.value

    def _list(self, start: _Event, depth: int) -> tuple[Value, Places]:
        values: list[Value] = []
        items: list[Places | int] = []
        while type(event := self._next()) is not SequenceEndEvent:
            value, place = self._value(event, depth + 1)
            values.append(value)
            items.append(place)
        return values, Places(_at(start.start_mark), items=items)

    def _mapping(self, start: _Event, depth: int) -> tuple[Value, Places]:
        values: dict[str, Value] = {}
        keys: dict[str, tuple[int, Places | int]] = {}
        while type(event := self._next()) is not MappingEndEvent:
            key = self._key(event, depth)
            value, place = self._value(self._next(), depth + 1)
            if key is None:
                continue
            if key in keys:
                hint = f"it is already in line {_place(keys[key][0]).line}; keep one of the two"
                self._note(event, f"the key `{key}` appears twice", hint)
                continue
            values[key] = value
            keys[key] = (_at(event.start_mark), place)
        return values, Places(_at(start.start_mark), keys=keys)

    def _key(self, event: _Event, depth: int) -> str | None:
        if type(event) is not ScalarEvent or event.anchor is not None or event.tag is not None:
            self._value(event, depth + 1)  # notes what is not allowed, and reads a collection to its end
        if type(event) is not ScalarEvent:
            self._note(event, "a key must be plain text", "write `name: value`")
            return None
        if event.value == "<<" and event.implicit[0]:
            self._note(event, "merge keys (`<<`) are not allowed", "use `defaults:`, or repeat the settings")
            return None
        key: str = event.value
        return key

    def _note(self, event: _Event, message: str, hint: str) -> None:
        self._notes.add(_place(_at(event.start_mark)), message, hint)
        if len(self._notes) >= MAX_NOTES:
            raise _Stop


def _at(mark: Any) -> int:  # Any: libyaml's and Python's marks share no type
    """A position as one number. Every value has one, and numbers cost the garbage collector nothing."""
    line: int = mark.line
    column: int = mark.column
    return line * _COLUMNS + column


def _place(at: int) -> Position:
    line, column = divmod(at, _COLUMNS)
    return Position(line + 1, column + 1)


def _plain(text: str) -> Value:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > _NUMBER_LENGTH:
        return text
    number = _NUMBER.fullmatch(text)
    if not number:
        return text
    kind = number.lastgroup
    if kind == "int":
        return int(text)
    if kind == "octal":
        return int(number["octal"], 8)
    if kind == "hex":
        return int(number["hex"], 16)
    return float(text if kind == "float" else text.replace(".", ""))


_SYNTAX_HINTS = {
    "mapping values are not allowed in this context": "quote text with `: ` in it; check the indentation",
    "did not find expected ',' or ']'": "close the list with `]`, and separate its items with commas",
    "did not find expected ',' or '}'": "close the mapping with `}`, and separate its entries with commas",
    "did not find expected key": "align the key with its neighbours, or finish the value above",
    "could not find expected ':'": "write `key: value`, with a space after the colon",
    "did not find expected '-' indicator": "line up the `-` of every item of the list",
    "block sequence entries are not allowed in this context": "start the list on a line of its own",
    "found character that cannot start any token": "put text that starts with this character in quotes",
    "found unknown escape character": "double the backslash, or use single quotes",
}


def _note_syntax(error: yaml.MarkedYAMLError, lines: list[str], notes: Notes) -> None:
    mark = error.problem_mark or error.context_mark
    place = _place(_at(mark)) if mark else Position(1, 1)
    if error.context_mark and not "".join(lines[place.line - 1 :])[place.col - 1 :].strip():
        notes.add(
            _place(_at(error.context_mark)),
            "a bracket or quote is not closed",
            "close the bracket or the quote",
        )
        return
    line = lines[place.line - 1]
    if "\t" in line[: len(line) - len(line.lstrip())]:
        notes.add(place, "a tab is used for indentation", "indent with spaces")
        return
    problem = error.problem or "not valid YAML"
    hint = _SYNTAX_HINTS.get(problem) or "check quotes, brackets and indentation here and just above"
    notes.add(place, f"not valid YAML: {problem}", hint)
