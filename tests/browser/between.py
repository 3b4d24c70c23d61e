"""A network between browser and server that a test can break."""

import socket
import threading
from contextlib import suppress
from enum import Enum

CHUNK_BYTES = 1 << 16


class Weather(Enum):
    """What becomes of bytes."""

    CLEAR = "clear"
    CUT = "cut"
    """Connections break at once."""
    SILENT = "silent"
    """Nothing arrives any more, and nobody is told."""
    NO_ANSWERS = "no answers"
    """The server hears everything, and nothing of what it says arrives."""


class Between:
    """Passes connections on to a server of this machine."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._target = 0
        self._weather = Weather.CLEAR
        self._open: list[socket.socket] = []
        self._changed = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def lead_to(self, place: str) -> None:
        self._target = int(place.rpartition(":")[2])

    def set(self, weather: Weather) -> None:
        with self._changed:
            self._weather = weather
            if weather is not Weather.SILENT:
                self._changed.notify_all()
            if weather is Weather.CUT:
                self._break_all()

    def close(self) -> None:
        self._listener.close()
        self.set(Weather.CUT)

    def _break_all(self) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def _accept(self) -> None:
        with suppress(OSError):  # closed at the end
            while True:
                here, _ = self._listener.accept()
                threading.Thread(target=self._join, args=(here,), daemon=True).start()

    def _join(self, here: socket.socket) -> None:
        with here, suppress(OSError):
            if self._weather is Weather.CUT:
                return
            with socket.create_connection(("127.0.0.1", self._target)) as there:
                self._open += [here, there]
                back = threading.Thread(target=self._pass, args=(there, here, Weather.NO_ANSWERS))
                back.start()
                self._pass(here, there, None)
                back.join()

    def _pass(self, source: socket.socket, to: socket.socket, held_in: Weather | None) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                with self._changed:
                    self._changed.wait_for(lambda: self._weather not in (Weather.SILENT, held_in))
                to.sendall(data)
        for each in (source, to):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
