"""Calls a person back to the terminal: a bell and a desktop notification, when a run ends or needs them."""

import html
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Literal

from interlock.model.shown import shown
from interlock.ui.cli.output import Invocation, even_if_unread
from interlock.ui.words.notices import Notice

Notify = Literal["auto", "bell", "desktop", "off"]

BELL = "\a"
TITLE = "Interlock"
APART_SECONDS = 5.0
"""Several agents that ask at once call a person once."""
PROGRAM_SECONDS = 3.0
SHOWS_NOTICES = ("iTerm.app", "WezTerm", "ghostty", "vscode", "kitty")
"""Terminals that show OSC 9 as a notification, by TERM_PROGRAM. Others may print or misread it."""
MAC_SCRIPT = (
    *("-e", "on run argv"),
    *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
    *("-e", "end run"),
)


class Notices:
    """Notices of one run, in the way that the setting `notify` asks for; none where no terminal looks."""

    def __init__(self, invocation: Invocation, notify: Notify, environ: Mapping[str, str]) -> None:
        is_watched = sys.stdout.isatty() and not invocation.json
        self._notify: Notify = notify if is_watched else "off"
        self._environ = environ
        self._last = -APART_SECONDS
        self._at_work: list[threading.Thread] = []

    def hear(self, notice: Notice) -> None:
        self._call(notice.text)

    def ended(self, notice: Notice) -> None:
        self._last = -APART_SECONDS
        self._call(notice.text)
        for thread in self._at_work:
            thread.join(PROGRAM_SECONDS)

    def _call(self, text: str) -> None:
        now = time.monotonic()
        if self._notify == "off" or now - self._last < APART_SECONDS:
            return
        self._last, text = now, shown(text)
        command = desktop_command(text, self._environ) if self._notify in ("auto", "desktop") else ()
        is_shown = self._notify == "desktop" or (self._notify == "auto" and shows_notices(self._environ))
        in_terminal = is_shown and not command
        with even_if_unread():
            sys.stdout.write(f"{BELL}\x1b]9;{TITLE}: {text}{BELL}" if in_terminal else BELL)
            sys.stdout.flush()
        if command:
            thread = threading.Thread(target=_start, args=(command,), daemon=True)
            thread.start()
            self._at_work.append(thread)


def desktop_command(text: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The command that shows a notification on the user's desktop; () if there is none to be seen."""
    if environ.get("SSH_CONNECTION"):
        return ()  # the desktop is another machine's
    path = environ.get("PATH")
    if sys.platform == "darwin" and (program := shutil.which("osascript", path=path)):
        return (program, *MAC_SCRIPT, TITLE, text)
    has_desktop = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    if has_desktop and (program := shutil.which("notify-send", path=path)):
        return (program, "--app-name=interlock", "--", TITLE, html.escape(text))
    return ()


def shows_notices(environ: Mapping[str, str]) -> bool:
    """True if the terminal turns OSC 9 into a notification."""
    return environ.get("TERM_PROGRAM") in SHOWS_NOTICES or bool(environ.get("WT_SESSION"))


def _start(command: tuple[str, ...]) -> None:
    """A notification that cannot be shown is not worth a word: the bell has rung."""
    quiet = subprocess.DEVNULL
    try:
        subprocess.run(
            command,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            timeout=PROGRAM_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return
