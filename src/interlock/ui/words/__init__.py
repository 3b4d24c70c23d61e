"""Every sentence that people read, made from facts, reasons and State.

Pure: no colours, no terminal, no files.
"""

from interlock.ui.words.checks import main_text
from interlock.ui.words.evidence import evidence_text
from interlock.ui.words.facts import clock, describe
from interlock.ui.words.progress import sentence
from interlock.ui.words.reasons import in_words
from interlock.ui.words.remedies import next_command
from interlock.ui.words.run_lines import Telling
from interlock.ui.words.sessions import event_line

__all__ = [
    "Telling",
    "clock",
    "describe",
    "event_line",
    "evidence_text",
    "in_words",
    "main_text",
    "next_command",
    "sentence",
]
