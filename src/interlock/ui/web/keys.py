"""The secret of a project, and the tokens and cookies that are made from it.

1. The secret is a file that only its owner can read. It stays the same over restarts: open pages go on.
2. A token and a cookie carry a scope and a signature; nothing is kept in memory.
3. The token is in the fragment of a URL, which browsers do not send. The page exchanges it for a cookie.
"""

import hashlib
import hmac
import secrets
from pathlib import Path

from interlock.run.attempt_token import attempt_token, project_secret
from interlock.ui.web.scopes import PERSONS, Caller, Scope

SESSION_SECONDS = 30 * 24 * 3600.0


class Keys:
    """Makes and checks tokens."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @property
    def cookie_name(self) -> str:
        """Cookies of all ports of a host are sent to each of them: so each server has a name of its own."""
        return f"interlock_{self._sign('cookie')[:12]}"

    def token(self, scope: Scope) -> str:
        name = scope.name.lower()
        return f"il-{name}-{self._sign(f'token {name}')}"

    def scope_of(self, token: str) -> Scope | None:
        """The scope of a person's token; None: it is none of ours."""
        return next((scope for scope in PERSONS.values() if _same(token, self.token(scope))), None)

    def session(self, scope: Scope, now: float) -> str:
        """A new value of the cookie."""
        said = f"{scope.name.lower()}.{int(now + SESSION_SECONDS)}.{secrets.token_hex(8)}"
        return f"{said}.{self._sign(f'session {said}')}"

    def of_session(self, cookie: str, now: float) -> Caller | None:
        """The sender of a cookie; None: it is none of ours, or too old."""
        said, _, signature = cookie.rpartition(".")
        name, _, rest = said.partition(".")
        ends = rest.partition(".")[0]
        if not _same(signature, self._sign(f"session {said}")) or name not in PERSONS:
            return None
        is_valid = ends.isdecimal() and now < int(ends)
        return Caller(PERSONS[name], until=float(ends)) if is_valid else None

    def is_of_attempt(self, token: str, task: str, attempt: int) -> bool:
        """True if this is the token of an attempt's program."""
        return _same(token, attempt_token(self._secret, task, attempt))

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(errors="replace"), hashlib.sha256).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(errors="replace"), other.encode(errors="replace"))


def load_keys(state_dir: Path) -> Keys:
    """The keys of a project."""
    return Keys(project_secret(state_dir))
