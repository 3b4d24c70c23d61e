"""The Model Context Protocol: tools for the agents of a run, and for a person's editor or own agent.

Each tool is a query or an action that the command line has too. What an agent reaches is bound to its attempt
before its first call; the tools that act on a project are never served to it. Only `server` and `http` import
the library `mcp`, when a client connects: it comes with the extra `interlock[mcp]`.
"""
