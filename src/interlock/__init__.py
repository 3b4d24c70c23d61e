"""Interlock runs many coding agents on one git repository and lands only what works."""

__version__ = "0.2.0"
