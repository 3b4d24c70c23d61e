"""The only way from an attempt to a model, and to the hosts its project allows.

It adds the credential, counts tokens from the wire and writes a transcript with nothing secret in it. It
decides nothing: budgets and the shaping of traffic stand in a `Gate`.
"""

from interlock.proxy.egress import EgressProxy
from interlock.proxy.gate import CallTurn, Gate, OpenGate, Refused
from interlock.proxy.model_proxy import ModelProxy
from interlock.proxy.order import CallError, CallOutcome, Endpoint, EndpointOrder, ModelCall, ProxyLimits
from interlock.proxy.prices import Prices
from interlock.proxy.purse import Purse
from interlock.proxy.transcript import counts_beside

__all__ = [
    "CallError",
    "CallOutcome",
    "CallTurn",
    "EgressProxy",
    "Endpoint",
    "EndpointOrder",
    "Gate",
    "ModelCall",
    "ModelProxy",
    "OpenGate",
    "Prices",
    "ProxyLimits",
    "Purse",
    "Refused",
    "counts_beside",
]
