"""The way to main: whose turn it is in the lane, how checks are judged, and when a task is given up.

Pure: it says what to do next with finished work and never touches a repository.
"""

from interlock.train import radar, retry, speculation
from interlock.train.judge import Verdict, judge
from interlock.train.lane import Moves, moves, results_known
from interlock.train.message import message
from interlock.train.refusal import check_failed, refusal

__all__ = [
    "Moves",
    "Verdict",
    "check_failed",
    "judge",
    "message",
    "moves",
    "radar",
    "refusal",
    "results_known",
    "retry",
    "speculation",
]
