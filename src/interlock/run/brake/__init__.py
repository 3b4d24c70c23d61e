"""Holds calls of models back so far that their providers can take them. Sees no credential, no content."""

from interlock.run.brake.account import Account
from interlock.run.brake.books import Books, look_up
from interlock.run.brake.brake import Brake
from interlock.run.brake.known import account_of
from interlock.run.brake.limit import Ticket
from interlock.run.brake.news import News
from interlock.run.brake.throttle import Answer, Ending, Throttle

__all__ = [
    "Account",
    "Answer",
    "Books",
    "Brake",
    "Ending",
    "News",
    "Throttle",
    "Ticket",
    "account_of",
    "look_up",
]
