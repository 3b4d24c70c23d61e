"""What a program can and cannot do in a sandbox, of whatever kind (D11)."""

import asyncio
import gc
import os
import signal
import socket
import tempfile
from pathlib import Path

import psutil
import pytest

from interlock.model.errors import CannotStart, EnvironmentProblem
from interlock.model.process import Ended, Exit
from interlock.sandbox.confinement import SYSTEM_PATH
from tests.run.tree import BOUND_SECONDS, linux
from tests.sandbox.room import Room, forwarded, furnished

pytestmark = [linux, pytest.mark.sandbox, pytest.mark.slow]


def test_its_own_folder_is_there_and_nothing_beside_it(room: Room) -> None:
    ended = room.sh(f"echo new > new; cat kept; cat '{room.secret}'; ls '{room.path}'; touch '{room.path}/x'")
    assert (room.mine / "new").read_text() == "new\n"
    assert ended.tail.splitlines()[0] == "kept"
    assert "private" not in ended.tail
    assert sorted(path.name for path in room.path.iterdir()) == ["log", "mine", "secret"]


def test_what_is_protected_can_be_read_and_neither_changed_nor_replaced(full_room: Room) -> None:
    full_room.sh("echo no > kept; rm -f kept; mv kept other; ln -sf /etc/passwd kept; echo no > kept")
    assert (full_room.mine / "kept").read_text() == "kept\n"
    assert not (full_room.mine / "kept").is_symlink()


def test_a_link_in_place_of_what_is_protected_is_refused_before_anything_starts(full_room: Room) -> None:
    """An earlier session may have put it there: bound, it would show what it leads to."""
    (full_room.mine / "kept").unlink()
    (full_room.mine / "kept").symlink_to(full_room.secret)
    with pytest.raises(EnvironmentProblem, match="kept was replaced by a link"):
        full_room.sh("cat kept")


def test_what_it_may_read_it_cannot_write(room: Room) -> None:
    shared = room.path / "shared"
    shared.mkdir()
    (shared / "file").write_text("shared\n")
    ended = room.sh(
        f"cat '{shared}/file'; echo no > '{shared}/file'; touch '{shared}/new'", read=(str(shared),)
    )
    assert ended.tail.splitlines()[0] == "shared"
    assert (shared / "file").read_text() == "shared\n"
    assert list(shared.iterdir()) == [shared / "file"]


def test_the_system_and_the_users_home_are_out_of_reach(room: Room, tmp_path: Path) -> None:
    tries = (
        Path.home() / "interlock-was-here",
        Path("/etc/interlock-was-here"),
        Path("/usr/interlock-was-here"),
    )
    room.sh("; ".join(f"echo x > '{path}'" for path in tries))
    assert not [path for path in tries if path.exists()]
    assert room.sh("cat /etc/shadow || echo refused").tail.splitlines()[-1] == "refused"


def test_home_and_temporary_files_are_its_own_and_gone_at_the_end(room: Room) -> None:
    first = room.sh(
        'echo mine > "$HOME/note" && echo mine > "$TMPDIR/note" && cat "$HOME/note" "$TMPDIR/note"'
    )
    assert first.tail == "mine\nmine"
    assert room.sh('ls -A "$HOME" "$TMPDIR"; echo "$HOME"').tail.count("note") == 0
    assert str(Path.home()) != room.sh('echo "$HOME"').tail


def test_a_home_that_was_granted_is_kept(room: Room) -> None:
    (home := room.path / "home").mkdir()
    assert room.sh('echo kept > "$HOME/note"; echo "$HOME"', home=str(home)).tail == str(home)
    assert (home / "note").read_text() == "kept\n"


def test_its_environment_is_what_it_was_given_with_paths_that_lead_somewhere(room: Room) -> None:
    given = {"KEY": "a value", "XDG_RUNTIME_DIR": "/run/user/0", "XDG_DATA_HOME": str(room.mine / "data")}
    given |= {"PATH": f"/no/such/folder:{room.mine}:/usr/bin"}
    ended = room.sh("env", env=given)
    said = dict(line.partition("=")[::2] for line in ended.tail.splitlines())
    assert (said["KEY"], said["USER"], said["MARKED"]) == ("a value", "agent", room.mark)
    assert "XDG_RUNTIME_DIR" not in said
    assert said["XDG_DATA_HOME"] == str(room.mine / "data")
    assert said["PATH"].split(":")[:2] == [str(room.mine), "/usr/bin"]


def test_nothing_that_it_is_given_is_in_a_process_outside(room: Room) -> None:
    """LD_PRELOAD in a task graph must not reach a process of ours, nor a key anybody's list of processes."""
    canary, seen = f"canary-{room.mark}", []

    def look(_: str) -> None:
        for process in psutil.process_iter():
            variables = " ".join(_environ(process))
            told = canary in variables and f"MARKED={room.mark}" not in variables
            seen.extend([process] if told or canary in " ".join(_words(process)) else [])

    command = room.command("sh", "-c", "echo up; sleep 0.2", env={"API_KEY": canary, "LD_PRELOAD": "/no.so"})
    ended = room.run(command, look)
    assert ended.code == 0
    assert seen == []


def _environ(process: psutil.Process) -> list[str]:
    try:
        return [f"{name}={value}" for name, value in process.environ().items()]
    except (psutil.Error, OSError):
        return []


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_it_sees_no_other_process_and_nobodys_environment(room: Room) -> None:
    script = (
        "import glob\n"
        "for path in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: text = open(path, 'rb').read()\n"
        "    except OSError: continue\n"
        f"    if text and b'{room.mark}' not in text and b'PATH={SYSTEM_PATH}' not in text:\n"
        "        print(path, text[:200])\n"
    )
    assert room.python(script).tail == ""


def test_it_inherits_nothing_but_its_three_streams(room: Room) -> None:
    assert room.sh("ls /proc/self/fd | tr '\\n' ' '").tail.split() == ["0", "1", "2", "3"]


def test_no_setting_of_the_machine_can_be_opened_for_writing(full_room: Room) -> None:
    """D11: under root a sysctl that can be written is a way out. It is opened here, and never written."""
    ended = full_room.sh(
        "find /proc/sys /proc/irq /proc/bus /proc/mtrr /proc/sysrq-trigger -type f 2>/dev/null | "
        'while read -r name; do (exec 3>>"$name") 2>/dev/null && echo "open $name"; done; '
        "cat /proc/sys/kernel/ostype"
    )
    assert ended.tail.splitlines() == ["Linux"]


def test_it_has_no_rights_and_a_filter(room: Room) -> None:
    ended = room.sh("grep -E '^(Cap|Seccomp:|NoNewPrivs)' /proc/self/status")
    said = dict(line.split(":", 1) for line in ended.tail.splitlines())
    assert {int(value, 16) for name, value in said.items() if name.startswith("Cap")} == {0}
    assert (said["Seccomp"].strip(), said["NoNewPrivs"].strip()) == ("2", "1")


def test_exit_statuses_come_through(room: Room) -> None:
    assert (room.sh("exit 7").ended, room.sh("exit 7").code, room.sh("true").code) == (Ended.EXITED, 7, 0)


def test_a_signal_that_ends_it_shows_as_in_a_shell(full_room: Room) -> None:
    assert full_room.sh("kill -SEGV $$").code == 128 + signal.SIGSEGV


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("no-such-program", "program not found: no-such-program"),
        ("./no-such-file", "program not found: ./no-such-file"),
        ("./kept", "program cannot be started: ./kept: Permission denied"),
    ],
)
def test_a_program_that_is_not_there_says_so(room: Room, program: str, says: str) -> None:
    with pytest.raises(CannotStart, match=says.replace(".", r"\.")):
        room.run(room.command(program))


def test_with_a_forwarded_port_too_a_missing_program_says_so(room: Room) -> None:
    port = 8377 if room.alone else free_port()
    (room.path / "socket").touch()
    with pytest.raises(CannotStart, match="program not found: no-such-program"):
        room.run(room.command("no-such-program", forwarded_ports=(forwarded(room, port),)))


def test_a_folder_that_is_not_there_says_so(room: Room) -> None:
    with pytest.raises(CannotStart, match="nowhere"):
        room.sh("true", directory=str(room.path / "nowhere"))


def test_asked_to_end_it_has_its_time_of_grace(room: Room) -> None:
    script = "trap 'echo asked; exit 9' TERM; while :; do sleep 0.02; done"
    ended = room.sh(script, timeout_seconds=2.0)
    assert (ended.ended, ended.code, ended.tail.split()[-1]) == (Ended.TIMEOUT, 9, "asked")


def test_a_daemon_of_its_ends_with_it(room: Room) -> None:
    room.sh("(setsid nohup sleep 600 >/dev/null 2>&1 &); sleep 0.1")
    alive = [process for process in psutil.process_iter() if room.mark in " ".join(_environ(process))]
    assert alive == []


def test_a_program_that_listens_is_told_what_is_sent_until_it_is_hung_up_on(room: Room) -> None:
    async def talk() -> tuple[Exit, list[bool]]:
        heard = asyncio.Event()
        command = room.command("sh", "-c", "echo up; cat; echo over", listens=True)
        running = asyncio.create_task(room.processes.run(command, lambda _: heard.set()))
        await asyncio.wait_for(heard.wait(), BOUND_SECONDS)
        sent = [
            room.processes.send("program", "hello\n"),
            room.processes.send("program", "x" * 200_000 + "\n"),
        ]
        room.processes.hang_up("program")
        sent.append(room.processes.send("program", "too late"))
        return await running, [*sent, room.processes.send("program", "it is gone")]

    ended, sent = asyncio.run(talk())
    assert sent == [True, True, False, False]
    lines = (room.path / "log").read_text().splitlines()
    assert lines == ["up", "hello", "x" * 200_000, "over"]
    assert ended.code == 0


def test_a_program_that_does_not_listen_has_no_input(room: Room) -> None:
    assert room.sh("cat; echo nothing").tail == "nothing"


CALL = """
import socket
import tempfile
with socket.create_connection(("127.0.0.1", {port}), 10) as wire:
    wire.sendall(b"x" * 3_000_000)
    wire.shutdown(socket.SHUT_WR)
    count = 0
    while chunk := wire.recv(65536):
        count += len(chunk)
print("came back:", count)
"""


def free_port() -> int:
    with socket.socket() as wire:
        wire.bind(("127.0.0.1", 0))
        port: int = wire.getsockname()[1]
        return port


def test_a_forwarded_port_carries_everything_both_ways_to_its_socket(room: Room) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
        writer.close()

    async def through_the_port() -> Exit:
        port = 8377 if room.alone else free_port()
        async with await asyncio.start_unix_server(echo, str(room.path / "socket")):
            command = room.command(
                "python3", "-c", CALL.format(port=port), forwarded_ports=(forwarded(room, port),)
            )
            return await room.processes.run(command)

    assert asyncio.run(through_the_port()).tail == "came back: 3000000"


def test_a_forwarded_port_without_a_listener_closes_the_connection(room: Room) -> None:
    port = 8377 if room.alone else free_port()
    (room.path / "socket").touch()
    ended = room.python(
        f"import socket\nwire = socket.create_connection(('127.0.0.1', {port}), 10)\n"
        "try: print(wire.recv(10))\nexcept ConnectionResetError: print(b'')",
        forwarded_ports=(forwarded(room, port),),
    )
    assert ended.tail == "b''"


def test_no_other_port_of_the_host_can_be_reached(room: Room) -> None:
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        ours.listen()
        port = ours.getsockname()[1]
        script = (
            "import socket\n"
            f"for host in ('127.0.0.1', '127.0.0.2'):\n"
            f"    try: socket.create_connection((host, {port}), 2); print('reached', host)\n"
            "    except OSError as error: print(type(error).__name__)\n"
        )
        assert "reached" not in room.python(script).tail


def test_on_the_hosts_network_no_connection_is_opened_or_awaited(tmp_path: Path) -> None:
    """Landlock sees `connect` and `bind`; TCP Fast Open and a port that the kernel chooses need neither."""
    room = furnished(tmp_path, "landlock on the host's network")
    with socket.create_server(("127.0.0.1", 0)) as ours:
        script = (
            "import socket\n"
            "first = lambda s: s.sendto(b'hello', socket.MSG_FASTOPEN, ('127.0.0.1', %d))\n"
            "message = lambda s: s.sendmsg([b'hello'], [], socket.MSG_FASTOPEN, ('127.0.0.1', %d))\n"
            "for way in (first, message, lambda s: s.listen()):\n"
            "    try: way(socket.socket()); print('open')\n"
            "    except PermissionError: print('refused')\n"
        )
        port = ours.getsockname()[1]
        assert room.python(script % (port, port)).tail.split() == ["refused"] * 3


def test_no_process_of_the_user_is_limited_from_inside(tmp_path: Path) -> None:
    """The kernel ends a process that is over its limit of processor time: the agent could end Interlock."""
    room = furnished(tmp_path, "landlock on the host's network")
    script = (
        "import os, resource\n"
        "same = os.getpriority(os.PRIO_PROCESS, 0)\n"
        "limit = lambda pid: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))\n"
        "place = lambda pid: os.sched_setaffinity(pid, {0})\n"
        "for way in (limit, place, lambda pid: os.setpriority(os.PRIO_PROCESS, pid, same)):\n"
        "    way(0)\n"
        "    try: way(%d); print('changed')\n"
        "    except PermissionError: print('refused')\n"
        "for others in (os.PRIO_PGRP, os.PRIO_USER):\n"
        "    try: os.setpriority(others, 0, same); print('changed')\n"
        "    except PermissionError as error: print('refused' if error.errno == 1 else error)\n"
    )
    assert room.python(script % os.getpid()).tail.split() == ["refused"] * 5


def test_a_program_alone_in_its_network_can_serve_itself(full_room: Room) -> None:
    script = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "client = socket.create_connection(server.getsockname(), 5)\n"
        "print('connected')"
    )
    assert full_room.python(script).tail == "connected"


def test_an_address_that_never_answers_is_waited_for_as_in_a_shell(room: Room) -> None:
    """hiredis and requests test their timeouts that way; "unreachable" at once is another error."""
    if not room.alone or getattr(room.confinement, "by_itself", False):
        pytest.skip("the network is not the supervisor's")
    script = (
        "import socket; s = socket.socket(); s.settimeout(0.2)\n"
        "try: s.connect(('10.255.255.1', 80))\n"
        "except Exception as error: print(type(error).__name__)"
    )
    assert room.python(script).tail == "TimeoutError"


def test_a_name_is_looked_up_in_vain_and_at_once(full_room: Room) -> None:
    assert full_room.sh("cat /etc/resolv.conf").tail.startswith("nameserver 127.0.0.1\n")
    script = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', 53))\n"
        "try: s.send(b'?'); s.recv(16)\n"
        "except Exception as error: print(type(error).__name__)"
    )
    assert full_room.python(script).tail == "ConnectionRefusedError"


def test_many_runs_leave_no_descriptor_behind(room: Room) -> None:
    gc.collect()  # what earlier tests made and nobody holds any more

    async def many(count: int) -> None:
        for _ in range(count):
            await room.processes.run(room.command("true", listens=True))

    async def measured() -> tuple[set[str], set[str]]:
        await many(1)
        before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are all that is wanted
        await many(4)
        return before, set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - as above

    before, after = asyncio.run(measured())
    assert after == before


@pytest.mark.parametrize("words", [("a\0b",), ("x" * 3_000_000,)])
def test_what_cannot_even_be_tried_leaves_nothing_behind(
    room: Room, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word that no system takes: the kernel never sees the program, and what was made for it goes again."""
    (temporary := room.path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def kept() -> tuple[set[str], set[str]]:
        folders = {path.name for path in temporary.iterdir()}
        return folders, set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are all that is wanted

    gc.collect()  # what earlier tests made and nobody holds any more

    async def tried() -> tuple[tuple[set[str], set[str]], ...]:
        before = kept()
        with pytest.raises(CannotStart, match=r"cannot (start|be started:) true"):
            await room.processes.run(room.command("true", *words, listens=True))
        return before, kept()

    before, after = asyncio.run(tried())
    assert after == before
