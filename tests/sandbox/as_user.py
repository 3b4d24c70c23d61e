"""Runs a command as an ordinary user. If root starts it, what root owns in some folders is that user's there.

python as_user.py FOLDER... -- COMMAND [ARGUMENT...]
"""

import os
import sys
from pathlib import Path

from interlock.sandbox.outside import staged
from interlock.sandbox.unprivileged import unprivileged


def main(folders: list[str], command: list[str]) -> None:
    if user := unprivileged():
        staged.stage({"as": [f"{user.uid}={os.dup(user.mapping)}"], "own": folders})
        os.chdir(Path.cwd())
        staged.become(user.uid)
    os.execvp(command[0], command)  # noqa: S606 - the command of the test


if __name__ == "__main__":
    split = sys.argv.index("--")
    main(sys.argv[1:split], sys.argv[split + 1 :])
