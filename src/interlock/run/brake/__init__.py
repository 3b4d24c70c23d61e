"""Holds calls of models back so far that their providers can take them. Sees no credential, no content."""

from interlock.run.brake.account import Account
from interlock.run.brake.books import Books, look_up
from interlock.run.brake.brake import Brake
from interlock.run.brake.news import News
from interlock.run.brake.protocol import Accounts, Attendance, Brakes, NoAccounts, NoBrakes
from interlock.run.brake.reach import NoReach, Reach, TcpReach
from interlock.run.brake.throttle import Answer, Ending, Throttle

__all__ = [
    "Account",
    "Accounts",
    "Answer",
    "Attendance",
    "Books",
    "Brake",
    "Brakes",
    "Ending",
    "News",
    "NoAccounts",
    "NoBrakes",
    "NoReach",
    "Reach",
    "TcpReach",
    "Throttle",
    "look_up",
]
