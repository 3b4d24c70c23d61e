"""The way to main: whose turn it is in the lane, how checks are judged, and when a task is given up.

Pure: it says what to do next with finished work and never touches a repository.
"""

from interlock.merge.judge import Verdict, judge
from interlock.merge.lane import is_forsaken, moves
from interlock.merge.message import message
from interlock.merge.refusal import refusal
from interlock.merge.retry import failure_delay, give_up, hold, loss_delay

__all__ = [
    "Verdict",
    "failure_delay",
    "give_up",
    "hold",
    "is_forsaken",
    "judge",
    "loss_delay",
    "message",
    "moves",
    "refusal",
]
