"""One agent, one task, one directory: runs programs so that nothing of them outlives their attempt.

It decides nothing, knows nothing but the nouns, and touches the repository only through `Workspaces`.
"""
