"""The only way from an attempt to a model, and to the hosts its project allows.

It adds the credential, counts tokens from the wire and writes a transcript with nothing secret in it. It
decides nothing: budgets and the shaping of traffic stand in a `Gate`.
"""

from interlock.proxy.egress import EgressProxy
from interlock.proxy.endpoint import Endpoint
from interlock.proxy.gate import Gate, OpenGate, Refused, Turn
from interlock.proxy.model_proxy import ModelProxy
from interlock.proxy.order import CallOutcome, EndpointOrder, ModelCall, ProxyLimits, Trouble

__all__ = [
    "CallOutcome",
    "EgressProxy",
    "Endpoint",
    "EndpointOrder",
    "Gate",
    "ModelCall",
    "ModelProxy",
    "OpenGate",
    "ProxyLimits",
    "Refused",
    "Trouble",
    "Turn",
]
