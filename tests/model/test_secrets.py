"""Secrets are found by their form, placeholders are not, and what is found is also redacted."""

import pytest

from interlock.model.redact import Redactor
from interlock.model.secrets import Secret, find_secrets, is_private_key

NOISE = "q7Zk2LmX9vB4tR8wYp3NcH6sDf1GjA5eUoKi"
"""Put together at run time, so that no scanner takes this file for a leak."""
KEY = "-----BEGIN " + "PRIVATE KEY-----\n" + NOISE + NOISE[:28] + "\n-----END " + "PRIVATE KEY-----\n"
TOKENS = {
    "AWS access key": "AKIA" + "Q7ZK2LMX9VB4TR8W",
    "GitHub token": "ghp_" + NOISE,
    "GitLab token": "glpat-" + NOISE[:20],
    "Slack token": "xoxb-" + NOISE,
    "Google API key": "AIza" + NOISE[:35],
    "Stripe key": "sk_live_" + NOISE[:24],
    "Anthropic key": "sk-ant-api03-" + NOISE,
    "OpenAI key": "sk-proj-" + NOISE,
    "Hugging Face token": "hf_" + NOISE[:34],
    "npm token": "npm_" + NOISE,
    "PyPI token": "pypi-" + NOISE + NOISE,
    "SendGrid key": "SG." + NOISE[:22] + "." + NOISE + NOISE[:7],
    "age key": "AGE-SECRET-KEY-1" + (NOISE + NOISE).upper()[:58],
    "private key": KEY,
}


@pytest.mark.parametrize(("rule", "token"), TOKENS.items())
def test_a_secret_is_named_by_rule_and_line_and_never_shown_in_text(rule: str, token: str) -> None:
    text = f"first\nkey = '{token}'\n"
    assert list(find_secrets(text.encode())) == [Secret(2, rule)]
    assert token.strip().splitlines()[-1] not in Redactor().clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "sk-ant-your-key-goes-here-your-key-goes-here",
        "task-" + "a" * 60,
        "if line.startswith('-----BEGIN " + "PRIVATE KEY-----'):",
        "AIza",
    ],
)
def test_a_placeholder_is_no_secret(text: str) -> None:
    assert not list(find_secrets(text.encode()))


def test_what_the_base_had_already_is_nothing_new() -> None:
    token = TOKENS["GitHub token"].encode()
    assert not list(find_secrets(b"x = " + token, known=b"y = " + token))


def test_a_file_that_is_a_key_differs_from_one_that_has_a_key_in_it() -> None:
    assert is_private_key(KEY.encode())
    assert not is_private_key(f"pem = '''{KEY}'''".encode())
