"""Events from session updates, without a program."""

from acp.schema import SessionNotification, ToolCallProgress, ToolCallStart

from interlock.agents.acp.updates import UpdateReader
from interlock.model.session import EventKind


def test_a_tool_call_begins_once_with_the_first_news_of_it() -> None:
    reader = UpdateReader("/work")
    start = ToolCallStart(session_update="tool_call", tool_call_id="1", title="make", kind="execute")
    going = ToolCallProgress(session_update="tool_call_update", tool_call_id="1", status="in_progress")
    unannounced = ToolCallProgress(session_update="tool_call_update", tool_call_id="2", title="look")
    told = [
        [
            event.call
            for event in reader.update(SessionNotification(session_id="s", update=each))
            if event.kind is EventKind.TOOL
        ]
        for each in (start, going, unannounced, going, unannounced)
    ]
    assert told == [["1"], [], ["2"], [], []]
