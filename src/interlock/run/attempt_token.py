"""The secret of a project, and the token of each attempt that is made from it.

An attempt's program gets its token as the API key of its model. The web server can make it again from the
secret: so the token opens the attempt's own task there, as long as the attempt runs.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from interlock.model.errors import EnvironmentProblem

FOLDER = "web"
FILE = "key"
KEY_BYTES = 32
PREFIX = "il-"
DIGITS = 48


def attempt_token(secret: bytes, task: str, attempt: int) -> str:
    said = f"attempt {attempt} of {task}".encode()
    return PREFIX + hmac.new(secret, said, hashlib.sha256).hexdigest()[:DIGITS]


def project_secret(state_dir: Path) -> bytes:
    """The secret of a project, in a file that only its owner can read. Made when it is first asked for."""
    path = state_dir / FOLDER / FILE
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _make(path)
        secret = bytes.fromhex(path.read_text().strip())
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(f"the project's secret cannot be read: {error}", f"rm {path}") from error
    if len(secret) != KEY_BYTES:
        raise EnvironmentProblem(f"{path} holds no secret", f"rm {path}")
    return secret


def _make(path: Path) -> None:
    """Write it beside and link it: two processes that start at once end up with one secret."""
    fresh = path.with_name(f"{FILE}.{secrets.token_hex(4)}")
    number = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(number, "w") as file:
            file.write(secrets.token_hex(KEY_BYTES))
            file.flush()
            os.fsync(number)
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
