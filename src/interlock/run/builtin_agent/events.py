"""The agent's output: one event a line."""

import json
import sys

EVENT_CHARS = 8_000


class ModelFailure(Exception):
    """The model did not answer as it should: in which way, and whether asking again may help."""

    def __init__(self, error: str, text: str, again: bool = False, wait_seconds: float = 0.0) -> None:
        super().__init__(text)
        self.error, self.again, self.wait_seconds = error, again, wait_seconds


def tell(event: str, **fields: object) -> None:
    """Print an event, with texts of bounded length."""
    cut = {name: shorten(value) if isinstance(value, str) else value for name, value in fields.items()}
    sys.stdout.write(json.dumps({"event": event, **cut}) + "\n")
    sys.stdout.flush()


def shorten(text: str, limit: int = EVENT_CHARS) -> str:
    """Both ends matter: what was asked for stands first, errors stand last."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n({len(text) - limit} characters left out)\n{text[-(limit // 2) :]}"
