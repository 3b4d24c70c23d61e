"""The nouns everything else speaks in: tasks, phases, claims, outcomes, reasons, errors.

Values only. Nothing here reads a clock, a disk, a process or a network, and nothing here decides.
"""
