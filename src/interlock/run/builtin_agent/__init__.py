"""A whole coding agent: it asks a model what to do, does it, and sends the model the result.

Started as `python -I -S -E <this folder>` in the workspace, inside the sandbox. It imports nothing of
Interlock and nothing that does not come with Python. Read `session`, the loop, first.

1. Every line on stdout is one event in JSON: `event`, and the fields of `interlock.model.session.Event` that
   go with it (session, message, tool, result, edit, command, usage, retry). The last one is `end`: with `ok`,
   or with a word of `interlock.model.outcome.ErrorClass` in `error`. Exit status 0: it ended well.
2. Everything is bounded: turns, the time of a command and of an answer, output, retries, the context.
3. A model that cannot call tools writes fenced blocks instead. This is found out, or said with `--tools`.
4. A line `{"say": "..."}` on stdin is a person's message, told at the next turn.
5. After every turn the conversation is saved, so that a session which was cut off can go on.
"""
