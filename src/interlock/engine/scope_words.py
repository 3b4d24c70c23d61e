"""Words for the answers to requests for scope. Agents read them, so they are made here and not in `ui/words`,
which shows people the same."""

from interlock.model.reason import Reason, Why

SCOPE_WORDS = {
    Why.SCOPE_HELD: "{tasks} holds {path} alone until its change has landed",
    Why.SCOPE_RESERVED: "only a person may change {paths}: it controls agents or the machine",
    Why.SCOPE_EXPECTED: "{tasks} is expected to edit {path}, and this run is strict",
    Why.SCOPE_SHARED: "{tasks} may edit it too, and both changes will be merged",
    Why.SCOPE_FREE: "no other task works on it",
}


def scope_text(reason: Reason | None) -> str:
    """The reason of an answer; its text if an older version wrote it."""
    if reason is None or reason.code not in SCOPE_WORDS:
        return reason.text("text") if reason else ""
    names = {"tasks": ", ".join(reason.tasks), "paths": ", ".join(reason.names("paths"))}
    return SCOPE_WORDS[Why(reason.code)].format(path=reason.text("path"), **names)
