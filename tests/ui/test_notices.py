"""Bell and desktop notification: at the end of a run and when a person is needed, on a terminal only."""

import os
import sys
from pathlib import Path

import pytest

from interlock.events.facts import PermissionAsked
from interlock.events.record import Recorded, encode
from interlock.model.task import TaskId
from interlock.ui.cli.notices import BELL, Notices, Notify, desktop_command, shows_notices
from interlock.ui.cli.output import Invocation
from interlock.ui.words.notices import notice_of
from tests.ui.conftest import interlock
from tests.ui.test_run_command import project
from tests.warm import INTERLOCK, pieces, start_on_terminal

SENDER = '#!/bin/sh\nprintf "%s\\n" "$@" > "$NOTICE_FILE"\n'


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A desktop, and the program that shows notifications there."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "notify-send").write_text(SENDER)
    (folder / "notify-send").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("NOTICE_FILE", str(tmp_path / "notice"))
    for name in ("SSH_CONNECTION", "TERM_PROGRAM", "WT_SESSION"):
        monkeypatch.delenv(name, raising=False)
    return folder


def on_a_terminal(root: Path, notify: str) -> str:
    """A whole run, as it is seen."""
    env = os.environ | {"TERM": "xterm-256color", "INTERLOCK_NOTIFY": notify}
    process, mine = start_on_terminal([*INTERLOCK, "run"], root, env)
    seen = "".join(pieces(mine))
    os.close(mine)
    assert process.wait() == 0
    return seen


@pytest.mark.slow
def test_the_end_of_a_run_rings_and_shows_a_notification(
    repository: Path, programs: Path, tmp_path: Path
) -> None:
    assert BELL in on_a_terminal(project(repository, "one"), "auto")
    said = (tmp_path / "notice").read_text().splitlines()
    assert said == ["--app-name=interlock", "--", "Interlock", "the run ended: 1 done"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("notify", "rings"), [("off", False), pytest.param("bell", True, marks=pytest.mark.night)]
)
def test_a_setting_makes_it_quieter(
    repository: Path, programs: Path, tmp_path: Path, notify: str, rings: bool
) -> None:
    assert (BELL in on_a_terminal(project(repository, "one"), notify)) is rings
    assert not (tmp_path / "notice").exists()


@pytest.mark.slow
def test_without_a_terminal_nothing_happens(repository: Path, programs: Path, tmp_path: Path) -> None:
    assert BELL not in interlock("run", cwd=project(repository, "one")).out
    assert not (tmp_path / "notice").exists()


def asked(notify: Notify, environ: dict[str, str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a terminal gets when two agents wait for permission."""
    fact = PermissionAsked(TaskId("api"), 1, "implement", 1, "c", "run", "make\x1b[2J all")
    row = Recorded(1, 0.0, "test", *encode(fact), "")
    notices = Notices(Invocation(), notify, environ)
    notice = notice_of(row)
    assert notice
    notices.hear(notice)
    notices.hear(notice)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("notify", "environ", "expected"),
    [
        ("bell", {"TERM_PROGRAM": "WezTerm"}, BELL),
        ("auto", {}, BELL),
        (
            "auto",
            {"TERM_PROGRAM": "WezTerm"},
            f"{BELL}\x1b]9;Interlock: api waits for permission: run make all{BELL}",
        ),
        ("desktop", {}, f"{BELL}\x1b]9;Interlock: api waits for permission: run make all{BELL}"),
        ("off", {"TERM_PROGRAM": "WezTerm"}, ""),
    ],
)
def test_agents_that_wait_for_a_person_call_once(
    notify: Notify,
    environ: dict[str, str],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert asked(notify, environ, capsys) == expected


def test_a_desktop_is_used_only_where_the_person_sits(programs: Path) -> None:
    here = {"PATH": str(programs), "DISPLAY": ":0"}
    assert desktop_command("a <b>", here)[-1] == "a &lt;b&gt;"
    assert desktop_command("a", here | {"SSH_CONNECTION": "x"}) == ()
    assert desktop_command("a", {"PATH": str(programs)}) == ()
    assert desktop_command("a", {"PATH": "/nowhere", "DISPLAY": ":0"}) == ()


def test_only_terminals_that_are_known_to_show_it_get_the_sequence() -> None:
    assert shows_notices({"WT_SESSION": "x"})
    assert not shows_notices({"TERM_PROGRAM": "Apple_Terminal"})
