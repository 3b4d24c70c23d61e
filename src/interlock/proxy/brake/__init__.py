"""Holds calls of models back so far that their providers can take them. Sees no credential, no content."""

from interlock.proxy.brake.brake import Attendance, ProviderBrake
from interlock.proxy.brake.news import ProviderNews
from interlock.proxy.brake.server_check import ServerCheck
from interlock.proxy.brake.throttle import CallVerdict, Ending, Throttle

__all__ = [
    "Attendance",
    "CallVerdict",
    "Ending",
    "ProviderBrake",
    "ProviderNews",
    "ServerCheck",
    "Throttle",
]
