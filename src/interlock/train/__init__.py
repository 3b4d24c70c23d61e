"""The way to main: whose turn it is in the lane, how checks are judged, and when a task is given up.

Pure: it says what to do next with finished work and never touches a repository.
"""

from interlock.train.judge import Verdict, judge
from interlock.train.lane import is_forsaken, moves
from interlock.train.message import message
from interlock.train.refusal import refusal
from interlock.train.retry import failure_delay, give_up, hold, loss_delay

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
