"""A real repository for runs."""

from tests.engine.conftest import scratch

__all__ = ["scratch"]
