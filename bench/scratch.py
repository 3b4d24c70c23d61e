"""A repository to try things in."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

IDENTITY = ("-c", "user.name=Bench", "-c", "user.email=bench@example.com")


def scratch_repository(folder: Path, graph: str, files: Mapping[str, str] | None = None) -> Path:
    """A new repository with one commit that holds this task graph, and these files."""
    place = folder / "project"
    place.mkdir()
    for name, text in {"task-graph.yaml": graph, **(files or {})}.items():
        (place / name).write_text(text)
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*IDENTITY, "commit", "-q", "-m", "start")):
        subprocess.run(("git", *words), cwd=place, check=True)
    for key, value in (("user.name", "Bench"), ("user.email", "bench@example.com")):
        subprocess.run(("git", "config", key, value), cwd=place, check=True)
    return place
