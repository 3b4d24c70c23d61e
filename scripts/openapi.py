"""Write the OpenAPI document of the server, from which the dashboard generates its types."""

import json
from pathlib import Path

from interlock.ui.web.openapi import document
from interlock.ui.web.routes import ROUTES

FILE = Path(__file__).resolve().parent.parent / "dashboard" / "openapi.json"


def text() -> str:
    """The document as it is committed. Its version changes with each release, and is left out."""
    found = document(ROUTES)
    found["info"]["version"] = "0"
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
