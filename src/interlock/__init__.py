"""Interlock runs many coding agents on one git repository and lands only what works."""

__version__ = "0.1.0"
