"""`interlock completion`: the script that teaches a shell our commands and the names of tasks."""

import os
from pathlib import Path

import click

from interlock.model.errors import UsageError
from interlock.ui.cli.app import COMPLETING, CommandGroup, interlock
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.writing import write

SHELLS = ("bash", "fish", "zsh")
ZSH_LINES = "fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit"


@click.group("completion", cls=CommandGroup)
def completion_command() -> None:
    """Let bash, fish or zsh complete commands, options and the names of tasks.

    For example: interlock completion install
    """


@completion_command.command("show")
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
def show(shell: str) -> None:
    """Print the completion script for SHELL: bash, fish or zsh. Loading it does not start Interlock.

    For example: interlock completion show zsh > ~/.zfunc/_interlock
    """
    say(script(shell))
    note(f"to install it: interlock completion install {shell}")


@completion_command.command("install")
@click.argument("shell", type=click.Choice(SHELLS), metavar="[SHELL]", required=False)
@click.pass_obj
def install(invocation: Invocation, shell: str | None) -> None:
    """Write the completion script to where SHELL (default: yours) looks for it. No other file is changed.

    For example: interlock completion install fish
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise UsageError(f"there is no completion for `{shell}`", f"name one of {', '.join(SHELLS)}")
    path = place(shell)
    if path.exists() and not _mentions(path, COMPLETING):
        raise UsageError(f"{path} is not a completion script of Interlock", "move it away, then try again")
    write(path.resolve(), script(shell) + "\n")  # a link to a folder of dotfiles stays one
    if invocation.json:
        say_json({"shell": shell, "path": path})
        return
    say(f"wrote {path}")
    say(f"next: {_next(shell)}")


def script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, shell  # noqa: S101 - click knows all three
    # The full class would ask the shell for its version; the script itself does not depend on it.
    made = kind(interlock, {}, "interlock", COMPLETING)
    return str(made.source_template % made.source_vars())


def place(shell: str) -> Path:
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "bash": data / "bash-completion/completions/interlock",
        "fish": config / "fish/completions/interlock.fish",
        "zsh": home / ".zfunc/_interlock",
    }[shell]


def _next(shell: str) -> str:
    if shell == "zsh" and not _mentions(Path.home() / ".zshrc", ".zfunc"):
        return f"add this line to ~/.zshrc, then open a new terminal: {ZSH_LINES}"
    if shell == "bash":
        return "open a new terminal (bash finds it by the package bash-completion)"
    return "open a new terminal"


def _mentions(path: Path, words: str) -> bool:
    try:
        return words in path.read_text(errors="replace")
    except OSError:
        return False
