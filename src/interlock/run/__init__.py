"""One agent, one task, one directory: runs programs so that nothing of them outlives their attempt.

It decides nothing, knows nothing but the nouns, and touches the repository only through `Workspaces`.
"""

from interlock.run.containment import Containment
from interlock.run.executor import LocalExecutor
from interlock.run.processes import LocalProcesses

__all__ = ["Containment", "LocalExecutor", "LocalProcesses"]
