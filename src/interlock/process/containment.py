"""The means that keep a process tree together: found out once, by really doing it."""

import functools
import os
import shutil
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

from interlock.sandbox.system import PYTHON

_START = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import supervisor; supervisor.start()"
SUPERVISOR = (PYTHON, "-I", "-S", "-E", "-c", _START)

NAMESPACE = ("--pid", "--fork", "--kill-child", "--mount-proc", "--")


class Containment(StrEnum):
    """The means that ends a program's descendants, strongest first."""

    NAMESPACE = "pid-namespace"
    """The kernel: no process survives, whatever it did."""
    USER_NAMESPACE = "user+pid-namespace"
    """The same, without being root."""
    SUBREAPER = "subreaper"
    """A walk over /proc. If the supervisor itself is killed, only those that kept their environment end."""
    GROUP = "process-group"
    """The process group, then processes that kept their environment, where there is no /proc (macOS)."""

    @property
    def is_namespace(self) -> bool:
        return self in (Containment.NAMESPACE, Containment.USER_NAMESPACE)


def prefix(containment: Containment, *, alone: bool = False) -> tuple[str, ...]:
    """The words before the supervisor's command line. `alone`: with a network of its own, too."""
    unshare = shutil.which("unshare") or "unshare"
    network = ("--net",) if alone else ()
    if containment is Containment.NAMESPACE:
        return (unshare, *network, *NAMESPACE)
    if containment is Containment.USER_NAMESPACE:
        # Only root, if only of the namespace, may bring a network up.
        return (unshare, "--user", "--map-root-user" if alone else "--map-current-user", *network, *NAMESPACE)
    return ()


def works(containment: Containment) -> bool:
    """Run a program in it, with the arguments that agents are run with."""
    words = (*prefix(containment), *SUPERVISOR, containment.value, "10", "0", "0", "--", "true")
    try:
        done = subprocess.run(words, input=b"", capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b'"ended"' in done.stderr


@functools.cache
def strongest() -> Containment:
    """The strongest containment that this machine allows this user."""
    if sys.platform != "linux":
        return Containment.GROUP
    candidates = [Containment.USER_NAMESPACE]
    if os.geteuid() == 0:
        candidates.insert(0, Containment.NAMESPACE)
    return next((kind for kind in candidates if works(kind)), Containment.SUBREAPER)
