"""Names of files and folders that may give access to something: one list for what agents see and what lands.

Two strengths, since a wrong guess costs differently. Agents are shown none of them from the checkout. Of what
they make, files with the names of `CREDENTIALS` and `KEYS` never land; the other names are those of source
files too (`secrets.py`, a public certificate), which are searched for secrets instead.
"""

import re
from collections.abc import Iterable
from fnmatch import translate

CREDENTIALS = (
    *(".env", ".env.*", ".env-*", ".env_*", "*.env", ".envrc", ".netrc", ".pypirc"),
    *(".git-credentials", ".htpasswd", "*.tfstate", "*.tfstate.*"),
)
KEYS = (
    *("*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
)
_HIDDEN = (
    *("*.pem", "*.key", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("secret", "secrets", "secrets.*", ".secret*", "credentials*", "service-account*.json", "kubeconfig*"),
    *("*.tfstate*", "*.tfvars", ".npmrc", ".yarnrc*", ".aws", ".ssh", ".gnupg", ".docker", ".kube"),
    *(".azure", ".gcloud", ".terraform", ".vault*", ".claude", ".codex", ".gemini", ".qwen"),
    *("auth.json", "pip.conf"),
)
_WORDS = r"(?:example|sample|template|dist|defaults?|schema)"
_HARMLESS = re.compile(rf".*[._-]{_WORDS}|(?:.*[._-])?{_WORDS}\.env", re.DOTALL)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


_IS_CREDENTIALS, _IS_KEY = _any_of(CREDENTIALS), _any_of(KEYS)
_IS_HIDDEN = _any_of((*CREDENTIALS, *KEYS, *_HIDDEN))


def is_secret(name: str) -> bool:
    """Tell if a file or folder of this name may give access. In any case of letters, as all here."""
    return _matches(_IS_HIDDEN, name)


def holds_credentials(name: str) -> bool:
    return _matches(_IS_CREDENTIALS, name)


def is_key(name: str) -> bool:
    return _matches(_IS_KEY, name)


def _matches(pattern: re.Pattern[str], name: str) -> bool:
    lower = name.lower()
    return bool(pattern.match(lower)) and not _HARMLESS.fullmatch(lower)
