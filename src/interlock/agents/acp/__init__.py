"""The client's side of the Agent Client Protocol, as a conversation without effects: lines in, lines out.

The messages are those of the library `agent-client-protocol`. Its connections are not used: they own pipes
and tasks, which here belong to the program's caller. It is slow to import, so only an agent that speaks
the protocol pays for it.
"""
