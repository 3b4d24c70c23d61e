"""Values as the JSON of an answer, with nothing in it that a terminal or a browser would obey."""

import re

import msgspec

from interlock.ui.plain import inert

_OBEYED = re.compile(
    rb"\\u00[01][0-9a-f]|\\[bfr]|\x7f|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe1\xa0\x8e"
    rb"|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb]|\xf3\xa0[\x80\x81]"
)
"""The characters of `ui.plain.CONTROL`, as JSON in UTF-8 has them."""
_MARKUP = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))
"""Characters that JSON has in texts only."""


def encoded(value: object) -> bytes:
    """The JSON of a value. Texts of agents and programs lose what a terminal would obey."""
    data = msgspec.json.encode(value, enc_hook=str)
    if _OBEYED.search(data):
        data = msgspec.json.encode(_inert(msgspec.json.decode(data)))
    for mark, escape in _MARKUP:
        data = data.replace(mark, escape)
    return data


def _inert(value: object) -> object:
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, dict):
        return {inert(str(name)): _inert(each) for name, each in value.items()}
    return [_inert(each) for each in value] if isinstance(value, list) else value
