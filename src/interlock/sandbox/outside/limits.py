"""A program that is limited before it is one: it joins its cgroups, gives up its right to more, then starts.

If root starts it, it becomes an unprivileged user's first (see staged.py).

Loaded by the supervisor. The supervisor itself stays outside those limits: it must not be what the kernel
kills when the program takes too much memory. Standard library only, and little of it.
"""

import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable, Mapping

    from interlock.sandbox.outside import overlays, staged

    Words = Mapping[str, list[str]]
else:
    import _signal as signal  # as in the supervisor, which has it already

    import overlays
    import staged


def start(
    argv: list[str], env: "Mapping[bytes, bytes]", stdin: int, words: "Words", defaulted: "Iterable[int]"
) -> int:
    """Like `posix_spawn`, with the limits that `words` name; OSError if the program cannot be started."""
    failed, fail = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _prepare(stdin, words, defaulted)
            if "as" in words:
                _demote(words, fail)
            os.execvpe(argv[0], argv, env)  # noqa: S606 - the program that was asked for, as a list of words
        except OSError as error:
            os.write(fail, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(fail)
    problem = os.read(failed, 4096).decode(errors="replace")  # it closes when the program has become one
    os.close(failed)
    if problem:
        os.waitpid(pid, 0)
        if not problem.isdigit():
            raise SystemExit(problem)
        raise OSError(int(problem), os.strerror(int(problem)))
    return pid


def _demote(words: "Words", fail: int) -> None:
    """Become an unprivileged user who has been given all that the program needs."""
    doing = "root cannot give {} to an unprivileged user: {}"
    try:
        staged.stage(words)
        doing = "overlay: {}: {}"
        for overlay in words.get("overlay", ()):
            overlays.mount(overlay)
        doing = "root cannot become an unprivileged user: {1}"
        staged.become(int(words["as"][0].partition("=")[0]))
    except OSError as error:
        os.write(fail, doing.format(error.filename, error.strerror).encode())
        os._exit(127)


def _prepare(stdin: int, words: "Words", defaulted: "Iterable[int]") -> None:
    os.setpgid(0, 0)
    os.dup2(stdin, 0)
    os.dup2(1, 2)
    for number in defaulted:
        signal.signal(number, signal.SIG_DFL)
    for processes in words.get("join", ()):
        _join(processes)
    for limit in words.get("limit", ()):
        what, _, most = limit.partition("=")
        resource.setrlimit(int(what), (int(most), int(most)))


def _join(processes: str) -> None:
    file = os.open(processes, os.O_WRONLY)
    os.write(file, b"0")
    os.close(file)
