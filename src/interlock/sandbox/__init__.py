"""The sandbox that agents and checks run in: what is not granted is out of their sight.

Rules for the code that builds a `Command`:

1. `Command(..., grant=Grant(...))` and `LocalProcesses.run`: that is all. A command with a grant never runs
   without the sandbox that was chosen for this machine; `grant=None` is for programs of our own.
2. `grant.write` are folders bound read-write at their own paths, `grant.protect` what is read-only in them
   (what is not there is skipped, a link in its place is refused), `grant.read` more to read. The system's own
   programs and the person's toolchains need not be named. `grant.home` becomes HOME; without it HOME is gone
   when the program has ended.
3. `command.env` is given as it is, but: HOME, TMPDIR and PATH are corrected to what is there inside (a HOME
   or TMPDIR in a granted folder is kept), USER is `agent`, and XDG_* that lead nowhere are dropped. Nothing
   of it is in the environment or the words of a process outside.
4. `ForwardedPort(port, socket)`: inside, `127.0.0.1:port` leads to that unix socket of the host. Where
   `LocalProcesses.sandbox.alone` is False (reduced sandboxes) the port is one of the host's: it must be free.
5. Exit statuses come through. A program that a signal ended has 128 + its number, as in a shell.
6. `CannotStart` if the program is not there inside; `BrokenSandbox` if the sandbox itself failed.
7. SIGTERM and the grace period reach the program's own process group inside.
"""
