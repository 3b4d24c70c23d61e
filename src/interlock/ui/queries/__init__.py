"""Documents over State: everything that the command line shows, as data. Pure: they read what they are given.

The names here are what every interface needs. Other documents are imported from their modules, because what
they load takes a while: `attempts`, `agents`, `explain`, `learned`, `footprints`, `clutch`, `plan`, `runs`,
`what_if` and `metrics`.
"""

from interlock.ui.queries.facts import fact_document
from interlock.ui.queries.inbox import inbox_document
from interlock.ui.queries.status import pool_object, status_document
from interlock.ui.queries.tasks import TaskRow, find, rows

__all__ = ["TaskRow", "fact_document", "find", "inbox_document", "pool_object", "rows", "status_document"]
