"""The order of things: read new facts, fold, decide, claim, perform, record. The only place that knows it.

One loop, and no second path for recovery: after a crash the same loop reads the same log.
"""
