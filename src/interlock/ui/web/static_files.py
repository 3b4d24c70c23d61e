"""The files of the dashboard, as they were built into the package."""

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.ui.web.scopes import NotThere

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse

FOLDER = Path(__file__).resolve().parent / "static"
ASSETS = "assets"
"""Files whose names hold a digest of their content."""
FOR_EVER = "public, max-age=31536000, immutable"
NOT_BUILT = """\
<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Interlock</title>
<h1>The dashboard is not built</h1>
<p>This server works; its pages are missing in this checkout. Build them, then load this page again:</p>
<pre>make dashboard</pre>
<p>The same facts are in the terminal: <code>interlock status</code>, <code>interlock inbox</code>.</p>
</html>
"""
PLAIN = """\
Interlock. This is a dashboard for a browser; programs use /api/openapi.json with a token:

    interlock ui --print-url
    curl -H "Authorization: Bearer TOKEN" {origin}/api/snapshot
"""

mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("font/woff2", ".woff2")


def is_built() -> bool:
    """False in a checkout where `make dashboard` has not built the pages."""
    return (FOLDER / "index.html").is_file()


async def page(request: "Request") -> "StreamResponse":
    """A file of the dashboard; for any other address its first page, which knows what to show."""
    from aiohttp.web import FileResponse, Response

    name = request.match_info["name"]
    if name == "api" or name.startswith("api/"):
        raise NotThere(f"there is no {request.path[:200]}", "GET /api/openapi.json")
    if "text/html" not in request.headers.get("Accept", "*/*") and not name:
        return Response(text=PLAIN.format(origin=f"{request.scheme}://{request.host}"))
    found = _file(name)
    if found is None and is_built() and _is_view(name):
        found = FOLDER / "index.html"
    if found is None and not name:
        return Response(text=NOT_BUILT, content_type="text/html")
    if found is None:
        raise NotThere(f"there is no {request.path[:200]}")
    kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    headers = {"Content-Type": kind}
    if name.startswith(f"{ASSETS}/"):
        headers["Cache-Control"] = FOR_EVER
    return FileResponse(found, headers=headers)


def _is_view(name: str) -> bool:
    """Addresses of the dashboard itself. The names of tasks may have dots, those of other views have none."""
    first, _, rest = name.partition("/")
    return bool(first) and (first == "tasks" or "." not in first) and first != ASSETS and "/" not in rest


def _file(name: str) -> Path | None:
    """The file of this name. No name leads out of the folder, and no link is followed out of it."""
    try:
        path = (FOLDER / (name or "index.html")).resolve()
        return path if path.is_relative_to(FOLDER) and path.is_file() else None
    except (ValueError, OSError):  # a NUL, or a name that is too long
        return None
