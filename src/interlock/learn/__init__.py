"""What the log teaches. Pure: it reads facts and returns numbers.

Today: the figures of a run. Durations, costs and conflicts learned over many runs belong to a later issue.
"""

from interlock.learn.meter import Meter
from interlock.learn.metrics import Metrics, measure

__all__ = ["Meter", "Metrics", "measure"]
