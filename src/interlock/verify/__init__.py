"""The repository's own checks, run in a clean directory, with their output kept as evidence.

It judges nothing: what a red check means is decided elsewhere.
"""

from interlock.verify.checker import LocalChecker

__all__ = ["LocalChecker"]
