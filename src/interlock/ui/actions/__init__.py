"""Checked facts: everything that a person does to a project, for the command line and every other interface.

An action refuses what is not possible with a `UserError`, then writes its facts. The caller opens the store
and says who acts.
"""

from interlock.ui.actions.lessons import add_lesson, new_lesson, retire_lesson
from interlock.ui.actions.observed import import_log, record_canary, record_lost_landings
from interlock.ui.actions.talk import answer_permissions, answer_question, send_message
from interlock.ui.actions.tasks import add_task, cancel, pause, reset, retry, stop_run, unpause

__all__ = [
    "add_lesson",
    "add_task",
    "answer_permissions",
    "answer_question",
    "cancel",
    "import_log",
    "new_lesson",
    "pause",
    "record_canary",
    "record_lost_landings",
    "reset",
    "retire_lesson",
    "retry",
    "send_message",
    "stop_run",
    "unpause",
]
