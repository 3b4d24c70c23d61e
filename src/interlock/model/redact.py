"""Takes secrets out of text before it is kept or shown.

1. Known values go wherever they stand, also as JSON, URLs and base64 write them.
2. What has the shape of a secret goes too, known or not. Rather too much is taken than too little.
3. Clean first, cut after: half a secret has no shape.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping

MARK = "[redacted]"

KNOWN_LENGTH = 8
"""Shorter values are words of the language as often as secrets."""
LINE_LENGTH = 16
"""Lines of a secret that has several are looked for one by one, because logs come line by line."""

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""Not in the middle of a word (`task-...`), but after an escaped line end."""
_TOKENS = (
    r"sk-[A-Za-z0-9_-]{16,}",
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl[a-z]{2,5}-[A-Za-z0-9_-]{20,}",
    r"xox[a-z]-[A-Za-z0-9-]{10,}",
    r"A(?:KIA|SIA|ROA)[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{40,}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
)
_SHAPES = re.compile(
    "|".join(
        (
            r"-----BEGIN (?P<kind>[A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=kind)-----|\Z)",
            rf"{_START}(?:{'|'.join(_TOKENS)})",
            r"(?P<scheme>\b[Bb][Ee][Aa][Rr][Ee][Rr]\s{1,4})[A-Za-z0-9._~+/=-]{12,}",
            r"(?P<basic>\b[Aa]uthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?[A-Za-z]{3,12}\s{1,4})[A-Za-z0-9._~+/=-]{8,}",
            r"(?P<header>\b[Xx]-(?:[Gg]oog-)?[Aa][Pp][Ii]-[Kk]ey\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?)[^\s\"'\\]{8,}",
            r"(?P<user>://[^\s/:@\"']{0,64}:)[^\s/@\"']{3,256}(?=@)",
        )
    ),
    re.DOTALL,
)

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?)?KEYS?(?:$|_)|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|(?:^|_)(?:AUTH|PAT|PWD|PASS|COOKIE|DSN)(?:$|_)",
    re.IGNORECASE,
)
_PLACE_NAME = re.compile(r"(?:^PWD|^OLDPWD|_SOCK|_FILE|_PATH|_DIR|_HOME|_ENABLED)$", re.IGNORECASE)
"""Names of variables that say where a secret is, and not what it is."""
_PASSWORD = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """The values of variables whose names, or whose form, say that they are secret."""
    named = [
        value for name, value in environ.items() if _SECRET_NAME.search(name) and not _PLACE_NAME.search(name)
    ]
    return named + [word for value in environ.values() for word in _PASSWORD.findall(value)]


class Redactor:
    """Knows some secrets by value and the rest by shape."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def clean(self, text: str) -> str:
        """The text with `[redacted]` in place of every secret."""
        if self._known:
            text = self._known.sub(MARK, text)
        return _SHAPES.sub(_without_secret, text)


def _without_secret(found: re.Match[str]) -> str:
    kept = next((found[name] for name in ("scheme", "basic", "header", "user") if found[name]), "")
    return kept + MARK


def _forms(secret: str) -> Iterator[str]:
    """A secret as it may be written: plain, and as it looks inside JSON, JSON in JSON, a URL, base64."""
    lines = [line.strip() for line in secret.splitlines()]
    whole = [part for part in (secret, secret.strip()) if len(part) >= KNOWN_LENGTH]
    for part in {*whole, *(line for line in lines if len(line) >= LINE_LENGTH)}:
        yield part
        for in_ascii in (True, False):
            once = json.dumps(part, ensure_ascii=in_ascii)[1:-1]
            yield from (once, json.dumps(once, ensure_ascii=in_ascii)[1:-1])
        raw = part.encode(errors="surrogatepass")
        yield "".join(chr(byte) if chr(byte) in _UNRESERVED else f"%{byte:02X}" for byte in raw)
        yield from _base64_forms(raw)


_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _base64_forms(raw: bytes) -> Iterator[str]:
    """What stays the same of its base64, whatever stands before and after it."""
    for before in range(3):
        padded = b64encode(b"\0" * before + raw).decode()
        steady = padded[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        if len(steady) >= KNOWN_LENGTH:
            yield steady
            yield steady.replace("+", "-").replace("/", "_")
