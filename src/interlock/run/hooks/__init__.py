"""Commands of the user that hear of an agent's session, and may object.

They are the user's own programs and run outside the sandbox, so they come from the user's own settings only,
never from a repository. What they hear of a session is the agent's word; the sandbox is what holds an agent.
"""

from interlock.run.hooks.moments import MomentSource, can_block, source_of
from interlock.run.hooks.session import About, Hooks, SessionHooks

__all__ = ["About", "Hooks", "MomentSource", "SessionHooks", "can_block", "source_of"]
