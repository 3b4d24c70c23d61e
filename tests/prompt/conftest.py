"""A real repository for runs."""

from tests.engine.conftest import gate, scratch

__all__ = ["gate", "scratch"]
