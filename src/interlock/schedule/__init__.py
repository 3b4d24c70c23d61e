"""The choice of tasks to start now, their order, and for every other task the reason that it waits.

Pure: it sees State and the time it is given, keeps an index over them, and changes neither.
"""

from interlock.schedule.agents import closed_until, pick_agent
from interlock.schedule.board import Board
from interlock.schedule.round import Choice

__all__ = ["Board", "Choice", "closed_until", "pick_agent"]
