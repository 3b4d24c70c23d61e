"""What to start now, in which order, and for every other task the reason why not.

Pure: it sees State and the time it is given, keeps an index over them, and changes neither.
"""

from interlock.schedule.board import Board
from interlock.schedule.round import Choice

__all__ = ["Board", "Choice"]
