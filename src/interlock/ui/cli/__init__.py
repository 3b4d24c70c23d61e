"""The command line.

Rules:
1. A command's module is imported when that command runs, and heavy libraries inside its functions.
2. Data goes to stdout, everything else to stderr.
3. A command returns its exit code. An error that a person can act on is a `UserError`, never a traceback.
"""

from interlock.ui.cli.app import main

__all__ = ["main"]
