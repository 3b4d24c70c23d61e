"""What clients ask beside the model's words: which models there are, which version, how many tokens."""

from aiohttp import web

from tests.agents.model_server.conversation import Json

MODEL = "scripted"
_TAGGED = f"{MODEL}:latest"
_TAG: Json = {
    "name": _TAGGED,
    "model": _TAGGED,
    "modified_at": "2026-01-01T00:00:00Z",
    "size": 1,
    "digest": "0" * 64,
    "details": {"format": "gguf", "family": MODEL, "families": [MODEL], "parameter_size": "1B"},
}
_SHOWN: Json = {
    "modelfile": "",
    "parameters": "",
    "template": "",
    "details": _TAG["details"],
    "model_info": {"general.architecture": MODEL, f"{MODEL}.context_length": 128_000},
    "capabilities": ["completion", "tools"],
}
_LISTED: Json = {
    "id": MODEL,
    "object": "model",
    "type": "model",
    "display_name": MODEL,
    "created": 1_700_000_000,
    "created_at": "2026-01-01T00:00:00Z",
    "owned_by": "interlock",
}
_GEMINI_MODEL: Json = {
    "name": f"models/{MODEL}",
    "displayName": MODEL,
    "inputTokenLimit": 1_000_000,
    "outputTokenLimit": 64_000,
    "supportedGenerationMethods": ["generateContent", "countTokens"],
}


def answer(method: str, path: str) -> web.Response | None:
    """The fixed answer to a request that asks for no words, or None when nobody should ask this."""
    if method in ("GET", "HEAD") and path in ("/", ""):
        return web.Response(text="scripted model server")
    fixed = _fixed(path)
    return None if fixed is None else web.json_response(fixed)


def _fixed(path: str) -> Json | None:
    whole: dict[str, Json] = {
        "/api/version": {"version": "0.20.0"},
        "/api/tags": {"models": [_TAG]},
        "/api/show": _SHOWN,
        "/api/pull": {"status": "success"},
    }
    if path in whole:
        return whole[path]
    if path.endswith("/messages/count_tokens"):
        return {"input_tokens": 1000}
    if path.endswith(":countTokens"):
        return {"totalTokens": 1000}
    return _models(path)


def _models(path: str) -> Json | None:
    folder, _, last = path.rpartition("/")
    if "/v1beta" in path:
        found = {"models": [_GEMINI_MODEL]} if last == "models" else _GEMINI_MODEL
        return found if "models" in path.split("/") else None
    if last == "models":
        # Codex reads `models`, everybody else `data`.
        return {"object": "list", "data": [_LISTED], "models": [], "has_more": False}
    return {**_LISTED, "id": last} if folder.endswith("/models") else None
