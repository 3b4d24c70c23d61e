"""Holds calls of models back so far that their providers can take them. Sees no credential, no content."""

from interlock.proxy.brake.brake import ProviderBrake
from interlock.proxy.brake.news import ProviderNews
from interlock.proxy.brake.protocol import Accounts, Attendance, Brakes, NoAccounts, NoBrakes
from interlock.proxy.brake.server_check import NoServerCheck, ServerCheck, TcpServerCheck
from interlock.proxy.brake.throttle import CallVerdict, Ending, Throttle

__all__ = [
    "Accounts",
    "Attendance",
    "Brakes",
    "CallVerdict",
    "Ending",
    "NoAccounts",
    "NoBrakes",
    "NoServerCheck",
    "ProviderBrake",
    "ProviderNews",
    "ServerCheck",
    "TcpServerCheck",
    "Throttle",
]
