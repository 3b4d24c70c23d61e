"""No secret survives cleaning, however it is written and wherever it stands; what is none stays (B16, S6)."""

import base64
import json
import urllib.parse
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.redact import MARK, Redactor, secret_values
from interlock.proxy.exchange import Scrubber

SHAPED = {
    "anthropic": "sk-ant-api03-" + "aB3_" * 20,
    "openai": "sk-proj-" + "Zz09" * 10,
    "stripe": "sk_live_" + "a1" * 12,
    "github": "ghp_" + "0aB1" * 9,
    "github-fine": "github_pat_" + "1_aB" * 15,
    "gitlab": "glpat-" + "x1Y2" * 5,
    "slack": "xoxb-" + "123456789012-abcdef",
    "aws": "AKIA" + "ABCDEFGH12345678",
    "google": "AIza" + "Sy_-a" * 7,
    "google-oauth": "ya29." + "a0Af" * 10,
    "hugging-face": "hf_" + "AbCd" * 8,
    "npm": "npm_" + "aB12" * 9,
    "pypi": "pypi-" + "AgEI" * 12,
    "age": "AGE-SECRET-KEY-1" + "QPZRY9X8" * 7,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fw",
}
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7\n" * 3 + "-----END RSA PRIVATE KEY-----"
KNOWN = Redactor(["unshaped/value+1=", 'quo"te\\and\nline'])

readable = st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="[]")
secrets = st.text(readable, min_size=8, max_size=40)
texts = st.text(max_size=60)


@pytest.mark.property
@given(secret=secrets, before=texts, after=texts)
def test_a_known_secret_never_survives(secret: str, before: str, after: str) -> None:
    assert secret not in Redactor([secret]).clean(before + secret + after)


@pytest.mark.property
@given(secret=secrets, before=texts, after=texts, times=st.integers(1, 2))
def test_nor_as_json_writes_it(secret: str, before: str, after: str, times: int) -> None:
    """Tool calls are JSON in a string of JSON."""
    text, written = before + secret + after, secret
    for _ in range(times):
        text, written = json.dumps(text), json.dumps(written)[1:-1]
    assert written not in Redactor([secret]).clean(text)


@pytest.mark.property
@given(secret=secrets, before=st.binary(max_size=20), after=st.binary(max_size=20))
def test_nor_in_base64_or_a_url(secret: str, before: bytes, after: bytes) -> None:
    redactor = Redactor([secret])
    encoded = base64.b64encode(before + secret.encode() + after).decode()
    assert MARK in redactor.clean(encoded)
    quoted = urllib.parse.quote(secret, safe="")
    assert quoted not in redactor.clean(f"https://host/?key={quoted}")


@pytest.mark.property
@given(secret=secrets, before=texts, after=texts, cuts=st.lists(st.integers(0, 200), max_size=8).map(sorted))
def test_a_credential_in_a_stream_is_starred_wherever_the_stream_is_cut(
    secret: str, before: str, after: str, cuts: list[int]
) -> None:
    whole = (before + secret + after).encode()
    edges = [0, *(min(cut, len(whole)) for cut in cuts), len(whole)]
    scrubber = Scrubber(secret)
    pieces = [scrubber.feed(whole[start:end]) for start, end in pairwise(edges)]
    clean = b"".join([*pieces, scrubber.finish()])
    assert clean == whole.replace(secret.encode(), b"*" * len(secret.encode()))


@pytest.mark.property
@given(
    name=st.sampled_from(sorted(SHAPED)),
    before=st.sampled_from(["", " ", "key=", '"', "(", "\n", '{"text": "a\\n', "Bearer ", "x: '"]),
    after=st.sampled_from(["", " ", '"', "\n", "'", ")", ",", '\\n"}']),
)
def test_what_has_the_shape_of_a_secret_never_survives(name: str, before: str, after: str) -> None:
    clean = Redactor().clean(before + SHAPED[name] + after)
    assert SHAPED[name] not in clean
    assert MARK in clean
    assert clean.endswith(after)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer abcdefghijklmnop", f"Authorization: Bearer {MARK}"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {MARK}"),
        ("x-api-key: 0123456789abcdef", f"x-api-key: {MARK}"),
        ("X-Goog-Api-Key: 0123456789abcdef", f"X-Goog-Api-Key: {MARK}"),
        ("https://me:hunter2@host/repo.git", f"https://me:{MARK}@host/repo.git"),
        (f"before {PEM} after", f"before {MARK} after"),
        (json.dumps(PEM), f'"{MARK}"'),
        (PEM[:80], MARK),
        ('unshaped/value+1= and quo\\"te\\\\and\\nline', f"{MARK} and {MARK}"),
    ],
)
def test_the_rest_of_the_text_stays(text: str, clean: str) -> None:
    assert KNOWN.clean(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "the task-implementation-of-the-parser is done",
        "risk-assessment-of-everything-else",
        "sk-learn is short",
        "a basic internationalization example",
        "the bearer of bad news",
        "https://example.org:8443/path@v2",
        "deadbeef" * 5,
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert KNOWN.clean(text) == text


def test_a_secret_of_several_lines_is_found_line_by_line() -> None:
    """Logs come in lines, and a key in a variable has many."""
    redactor = Redactor([PEM])
    assert redactor.clean("MIIEpAIBAAKCAQEA7") == MARK


def test_short_values_are_words_and_not_secrets() -> None:
    assert Redactor(["", "true", "1"]).clean("true is 1") == "true is 1"


def test_the_environment_says_which_of_its_values_are_secret() -> None:
    environ = {
        "ANTHROPIC_API_KEY": "one",
        "GITHUB_TOKEN": "two",
        "MY_SECRET": "three",
        "DB_PASSWORD": "four",
        "AWS_SECRET_ACCESS_KEY": "five",
        "PGPASSWORD": "six",
        "DATABASE_URL": "postgres://u:seven@h/db",
        "SSH_AUTH_SOCK": "/run/agent",
        "GOOGLE_APPLICATION_CREDENTIALS_FILE": "/home/me/key.json",
        "PATH": "/usr/bin",
        "PWD": "/home/me",
        "KEYBOARD": "us",
        "MONKEY": "bar",
    }
    assert sorted(secret_values(environ)) == ["five", "four", "one", "seven", "six", "three", "two"]


@pytest.mark.slow
def test_hostile_text_is_cleaned_in_linear_time() -> None:
    """Were any pattern to backtrack over all of it, this would not end."""
    for piece in ("eyJ", "-----BEGIN PRIVATE KEY-----", "://a:", "bearer ", "sk-", "x-api-key: ", "\\n"):
        Redactor().clean(piece * 100_000)
