"""Account files: a small file for each provider, shared by all processes of the user.

1. A call never waits for the file. If it cannot be locked, read or written, this process goes by what it
   knows itself, says so, and looks again after a while.
2. A file that makes no sense is begun anew.
"""

import errno
import fcntl
import hashlib
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from interlock.model.provider import HOMES, is_account
from interlock.proxy.brake.account import Account
from interlock.proxy.brake.limit import CallLimit
from interlock.proxy.brake.throttle import Throttle

T = TypeVar("T")
OFF_SECONDS = 5.0
"""Clocks of two processes may differ by this without one of them being wrong."""
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
LOCK_TRIES = 20
LOCK_PAUSE_SECONDS = 0.0005
"""A change takes a tenth of a millisecond: who holds the lock for longer than all tries stands still."""
ALONE_SECONDS = 30.0
"""Pause before the file is tried again."""
FILE_BYTES = 64 * 1024


_KNOWN = tuple(f".{home.upstream.partition('://')[2]}" for home in HOMES.values() if home.key_env)


def account_of(provider: str, limit: float = 0.0) -> Account:
    """Return a provider's first account: with the limit found last, or else a small one that doubles."""
    host = provider.partition(" ")[0].partition(":")[0]
    # The known providers turn calls away. Any other server may be one that becomes slower instead.
    is_known = f".{host}".endswith(_KNOWN)
    start = CallLimit(limit, doubling=False) if limit >= 1 else CallLimit()
    # The duration of an attempt says nothing about the account it is made with.
    return Account(Throttle(is_measured=not is_known and not is_account(provider), limit=start))


class _Unusable(Exception):
    """The file cannot be used now."""


class AccountFile(msgspec.Struct):
    """The contents of an account file."""

    provider: str
    account: Account
    written: float = 0.0
    """Time on the clock of the process that wrote it."""

    def read_at(self, now: float) -> Account:
        """The account, by the clock of the reading process."""
        if self.written > now + OFF_SECONDS:
            self.account.set_back(self.written - now)
        return self.account


def own_clock() -> Callable[[], float]:
    """A clock that shows the time of this moment, and then goes on whatever the machine's clock is set to."""
    ahead = time.time() - time.clock_gettime(CLOCK)
    return lambda: time.clock_gettime(CLOCK) + ahead


@dataclass(slots=True)
class AccountFiles:
    """The accounts as this process has them. Without a folder they are its own."""

    folder: Path | None
    tell: Callable[[str], None] = lambda _text: None
    clock: Callable[[], float] = field(default_factory=own_clock)
    _known: dict[str, Account] = field(default_factory=dict)
    _alone_until: float = 0.0

    def change(self, provider: str, work: Callable[[Account], T]) -> T:
        """Change an account that other processes may use too."""
        if self.folder and self.clock() >= self._alone_until:
            try:
                return self._in_file(self.folder, provider, work)
            except (OSError, _Unusable) as problem:
                self._alone_until = self.clock() + ALONE_SECONDS
                self.tell(f"cannot share the limits of {provider} with other runs: {problem}")
        return work(self._own(provider))

    def expect(self, provider: str, limit: float) -> None:
        """Start from a limit that was found once, unless a better one is known."""
        if provider not in self._known:
            self._known[provider] = account_of(provider, limit)

    def _own(self, provider: str) -> Account:
        self.expect(provider, 0.0)
        return self._known[provider]

    def _in_file(self, folder: Path, provider: str, work: Callable[[Account], T]) -> T:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.open(folder / file_name(provider), flags, 0o600)
        try:
            _lock(file)
            page = read_page(file)
            is_ours = page and page.provider == provider
            account = page.read_at(self.clock()) if page and is_ours else self._own(provider)
            result = work(account)
            self._known[provider] = account
            text = msgspec.json.encode(AccountFile(provider, account, self.clock()))
            os.pwrite(file, text, 0)
            os.ftruncate(file, len(text))
            return result
        finally:
            os.close(file)


def look_up(folder: Path, provider: str) -> Account | None:
    """Read a provider's account, without joining it."""
    try:
        file = os.open(folder / file_name(provider), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        page = read_page(file)
    finally:
        os.close(file)
    return page.read_at(time.time()) if page and page.provider == provider else None


def file_name(provider: str) -> str:
    """Hosts and names of variables may hold anything."""
    return f"{hashlib.blake2b(provider.encode(), digest_size=8).hexdigest()}.json"


def read_page(file: int) -> AccountFile | None:
    try:
        return msgspec.json.decode(os.pread(file, FILE_BYTES, 0), type=AccountFile)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _lock(file: int) -> None:
    for _ in range(LOCK_TRIES):
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            if problem.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                raise
            select.select([], [], [], LOCK_PAUSE_SECONDS)
    raise _Unusable("another process holds its file")
