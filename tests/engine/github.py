"""A GitHub of one's own: the fake `gh` on the PATH, and the people who review, merge and close."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine import fake_gh
from tests.engine.remotes import Remote

WRAPPER = '#!/bin/sh\nexec "{python}" "{script}" "$@"\n'


class GitHub:
    """The pull requests of one remote."""

    def __init__(self, folder: Path, remote: Remote, patch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        self.file = folder / "pulls.json"
        self.file.write_text(
            json.dumps(
                {
                    "pulls": {},
                    "labels": ["agents"],
                    "required": False,
                    "auto_merge": True,
                    "down": False,
                    "kill_after": [],
                }
            )
        )
        program = folder / "gh"
        program.write_text(WRAPPER.format(python=sys.executable, script=fake_gh.__file__))
        program.chmod(0o755)
        patch.setenv("PATH", str(folder), prepend=":")
        patch.setenv("FAKE_GH_STATE", str(self.file))
        patch.setenv("FAKE_GH_BARE", str(remote.bare))
        self.remote = remote

    @property
    def pulls(self) -> list[dict[str, Any]]:  # Any: parsed JSON
        """All pull requests, oldest first."""
        return list(json.loads(self.file.read_text())["pulls"].values())

    @property
    def calls(self) -> list[list[str]]:
        """The words of each call."""
        file = Path(f"{self.file}.calls")
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def set(self, **values: object) -> None:
        """Change what holds for the whole repository."""
        pulls = self._open()
        pulls.state |= values
        pulls.save()

    def change(self, number: int, **values: object) -> None:
        """Change a pull request."""
        pulls = self._open()
        pulls.state["pulls"][str(number)] |= values
        pulls.save()

    def merge(self, number: int, how: str = "merge") -> str:
        """Press the button; the commit on main."""
        pulls = self._open()
        commit = fake_gh.merge_now(pulls, str(number), how)
        pulls.save()
        self.remote.theirs.append(commit)
        return commit

    def review(
        self, number: int, body: str, *lines: str, by: str = "grace", association: str = "MEMBER"
    ) -> None:
        """Ask for changes, with comments on lines."""
        pulls = self._open()
        pull = pulls.state["pulls"][str(number)]
        oid = pulls.shown(pull)["headRefOid"]
        pull["reviews"].append(
            {
                "author": {"login": by},
                "authorAssociation": association,
                "body": body,
                "submittedAt": f"2026-11-18T10:00:0{len(pull['reviews'])}Z",
                "state": "CHANGES_REQUESTED",
                "commit": {"oid": oid},
            }
        )
        pull["comments"] += [
            {"user": {"login": by}, "path": "a.txt", "line": 1, "body": text, "original_commit_id": oid}
            for text in lines
        ]
        pulls.save()

    def _open(self) -> fake_gh.Pulls:
        assert os.environ["FAKE_GH_STATE"] == str(self.file)
        return fake_gh.Pulls()
