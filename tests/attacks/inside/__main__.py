"""`python3 -m inside`: everything is tried once, and the outcome printed."""

import json
import sys

from . import machine, paths, work  # noqa: F401 - each enters what it has into the lists
from .means import ATTACKS, HERE, WORK, Attack


def attempt(function: Attack) -> str:
    """`yes` if it got what it wanted, else what was in the way."""
    try:
        return "yes" if function() else "no"
    except Exception as error:  # noqa: BLE001 - whatever stops it, the next attack is tried
        return f"no: {type(error).__name__}: {error}"


def main() -> None:
    (HERE / "mnt").mkdir(exist_ok=True)
    outcome = {
        "work": {name: attempt(function) for name, function in WORK.items()},
        "attacks": {name: attempt(function) for name, function in ATTACKS.items()},
    }
    sys.stdout.write(json.dumps(outcome) + "\n")


if __name__ == "__main__":
    main()
