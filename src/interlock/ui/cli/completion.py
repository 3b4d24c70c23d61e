"""`interlock completion`: the script that teaches a shell our commands."""

import click

from interlock.ui.cli.app import Command, interlock
from interlock.ui.cli.output import note, say

INSTALL = {
    "bash": "interlock completion bash > ~/.local/share/bash-completion/completions/interlock",
    "zsh": 'interlock completion zsh > "${fpath[1]}/_interlock"',
    "fish": "interlock completion fish > ~/.config/fish/completions/interlock.fish",
}


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(sorted(INSTALL)), metavar="SHELL")
def completion_command(shell: str) -> None:
    """Print the completion script for SHELL: bash, fish or zsh. Loading it does not start Interlock.

    For example: interlock completion zsh > ~/.zfunc/_interlock
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, shell  # noqa: S101 - click knows all three
    # The full class would ask the shell for its version; the script itself does not depend on it.
    script = kind(interlock, {}, "interlock", "_INTERLOCK_COMPLETE")
    say(script.source_template % script.source_vars())
    note(f"to install: {INSTALL[shell]}")
