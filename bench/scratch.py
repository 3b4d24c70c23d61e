"""A repository to try things in."""

import subprocess
from pathlib import Path

IDENTITY = ("-c", "user.name=Bench", "-c", "user.email=bench@example.com")


def scratch_repository(folder: Path, graph: str) -> Path:
    """A new repository with one commit that holds this task graph."""
    place = folder / "project"
    place.mkdir()
    (place / "task-graph.yaml").write_text(graph)
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*IDENTITY, "commit", "-q", "-m", "start")):
        subprocess.run(("git", *words), cwd=place, check=True)
    for key, value in (("user.name", "Bench"), ("user.email", "bench@example.com")):
        subprocess.run(("git", "config", key, value), cwd=place, check=True)
    return place
