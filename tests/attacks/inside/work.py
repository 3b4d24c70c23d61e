"""What an agent must be able to do in its workspace, whatever it is kept from."""

import json
import os
import subprocess
import urllib.request

from .means import HERE, git, must_work


@must_work
def write_a_file() -> bool:
    (HERE / "new.txt").write_text("new\n")
    return (HERE / "new.txt").read_text() == "new\n"


@must_work
def commit() -> bool:
    return git("add", "new.txt") and git("commit", "-qm", "one")


@must_work
def amend() -> bool:
    return git("commit", "-q", "--amend", "-m", "one, again")


@must_work
def branch_and_come_back() -> bool:
    return git("switch", "-qc", "aside") and git("switch", "-q", "-")


@must_work
def rebase() -> bool:
    return git("rebase", "-q", "HEAD~1")


@must_work
def stash() -> bool:
    (HERE / "new.txt").write_text("newer\n")
    return git("stash", "-q") and git("stash", "pop", "-q")


@must_work
def start_programs_and_use_temporary_files() -> bool:
    script = (
        'f=$(mktemp) && echo ok > "$f" && cat "$f" && rm "$f" && ls /proc/self > /dev/null && git --version'
    )
    return subprocess.run(["sh", "-c", script], capture_output=True, check=False).returncode == 0


@must_work
def ask_the_model() -> bool:
    """Through the one open port, with its token."""
    request = urllib.request.Request(  # noqa: S310 - the address is ours
        os.environ["OPENAI_BASE_URL"] + "/models",
        headers={"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - the address is ours
        return bool(json.load(answer))
