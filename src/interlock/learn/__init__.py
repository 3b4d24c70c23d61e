"""Learns from the log. Pure: it reads facts and returns numbers.

Sums over all runs are in State (`events.tallies`); here they become chances, times, prices and limits.
"""

from interlock.learn.meter import Meter
from interlock.learn.metrics import Metrics, measure

__all__ = ["Meter", "Metrics", "measure"]
