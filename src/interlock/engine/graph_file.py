"""The file of the task graph, which people may change while a run goes on."""

from pathlib import Path
from typing import Protocol

from interlock.engine.environments import GraphCommands
from interlock.engine.settings import Settings
from interlock.git.files import GRAPH_BYTES, read_regular
from interlock.git.repository import GitRepository
from interlock.plan import Graph, parse


class GraphProject(Protocol):
    """The parts of a project that reading its graph takes."""

    @property
    def root(self) -> Path: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def repository(self) -> GitRepository: ...
    @property
    def graph_commands(self) -> GraphCommands: ...

    def refuse_unagreed(self, graph: Graph) -> None: ...


class GraphFile:
    """The task graph of a project, as it is in the checkout."""

    def __init__(self, project: GraphProject) -> None:
        self._project = project

    async def text(self) -> bytes | None:
        """Return the content of the file now; None while it does not exist: editors replace files."""
        try:
            return read_regular(self._project.root / self._project.settings.graph, GRAPH_BYTES)
        except OSError:
            return None

    async def graph(self, text: bytes) -> Graph:
        """The graph that a text describes, checked."""
        name = Path(self._project.settings.graph).name
        graph = parse(text, name, await self._project.repository.files())
        self._project.refuse_unagreed(graph)
        self._project.graph_commands.take(graph)
        return graph
