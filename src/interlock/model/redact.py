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

_TOKENS = {
    **dict.fromkeys(("sk-",), r"[A-Za-z0-9_-]{16,}"),
    **dict.fromkeys(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{16,}"),
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{20,}"),
    "github_pat_": r"[A-Za-z0-9_]{20,}",
    "gl": r"[a-z]{2,5}-[A-Za-z0-9_-]{20,}",
    "xox": r"[a-z]-[A-Za-z0-9-]{10,}",
    **dict.fromkeys(("AKIA", "ASIA", "AROA"), r"[0-9A-Z]{16}"),
    "AIza": r"[0-9A-Za-z_-]{30,}",
    "ya29.": r"[0-9A-Za-z_-]{20,}",
    "hf_": r"[A-Za-z0-9]{20,}",
    "npm_": r"[A-Za-z0-9]{30,}",
    "pypi-": r"[A-Za-z0-9_-]{40,}",
    "AGE-SECRET-KEY-1": r"[0-9A-Z]{20,}",
    "SG.": r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "eyJ": r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
}
"""Prefixes of tokens, and the pattern of the rest."""


def _token(begin: str, rest: str) -> re.Pattern[str]:
    """Not in the middle of a word (`task-...`), but after an escaped line end.

    The beginning stands first, and what must be before it behind it: so `re` looks for the beginning alone,
    which is two hundred times as fast.
    """
    begin = re.escape(begin)
    return re.compile(rf"{begin}(?:(?<![A-Za-z0-9]{begin})|(?<=\\[nrt]{begin})){rest}")


_SHAPES = [(begin, _token(begin, rest)) for begin, rest in _TOKENS.items()]
_SHAPES += [
    (
        "-----BEGIN ",
        re.compile(
            r"-----BEGIN (?P<kind>[A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=kind)-----|\Z)",
            re.DOTALL,
        ),
    ),
    ("://", re.compile(r"(?P<kept>://[^\s/:@\"']{0,64}:)[^\s/@\"']{3,256}(?=@)")),
]
"""A text that must be there, and the pattern it is part of."""
_SAID = [
    ("bearer", r"\bbearer\s{1,4}", r"[A-Za-z0-9._~+/=-]{12,}"),
    (
        "authorization",
        r"\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?[a-z]{3,12}\s{1,4}",
        r"[A-Za-z0-9._~+/=-]{8,}",
    ),
    ("api-key", r"\bx-(?:goog-)?api-key\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?", r"[^\s\"'\\]{8,}"),
]
_SAYINGS = [(word, re.compile(f"(?P<kept>{before}){value}", re.IGNORECASE)) for word, before, value in _SAID]
"""A word in whatever case, what stands before a secret, and the secret."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?)?KEYS?(?:$|_)|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|(?:^|_)(?:AUTH|PAT|PWD|PASS|COOKIE|DSN)(?:$|_)",
    re.IGNORECASE,
)
_PLACE_NAME = re.compile(r"(?:^PWD|^OLDPWD|_SOCK|_FILE|_PATH|_DIR|_HOME|_ENABLED)$", re.IGNORECASE)
"""Names of variables that say where a secret is, and not what it is."""
_PASSWORD = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")


def secret_values(environ: Mapping[str, str]) -> list[str]:
    named = [
        value for name, value in environ.items() if _SECRET_NAME.search(name) and not _PLACE_NAME.search(name)
    ]
    return named + [word for value in environ.values() for word in _PASSWORD.findall(value)]


class Redactor:
    """Knows some secrets by value and the rest by shape."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        self._known = sorted(forms, key=lambda form: (-len(form), form))

    def clean(self, text: str) -> str:
        for form in self._known:
            if form in text:
                text = text.replace(form, MARK)
        for begin, shape in _SHAPES:
            if begin in text:
                text = shape.sub(_without_secret, text)
        lower = text.lower()
        for word, saying in _SAYINGS:
            if word in lower:
                text = saying.sub(_without_secret, text)
        return text


def _without_secret(found: re.Match[str]) -> str:
    return found.groupdict().get("kept", "") + MARK


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
    """Yield the parts of its base64 that do not depend on the bytes before and after it."""
    for before in range(3):
        padded = b64encode(b"\0" * before + raw).decode()
        steady = padded[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        if len(steady) >= KNOWN_LENGTH:
            yield steady
            yield steady.replace("+", "-").replace("/", "_")
