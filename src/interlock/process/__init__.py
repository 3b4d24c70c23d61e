"""Runs a program in the sandbox, and ends its whole process tree for certain.

It decides nothing: which program runs, and what it may reach, is in its `Command`.
"""

from interlock.process.containment import Containment
from interlock.process.processes import LocalProcesses

__all__ = ["Containment", "LocalProcesses"]
