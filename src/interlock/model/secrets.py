"""Rules that find secrets in text: few, and each for a form that hardly anything else has.

1. A rule is a name, the bytes that every match begins with, and how a match goes on. Where those bytes are
   absent nothing else is looked for.
2. A match with few different characters (`xxxx`, `0000`), or with a word that examples have, is no secret.
3. A finding names the rule and the line, never the secret.

`model.redact` has a wider net, for text that is shown. What is found here stops a change, so a false alarm
costs an attempt.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_LEAST_VARIETY = 8
"""Different characters that a random token of 20 has nearly always, and a placeholder hardly ever."""
_EXAMPLE = re.compile(
    rb"example|placeholder|redacted|dummy|changeme|your[_-]|xxxx|0000000|1234567890", re.IGNORECASE
)


class Rule(NamedTuple):
    """One form of secret."""

    name: str
    begin: bytes
    shape: bytes
    """A regular expression, compiled when first needed: most commands never look for a secret."""


class Secret(NamedTuple):
    """The position of a secret. The secret itself is not part of it."""

    line: int
    rule: str


def _rule(name: str, begin: str, rest: str) -> Rule:
    """A token that is not part of a longer word."""
    return Rule(name, begin.encode(), rf"(?<![A-Za-z0-9_]){re.escape(begin)}{rest}(?![A-Za-z0-9])".encode())


_PRIVATE_KEY = Rule(
    "private key",
    b"-----BEGIN ",
    # The header alone is in many programs that read keys; a line of the key itself has to follow.
    rb"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\\n|\s){1,4}"
    rb"(?:[\w-]{1,30}: [^\n]{0,200}\s{1,4}){0,4}[A-Za-z0-9+/=]{32,}",
)
RULES = (
    _PRIVATE_KEY,
    _rule("AWS access key", "AKIA", "[0-9A-Z]{16}"),
    _rule("AWS access key", "ASIA", "[0-9A-Z]{16}"),
    *(_rule("GitHub token", begin, "[A-Za-z0-9]{36,}") for begin in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    _rule("GitHub token", "github_pat_", "[A-Za-z0-9_]{50,}"),
    _rule("GitLab token", "glpat-", "[A-Za-z0-9_-]{20,}"),
    *(_rule("Slack token", f"xox{kind}-", "[0-9A-Za-z-]{20,}") for kind in "abprs"),
    _rule("Google API key", "AIza", "[0-9A-Za-z_-]{35}"),
    *(_rule("Stripe key", begin, "[0-9A-Za-z]{20,}") for begin in ("sk_live_", "rk_live_")),
    _rule("Anthropic key", "sk-ant-", "[A-Za-z0-9_-]{32,}"),
    *(_rule("OpenAI key", begin, "[A-Za-z0-9_-]{32,}") for begin in ("sk-proj-", "sk-svcacct-", "sk-admin-")),
    _rule("OpenAI key", "sk-", "[A-Za-z0-9]{48}"),
    _rule("Hugging Face token", "hf_", "[A-Za-z0-9]{34,}"),
    _rule("npm token", "npm_", "[A-Za-z0-9]{36,}"),
    _rule("PyPI token", "pypi-", "[A-Za-z0-9_-]{60,}"),
    _rule("SendGrid key", "SG.", r"[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
    _rule("age key", "AGE-SECRET-KEY-1", "[0-9A-Z]{50,}"),
)  # fmt: skip # a table: one form of secret to a line


def find_secrets(content: bytes, known: bytes = b"") -> Iterator[Secret]:
    """The secrets in a file, first to last of each rule. What `known` has too is nothing new."""
    if b"\0" in content:
        return  # not text
    for rule in RULES:
        if rule.begin not in content:
            continue
        for found in re.finditer(rule.shape, content):
            if _is_random(found[0].removeprefix(rule.begin)) and found[0] not in known:
                yield Secret(content.count(b"\n", 0, found.start()) + 1, rule.name)


def is_private_key(content: bytes) -> bool:
    """Tell if the file is a private key, rather than one that has a key in it."""
    return re.match(_PRIVATE_KEY.shape, content.lstrip()) is not None


def _is_random(token: bytes) -> bool:
    return len(set(token)) >= _LEAST_VARIETY and not _EXAMPLE.search(token)
