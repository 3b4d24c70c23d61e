"""From the greeting to an open session. Programs promise more than they can: a session that was cut off is
resumed, or else loaded, or else begun anew."""

from collections.abc import Callable

from acp.meta import AGENT_METHODS, PROTOCOL_VERSION
from acp.schema import (
    AuthenticateRequest,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    LoadSessionRequest,
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
)

from interlock import __version__
from interlock.agents.acp.rpc import Connection, Failed, request
from interlock.agents.adapter import LaunchContext
from interlock.agents.json_lines import Json
from interlock.model.session import Event

GREETING_ID = 0


def greeting() -> str:
    """Return the client's first message. It offers no file system and no terminals: the agent has its own."""
    who = Implementation(name="interlock", version=__version__)
    asked = InitializeRequest(protocol_version=PROTOCOL_VERSION, client_info=who)
    return request(GREETING_ID, AGENT_METHODS["initialize"], asked)


class Opening:
    """Tries one way after the other, and tells `opened` which session it is."""

    def __init__(
        self, context: LaunchContext, line: Connection, opened: Callable[[str], list[Event]], failed: Failed
    ) -> None:
        self.is_replay = False
        """The agent is telling an old conversation again."""
        self._context = context
        self._line = line
        self._opened = opened
        self._failed = failed
        self._ways: list[Callable[[], None]] = []
        self._keys: list[str] = []
        line.expect(GREETING_ID, self._greeted, failed)

    def _greeted(self, result: object) -> list[Event]:
        agent = InitializeResponse.model_validate(result)
        can = agent.agent_capabilities
        self._keys = [method.id for method in agent.auth_methods or () if "key" in method.id.lower()]
        self._ways = [self._begin]
        if self._context.resume and can and can.load_session:
            self._ways.append(self._load)
        if self._context.resume and can and can.session_capabilities and can.session_capabilities.resume:
            self._ways.append(self._resume)
        return self._try_next()

    def _try_next(self) -> list[Event]:
        self.is_replay = False
        self._ways.pop()()
        return []

    def _begin(self) -> None:
        asked = NewSessionRequest(cwd=self._context.workspace, mcp_servers=[])
        self._line.ask(AGENT_METHODS["session_new"], asked, self._begun, self._not_begun)

    def _load(self) -> None:
        self.is_replay = True
        asked = LoadSessionRequest(
            cwd=self._context.workspace, session_id=self._context.resume, mcp_servers=[]
        )
        self._line.ask(AGENT_METHODS["session_load"], asked, self._resumed, self._not_resumed)

    def _resume(self) -> None:
        asked = ResumeSessionRequest(cwd=self._context.workspace, session_id=self._context.resume)
        self._line.ask(AGENT_METHODS["session_resume"], asked, self._resumed, self._not_resumed)

    def _begun(self, result: object) -> list[Event]:
        return self._opened(NewSessionResponse.model_validate(result).session_id)

    def _resumed(self, _result: object) -> list[Event]:
        self.is_replay = False
        return self._opened(self._context.resume)

    def _not_resumed(self, _error: Json) -> list[Event]:
        return self._try_next()

    def _not_begun(self, error: Json) -> list[Event]:
        """Some want to be told how to log in. With a key in the environment, it is the way with a key."""
        if not self._keys:
            return self._failed(error)
        asked = AuthenticateRequest(method_id=self._keys.pop(0))
        self._ways = [self._begin]
        self._line.ask(AGENT_METHODS["authenticate"], asked, lambda _: self._try_next(), self._failed)
        return []
