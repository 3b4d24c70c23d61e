"""Signs bytes with the user's own key, as the user's git would sign a commit, and checks such signatures.

1. The program and the key are those of the user's git settings: `gpg.format`, `gpg.program`,
   `gpg.ssh.program`, `user.signingKey`. No file of the repository names them.
2. No program asks a question: it has no terminal, and a time limit.
3. The namespace of an SSH signature is `git`, so that the allowed signers of the user's git are enough. No
   signature can pass for one of a commit: what is signed begins with `DSSEv1`, and no git object does.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from pathlib import Path

from interlock.git.child import Drain, as_file, held
from interlock.git.command import Git, Output, finish, user_environment
from interlock.git.errors import GitFailed
from interlock.model.errors import EnvironmentProblem

SIGNING_SECONDS = 20.0
_NAMESPACE = "git"
_LAST_SECOND = 253_370_764_800
"""Year 9999: a commit may name any number as its time."""
_PROGRAMS = {"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}
_SSH_BEGINS = b"-----BEGIN SSH SIGNATURE"
_QUIET = {"GPG_TTY": "", "SSH_ASKPASS_REQUIRE": "never"}
_TRUE = ("true", "yes", "on", "1", "")


class CannotSign(EnvironmentProblem):
    """The user's key cannot be used."""

    code = "signing"
    hint = "`git commit --allow-empty -S -m test` tries the key"


class Standing(StrEnum):
    """The findings about a signature."""

    GOOD = "good"
    BAD = "bad"
    """It is not a signature of these bytes."""
    UNKNOWN = "unknown"
    """It is one, or may be one, of a signer that is not allowed."""
    NO_SIGNERS = "no-signers"
    """It is one, and no file says which signers are allowed."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A signature that was looked at."""

    standing: Standing
    signer: str = ""


class Signing:
    """Signatures by the settings of one user's git."""

    def __init__(self, settings: Mapping[str, str], folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        """The folder at which relative paths of settings start."""

    @property
    def is_usual(self) -> bool:
        """Return True if the user's git signs commits without being asked."""
        return self._settings.get("commit.gpgsign", "false").lower() in _TRUE

    async def sign(self, data: bytes) -> bytes:
        """Sign with the user's key. `CannotSign` says why that does not work."""
        form = self._settings.get("gpg.format", "openpgp").lower()
        if form not in _PROGRAMS:
            raise CannotSign(f"gpg.format is {form!r}, which no known program signs")
        if form == "ssh":
            return await self._sign_with_ssh(data)
        settings = self._settings
        name = f"{settings.get('user.name', '')} <{settings.get('user.email', '')}>"
        asks_nothing = ("--batch", "--pinentry-mode", "error") if form == "openpgp" else ("--batch",)
        words = (*asks_nothing, "--status-fd=2", "-bsau", settings.get("user.signingkey") or name)
        said = await self._run((self._program(form), *words), data)
        if said.code or "[GNUPG:] SIG_CREATED " not in said.err:
            raise _failed(said)
        return said.out

    async def _sign_with_ssh(self, data: bytes) -> bytes:
        key = self._settings.get("user.signingkey") or await self._default_key()
        words = ("-Y", "sign", "-n", _NAMESPACE, "-f")
        literal = key.removeprefix("key::") if key.startswith(("key::", "ssh-")) else ""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"{literal}\n")
            file.flush()
            where = (file.name, "-U") if literal else (self._path(key),)
            said = await self._run((self._program("ssh"), *words, *where), data)
        if said.code or not said.out.startswith(_SSH_BEGINS):
            raise _failed(said)
        return said.out

    async def _default_key(self) -> str:
        command = self._settings.get("gpg.ssh.defaultkeycommand", "")
        said = await self._run(shlex.split(command), b"") if command else None
        lines = said.line.splitlines() if said and not said.code else []
        if key := next((line for line in lines if line.startswith(("key::", "ssh-"))), ""):
            return key
        raise CannotSign("gpg.format is ssh, and user.signingKey names no key")

    async def check(self, data: bytes, signature: bytes, when: int, signers: Path | None) -> Checked:
        """Find out who signed these bytes. `signers`: the allowed SSH signers, in place of those of git.
        `when`: seconds since 1970 at which an SSH key must be valid."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(signature)
            file.flush()
            if signature.startswith(_SSH_BEGINS):
                return await self._check_ssh(data, file.name, when, signers)
            form = "x509" if signature.startswith(b"-----BEGIN SIGNED MESSAGE") else "openpgp"
            words = ("--batch", "--status-fd=1", "--verify", file.name, "-")
            said = await self._run((self._program(form), *words), data)
        states = [line.split(" ", 3)[1:] for line in said.line.splitlines() if line.startswith("[GNUPG:] ")]
        found = {words[0]: words[-1] for words in states}
        if "BADSIG" in found or not found.keys() & {"GOODSIG", "ERRSIG", "EXPKEYSIG", "REVKEYSIG", "EXPSIG"}:
            return Checked(Standing.BAD)
        return Checked(Standing.GOOD, found["GOODSIG"]) if "GOODSIG" in found else Checked(Standing.UNKNOWN)

    async def _check_ssh(self, data: bytes, signature: str, when: int, signers: Path | None) -> Checked:
        program, about = self._program("ssh"), ("-n", _NAMESPACE, "-s", signature)
        said = await self._run((program, "-Y", "check-novalidate", *about), data)
        if said.code:
            return Checked(Standing.BAD)
        named = self._settings.get("gpg.ssh.allowedsignersfile", "")
        allowed = str(signers) if signers else self._path(named) if named else ""
        if not allowed:
            return Checked(Standing.NO_SIGNERS)
        day = f"-Overify-time={_day(when)}"
        found = await self._run((program, "-Y", "find-principals", "-f", allowed, day, "-s", signature), b"")
        for name in found.line.splitlines() if not found.code else ():
            words = ("-Y", "verify", "-f", allowed, "-I", name, day, *about)
            if (await self._run((program, *words), data)).code == 0:
                return Checked(Standing.GOOD, name)
        return Checked(Standing.UNKNOWN)

    def _program(self, form: str) -> str:
        usual = self._settings.get("gpg.program", "gpg") if form == "openpgp" else _PROGRAMS[form]
        return os.path.expanduser(self._settings.get(f"gpg.{form}.program", usual))  # noqa: PTH111 - a name without a folder stays one

    def _path(self, text: str) -> str:
        return str(self._folder / Path(text).expanduser())

    async def _run(self, command: Sequence[str], feed: bytes) -> Output:
        environment = {**user_environment(), **_QUIET}
        if not shutil.which(command[0], path=environment.get("PATH", os.defpath)):
            raise CannotSign(f"{command[0]} is not installed, or not on the PATH", "install it")
        process = _started(command, feed, environment, self._folder)
        try:
            return await finish(process, command[0], Drain(BytesIO(), 1 << 20), SIGNING_SECONDS)
        except GitFailed as failed:
            raise CannotSign(f"{Path(command[0]).name}: {failed.said}") from failed


def _started(
    command: Sequence[str], feed: bytes, environment: Mapping[str, str], folder: Path
) -> subprocess.Popen[bytes]:
    with as_file(feed) as stdin, held({}) as (files, hold):
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            cwd=folder,
            pass_fds=files,
            start_new_session=True,
        )
        hold(process.pid)
    return process


def _failed(said: Output) -> CannotSign:
    lines = [line for line in said.err.splitlines() if line.strip() and not line.startswith("[GNUPG:]")]
    return CannotSign(f"signing fails: {lines[0] if lines else f'exit status {said.code}'}")


def _day(when: int) -> str:
    """A moment as ssh-keygen takes it: OpenSSH before 9.1 knows local time only."""
    return time.strftime("%Y%m%d%H%M%S", time.localtime(min(when, _LAST_SECOND)))


async def read_signing(git: Git, folder: Path) -> Signing:
    """Read the settings of the user's git about signatures."""
    wanted = r"^(gpg\..*|user\.(signingkey|name|email)|commit\.gpgsign)$"
    said = await git.run("config", "-z", "--get-regexp", wanted, ok=(0, 1))
    pairs = (item.partition("\n") for item in said.items)
    # A key without a value means true.
    return Signing({key: value if newline else "true" for key, newline, value in pairs}, folder)
