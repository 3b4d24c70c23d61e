"""Carries out one attempt: workspace, agent, sandbox and proxy in, one result out.

It decides nothing, and touches the repository only through `GitWorkspaces`.
"""

from interlock.run.executor import LocalExecutor

__all__ = ["LocalExecutor"]
