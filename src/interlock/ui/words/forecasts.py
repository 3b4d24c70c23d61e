"""Forecasts in words."""

from interlock.model.durations import lasting
from interlock.model.forecast import Forecast
from interlock.ui.plain import counted, inert
from interlock.ui.words.reasons import reason_text


def kind_text(forecast: Forecast) -> str:
    """`docs, inferred from docs/**; complexity low`."""
    return inert(
        f"{forecast.category}, {reason_text(forecast.category_why)}; complexity {forecast.complexity}"
    )


def expected_text(forecast: Forecast) -> str:
    parts = [time_text(forecast)]
    if forecast.cost_usd is not None and forecast.cost_usd_p90 is not None:
        parts.append(f"${forecast.cost_usd:.2f}, 9 of 10 under ${forecast.cost_usd_p90:.2f}")
    parts.append(f"lands {round(10 * forecast.success)} of 10 times")
    return "; ".join([*parts, _evidence(forecast.evidence)])


def time_text(forecast: Forecast) -> str:
    if forecast.is_guess:
        return "time unknown"
    return f"median {_time(forecast.seconds)}, 9 of 10 under {_time(forecast.seconds_p90)}"


def _time(seconds: float) -> str:
    return lasting(seconds) if seconds >= 1 else f"{seconds:.1g}s"


def _evidence(attempts: float) -> str:
    if attempts < 0.5:
        return "no attempts of this kind yet"
    return f"from {counted(round(attempts), 'attempt')}"
