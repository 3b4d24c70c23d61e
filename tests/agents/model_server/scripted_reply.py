"""The model: says what the script has at the step the conversation has reached."""

import shlex

from tests.agents.model_server.conversation import Call, Conversation, Json, Reply, Usage, usage_of
from tests.agents.model_server.scripts import LOOP, Script
from tests.agents.model_server.tool_choice import choose

# mini-swe-agent ends when its shell prints this, and takes plain words for a broken answer.
_LAST_WORDS = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
# Clients ask for a title or a summary beside the work itself; that must not move the sums.
_BESIDE_THE_WORK = ("You are a title generator", "generate a short title", "Generate a concise title")


def is_beside_the_work(conversation: Conversation) -> bool:
    return not conversation.tools and any(mark in conversation.text for mark in _BESIDE_THE_WORK)


def reply_to(conversation: Conversation, script: Script) -> Reply:
    """Deterministic: the same conversation always gets the same reply, ids and usage included."""
    step = conversation.step
    if is_beside_the_work(conversation):
        return _reply(conversation, "A scripted title", usage=Usage(0, 0, 0))
    if _edits_by_text(conversation):
        return _reply(conversation, _as_text(script, conversation))
    if script == LOOP:
        return _perform({"op": "shell", "command": f"echo around {step}"}, conversation)
    op = script[step] if step < len(script) else {"op": "say", "text": "Nothing is left to do."}
    return _perform(op, conversation)


def _perform(op: Json, conversation: Conversation) -> Reply:
    if op["op"] == "say":
        return _say(op["text"], conversation)
    chosen = choose(op, conversation)
    if chosen is None:
        return _reply(conversation, f"No tool here can {op['op']}.")
    name, arguments = chosen
    return _reply(conversation, calls=(Call(f"call_{conversation.turn}", name, arguments),))


def _say(text: str, conversation: Conversation) -> Reply:
    if _LAST_WORDS not in conversation.text or not conversation.tools:
        return _reply(conversation, text)
    chosen = choose(
        {"op": "shell", "command": f"echo {_LAST_WORDS} && echo {shlex.quote(text)}"}, conversation
    )
    assert chosen is not None, "mini-swe-agent always declares its shell"
    return _reply(conversation, calls=(Call(f"call_{conversation.turn}", *chosen),))


def _reply(
    conversation: Conversation, text: str = "", calls: tuple[Call, ...] = (), usage: Usage | None = None
) -> Reply:
    return Reply(
        id=f"reply_{conversation.turn}",
        model=conversation.model,
        usage=usage or usage_of(conversation.step),
        text=text,
        calls=calls,
    )


def _edits_by_text(conversation: Conversation) -> bool:
    """Aider declares no tools: it reads edits out of the text."""
    return not conversation.tools and (
        "SEARCH/REPLACE" in conversation.text or "file listing" in conversation.text
    )


def _as_text(script: Script, conversation: Conversation) -> str:
    """All of the script in one message, in the edit format that the system prompt asks for."""
    by_search = "SEARCH/REPLACE" in conversation.text
    block = _search_replace if by_search else _whole_file
    parts = [block(op) for op in script if op["op"] in ("write", "edit")]
    if by_search:  # the other format takes every fence for a file
        parts += [f"```bash\n{op['command']}\n```" for op in script if op["op"] == "shell"]
    parts += [op["text"] for op in script if op["op"] == "say"]
    return "\n\n".join(parts)


def _search_replace(op: Json) -> str:
    old, new = (op.get("old", ""), op["new"]) if op["op"] == "edit" else ("", op["content"])
    ends = [text and text.rstrip("\n") + "\n" for text in (old, new)]
    return f"{op['path']}\n```\n<<<<<<< SEARCH\n{ends[0]}=======\n{ends[1]}>>>>>>> REPLACE\n```"


def _whole_file(op: Json) -> str:
    return f"{op['path']}\n```\n{op.get('content', op.get('new', ''))}```"
