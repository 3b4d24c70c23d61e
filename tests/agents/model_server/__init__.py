"""A scripted model server: no intelligence, five protocols, and every way to fail."""

from tests.agents.model_server.running import RunningModel, running_model

__all__ = ["RunningModel", "running_model"]
