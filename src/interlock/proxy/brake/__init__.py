"""Holds calls of models back so far that their providers can take them. Sees no credential, no content."""

from interlock.proxy.brake.account import Account
from interlock.proxy.brake.account_file import AccountFiles, look_up
from interlock.proxy.brake.brake import Brake
from interlock.proxy.brake.news import News
from interlock.proxy.brake.protocol import Accounts, Attendance, Brakes, NoAccounts, NoBrakes
from interlock.proxy.brake.server_check import NoServerCheck, ServerCheck, TcpServerCheck
from interlock.proxy.brake.throttle import Answer, Ending, Throttle

__all__ = [
    "Account",
    "AccountFiles",
    "Accounts",
    "Answer",
    "Attendance",
    "Brake",
    "Brakes",
    "Ending",
    "News",
    "NoAccounts",
    "NoBrakes",
    "NoServerCheck",
    "ServerCheck",
    "TcpServerCheck",
    "Throttle",
    "look_up",
]
