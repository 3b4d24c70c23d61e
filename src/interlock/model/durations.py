"""Lengths of time as people write and read them."""

import math
import re
from itertools import pairwise

SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
"""The units, longest first."""
PATTERN = r"\d+(?:\.\d+)?|(?:\d+(?:\.\d+)?[smhd])+"
"""The text that `seconds_of` reads, for schemas."""
MAX_LENGTH = 40

_WHOLE = re.compile(PATTERN, re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])", re.ASCII)


def seconds_of(text: str) -> float:
    """`90`, `90s`, `5m`, `1h30m`, `2d` as seconds; ValueError for anything else."""
    if len(text) > MAX_LENGTH or not _WHOLE.fullmatch(text):
        raise ValueError(text)
    parts = _PART.findall(text)
    seconds = sum(float(number) * SECONDS[unit] for number, unit in parts) if parts else float(text)
    if not math.isfinite(seconds):
        raise ValueError(text)
    return seconds


def time_text(seconds: float) -> str:
    """Write a duration as `seconds_of` reads it, in as few units as are exact."""
    if seconds != int(seconds):
        return f"{seconds:g}s"
    left, text = int(seconds), ""
    for unit, size in SECONDS.items():
        text += f"{left // size}{unit}" if left >= size else ""
        left %= size
    return text or "0s"


def precisely(seconds: float) -> str:
    """Write a duration that may be short: with tenths below ten seconds."""
    return f"{seconds:.1f}s" if seconds < 10 else lasting(seconds)


def lasting(seconds: float) -> str:
    """Write a duration for reading: in at most two units, the rest left out."""
    whole = max(0, int(seconds))
    for (unit, size), (smaller, part) in pairwise(SECONDS.items()):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size}{unit}{rest}{smaller}" if rest else f"{whole // size}{unit}"
    return f"{whole}s"
