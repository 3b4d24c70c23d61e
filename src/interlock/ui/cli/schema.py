"""`interlock schema`: what an editor needs to check task-graph.yaml while it is written."""

from pathlib import Path

import click

from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import note, say


@click.command("schema", cls=CliCommand)
@click.option(
    "--write", "path", type=click.Path(path_type=Path, dir_okay=False), help="Write the schema to this file."
)
def schema_command(path: Path | None) -> None:
    """Print the JSON schema of task-graph.yaml.

    For example: interlock schema --write .vscode/task-graph.schema.json
    """
    text = schema_text()
    if path is None:
        say(text.rstrip())
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    note(f"wrote {path}; put this on line 1 of the graph: # yaml-language-server: $schema={path}")


def schema_text() -> str:
    """The schema as a file's content."""
    import msgspec

    from interlock.plan import json_schema

    return msgspec.json.format(msgspec.json.encode(json_schema()), indent=2).decode() + "\n"
