"""What holds for every command: lazy imports, exit codes, errors in words, colour and pipes (UX)."""

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from interlock import __version__
from interlock.model import errors
from interlock.ui.cli.app import COMMANDS, Interlock, as_user_error
from interlock.ui.cli.app import interlock as root_command
from interlock.ui.cli.exits import MEANING, ExitCode
from interlock.ui.cli.output import wants_color
from tests.ui.conftest import Lab, git, interlock, task

HEAVY = ("pydantic", "psycopg", "rich", "ruamel", "fastapi", "textual", "sqlalchemy", "mcp", "httpx")


def imported(words: list[str], cwd: Path) -> set[str]:
    """The packages a command imports, in a process of its own."""
    script = (
        "import sys; from interlock.ui.cli import main; "
        f"code = main({words!r}); "
        "print(' '.join(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=cwd, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.slow
def test_help_imports_no_command_and_nothing_heavy(repository: Path) -> None:
    found = imported(["--help"], repository)
    assert found.isdisjoint({*HEAVY, "sqlite3", "asyncio"})


@pytest.mark.slow
def test_status_imports_nothing_heavy(lab: Lab) -> None:
    lab.accept(task("api"))
    found = imported(["status"], lab.root)
    assert found.isdisjoint(
        {*HEAVY, "random", "tempfile", "zipfile"}
    )  # each takes as long as reading the log


@pytest.mark.slow
@pytest.mark.parametrize("words", [["events"], ["explain", "api"], ["pause"], ["config", "show"]])
def test_commands_on_the_log_import_nothing_heavy(lab: Lab, words: list[str]) -> None:
    lab.accept(task("api"))
    assert imported(words, lab.root).isdisjoint(HEAVY)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_loaded_and_has_a_help_text(name: str) -> None:
    context = click.Context(root_command)
    assert isinstance(root_command, Interlock)
    command = root_command.get_command(context, name)
    assert command is not None
    assert command.help
    assert {"--json", "--project", "--no-color"} <= {flag for param in command.params for flag in param.opts}


def test_every_error_ends_in_a_documented_exit_code() -> None:
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.UserError)
    ]
    assert {kind.exit_code for kind in kinds} <= {int(code) for code in MEANING}


def test_every_exit_code_has_a_meaning() -> None:
    assert set(MEANING) == set(ExitCode)


def test_an_unknown_command_suggests_the_nearest(lab: Lab) -> None:
    result = lab.run("stauts")
    assert result.code == 2
    assert result.err == "error: there is no command `stauts`\nhint: did you mean `interlock status`?\n"


def test_an_unknown_option_names_the_help(lab: Lab) -> None:
    result = lab.run("status", "--colour")
    assert result.code == 2
    assert "interlock status --help" in result.err


def test_with_json_an_error_is_one_object_on_stdout(lab: Lab) -> None:
    result = lab.run("show", "nothing", "--json")
    assert result.code == 2
    assert result.err == ""
    assert set(result.json["error"]) == {"code", "message", "hint", "retryable"}


def test_json_may_stand_before_or_after_the_command(lab: Lab) -> None:
    assert lab.run("--json", "status").json["tasks"] == lab.run("status", "--json").json["tasks"] == []


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (OSError(errno.ENOSPC, "No space left", "/x/log"), ExitCode.ENVIRONMENT, "the disk is full: /x/log"),
        (OSError(errno.EROFS, "Read-only", "/x/log"), ExitCode.ENVIRONMENT, "the disk is read-only: /x/log"),
        (errors.StaleEpoch("somebody else holds it"), ExitCode.ENVIRONMENT, "somebody else holds it"),
        (ZeroDivisionError("by zero"), ExitCode.INTERNAL, "ZeroDivisionError: by zero"),
        (click.UsageError("no such option"), ExitCode.USAGE, "no such option"),
    ],
)
def test_whatever_is_raised_becomes_words_a_hint_and_an_exit_code(
    error: Exception, code: ExitCode, words: str
) -> None:
    told = as_user_error(error)
    assert told.exit_code == code
    assert words in str(told)
    assert told.hint or isinstance(error, click.UsageError)


@pytest.mark.parametrize("name", ["CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX"])
def test_a_coding_agent_gets_json_without_asking(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    lab.accept(task("api"))
    assert lab.run("status").out.startswith("1 waiting")
    monkeypatch.setenv(name, "1")
    assert json.loads(lab.run("status").out)["counts"]["waiting"] == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "flag", "wanted"),
    [
        (Terminal(), {}, False, True),
        (io.StringIO(), {}, False, False),
        (Terminal(), {"NO_COLOR": "1"}, False, False),
        (Terminal(), {"NO_COLOR": ""}, False, True),
        (Terminal(), {"TERM": "dumb"}, False, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, False, True),
        (Terminal(), {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_follows_the_flag_then_the_variables(
    stream: io.StringIO, environ: dict[str, str], flag: bool, wanted: bool
) -> None:
    assert wants_color(stream, flag, environ) is wanted


def test_forced_colour_reaches_the_output(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.accept(task("api"))
    assert "\x1b[" not in lab.run("status").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in lab.run("status").out
    assert "\x1b[" not in lab.run("status", "--no-color").out


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(lab: Lab) -> None:
    lab.accept(*(task(f"t{number}") for number in range(2_000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock", "events"],
        cwd=lab.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    )
    assert process.stdout and process.stderr
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == ExitCode.PIPE_CLOSED


@pytest.mark.slow
def test_the_version_is_printed_and_the_module_is_the_command(repository: Path) -> None:
    """From a checkout the commit of Interlock is shown too, in whatever repository the user is."""
    source = Path(__file__).parents[2]
    result = interlock("--version", cwd=repository, env={"GIT_DIR": str(repository / ".git")})
    commit = f" (commit {git(source, 'rev-parse', '--short', 'HEAD')})" if (source / ".git").exists() else ""
    assert (result.code, result.out) == (0, f"interlock {__version__}{commit}\n")


def test_completion_is_a_script_for_each_shell(lab: Lab) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_INTERLOCK_COMPLETE" in lab.run("completion", "show", shell).out


@pytest.mark.slow
def test_the_shell_is_told_the_commands(repository: Path) -> None:
    asked = {"_INTERLOCK_COMPLETE": "bash_complete", "COMP_WORDS": "interlock st", "COMP_CWORD": "1"}
    assert "status" in interlock(cwd=repository, env=asked).out
