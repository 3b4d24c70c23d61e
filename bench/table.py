"""What a measurement gives back, and how it is shown."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Row:
    """One number."""

    what: str
    value: float
    unit: str
    ratio: float | None = None
    """To what `against` names."""
    against: str = ""
    target: float | None = None
    """The most it may be: the ratio if there is one, else the value."""
    least: float | None = None
    """The least it may be, in the same way."""

    @property
    def verdict(self) -> str:
        """Whether the target is met, for those that have one."""
        measured = self.value if self.ratio is None else self.ratio
        if self.target is not None:
            return f"{'ok' if measured <= self.target else 'MISSED'} (<= {self.target:g})"
        if self.least is not None:
            return f"{'ok' if measured >= self.least else 'MISSED'} (>= {self.least:g})"
        return ""


class Watch:
    """How long a block took."""

    seconds = 0.0

    @contextmanager
    def measure(self) -> Iterator[None]:
        start = perf_counter()
        yield
        self.seconds = perf_counter() - start


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all values stays below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def show(title: str, rows: Sequence[Row]) -> None:
    """Print a table."""
    print(f"\n{title}")
    width = max((len(row.what) for row in rows), default=0)
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:8.2f}x {row.against}"
        print(f"  {row.what:<{width}}  {row.value:>12,.3f} {row.unit:<5} {ratio:<34} {row.verdict}".rstrip())
