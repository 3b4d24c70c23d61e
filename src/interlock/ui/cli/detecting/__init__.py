"""Finds out from a checkout's files how its dependencies are installed and how it is tested.

Reads files only: nothing is started here, and a found command is a proposal until it has been seen to run.
"""

from interlock.ui.cli.detecting.detected import CheckFound, Detected, SetupFound
from interlock.ui.cli.detecting.order import detect

__all__ = ["CheckFound", "Detected", "SetupFound", "detect"]
