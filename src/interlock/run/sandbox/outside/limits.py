"""A program that is limited before it is one: it joins its cgroups, gives up its right to more, then starts.

Loaded by the supervisor. The supervisor itself stays outside those limits: it must not be what the kernel
kills when the program takes too much memory. Standard library only, and little of it.
"""

import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable, Mapping

    Words = Mapping[str, list[str]]
else:
    import _signal as signal  # as in the supervisor, which has it already


def start(
    argv: list[str], env: "Mapping[bytes, bytes]", stdin: int, words: "Words", defaulted: "Iterable[int]"
) -> int:
    """Like `posix_spawn`, with the limits that `words` name; OSError if the program cannot be started."""
    failed, fail = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _prepare(stdin, words, defaulted)
            os.execvpe(argv[0], argv, env)  # noqa: S606 - the program that was asked for, as a list of words
        except OSError as error:
            os.write(fail, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(fail)
    problem = os.read(failed, 32)  # it closes when the program has become one
    os.close(failed)
    if problem:
        os.waitpid(pid, 0)
        raise OSError(int(problem), os.strerror(int(problem)))
    return pid


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
