"""`setup:` through the real command: dependencies are installed once for each content of the lock file."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch
from tests.run.tree import linux

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, linux]

INSTALL = 'mkdir -p deps; while read -r name; do echo "I am $name" > "deps/$name"; done < deps.lock'
CHECK = 'while read -r name; do test -e "deps/$name" || { echo no module $name; exit 1; }; done < wanted'
SETUP = "{{run: {run}, key: [deps.lock], makes: [deps]}}"


def project(scratch: Scratch, tasks: str, agent: str, run: str = "sh install.sh") -> None:
    scratch.write(install__sh=INSTALL + "\n", check__sh=CHECK + "\n", __gitignore="deps/\n")
    scratch.write(deps__lock="one\n", wanted="one\n")
    scratch.graph(tasks, agent, setup=SETUP.format(run=f'"{run}"'), verify="sh check.sh")


def built(scratch: Scratch) -> list[bool]:
    return [row["fact"]["ok"] for row in scratch.facts("SetupBuilt")]


def test_what_the_checkout_lacks_is_installed_once_before_the_first_agent(scratch: Scratch) -> None:
    project(scratch, "  a: {goal: a}\n  b: {goal: b}\n", 'cp deps/one "$INTERLOCK_TASK_ID.txt"')
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}
    assert scratch.git("show", "main:a.txt") == "I am one"
    assert not (scratch.root / "deps").exists()
    kinds = [row["kind"] for row in scratch.facts("SetupBuilt", "PhaseStarted")]
    assert kinds[0] == "SetupBuilt"
    assert built(scratch) == [True]


def test_a_change_of_the_lock_file_is_checked_with_what_it_names(scratch: Scratch) -> None:
    """And what was installed for it is main's once it has landed."""
    agent = "test -e deps/two && touch saw-two || { echo two >> deps.lock; echo two >> wanted; }"
    project(scratch, "  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", agent)
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}
    assert "saw-two" in scratch.git("ls-tree", "--name-only", "main").splitlines()
    assert built(scratch) == [True, True]


def test_what_one_change_installs_is_not_shown_to_another(scratch: Scratch) -> None:
    """One change has the installer put a trap into what the lock file gives; both have the same one.

    The trap goes first. After `fair` it may find the lock file of main, and main's set-up with it: then two
    set-ups are enough, and that is right.
    """
    agent = (
        "echo two >> deps.lock; echo two >> wanted\n"
        'if test "$INTERLOCK_TASK_ID" = trap; then echo "echo trap >> deps/two" >> install.sh; fi'
    )
    tasks = (
        "  trap: {goal: x, done_when: 'false', retries: 0, priority: 0}\n"
        "  fair: {goal: x, done_when: '! grep -q trap deps/two'}\n"
    )
    project(scratch, tasks, agent)
    scratch.interlock("run", "--max-parallel", "1", code=1)
    assert scratch.states() == {"trap": "failed", "fair": "done"}
    assert [row["fact"]["task"] for row in scratch.facts("PhaseFailed", "Landed")] == ["trap", "fair"]
    assert built(scratch) == [True, True, True]  # of main, of the trap and of the fair change


def test_a_change_whose_lock_file_cannot_be_installed_does_not_land(scratch: Scratch) -> None:
    project(scratch, "  t: {goal: t, retries: 1}\n", "echo no/such/folder >> deps.lock")
    scratch.interlock("run", code=1)
    assert scratch.states() == {"t": "failed"}
    assert scratch.git("show", "main:deps.lock") == "one"
    assert built(scratch) == [True, False]
    failed = scratch.facts("PhaseFailed")[0]["fact"]
    assert "the set-up `sh install.sh` exited" in failed["feedback"]
    assert "no/such/folder" in failed["feedback"]


def test_a_checkout_that_is_set_up_needs_no_set_up(scratch: Scratch) -> None:
    project(scratch, "  t: {goal: t}\n", "cp deps/one t.txt", run="exit 9")
    (scratch.root / "deps").mkdir()
    (scratch.root / "deps/one").write_text("installed by the person\n")
    scratch.interlock("run")
    assert scratch.git("show", "main:t.txt") == "installed by the person"
    assert built(scratch) == []


def test_a_set_up_that_fails_starts_nothing_and_says_what_to_do(scratch: Scratch) -> None:
    project(scratch, "  t: {goal: t}\n", "true", run="echo cannot find gizmo; exit 4")
    said = scratch.interlock("run", code=7)
    assert "exited 4" in said
    assert "cannot find gizmo" in said
    assert "setup_hosts" in said
    assert scratch.facts("PhaseStarted") == []
    assert built(scratch) == [False]


def test_no_attempt_can_change_what_others_are_set_up_with(scratch: Scratch) -> None:
    agent = 'cat deps/one > "$INTERLOCK_TASK_ID.txt"; echo changed > deps/one; rm -rf deps/*'
    project(scratch, "  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", agent)
    scratch.interlock("run")
    assert scratch.git("show", "main:b.txt") == "I am one"
    assert built(scratch) == [True]


@pytest.fixture
def index() -> Iterator[int]:
    """A place that packages come from: its port on this machine."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"from the index\n")

        def log_message(self, *_words: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield server.server_port
    server.shutdown()
    serving.join()
    server.server_close()


FETCH = """\
import http.client, os, urllib.parse
proxy = urllib.parse.urlsplit(os.environ.get("HTTP_PROXY", "http://127.0.0.1:9"))
wire = http.client.HTTPConnection(proxy.hostname, proxy.port)
wire.request("GET", "http://127.0.0.1:%d/one")
os.makedirs("deps", exist_ok=True)
open("deps/one", "wb").write(wire.getresponse().read())
"""


class Allowing(Scratch):
    """A person who lets set-ups reach a host."""

    hosts = ""

    @property
    def env(self) -> dict[str, str]:
        return super().env | ({"INTERLOCK_SETUP_HOSTS": self.hosts} if self.hosts else {})


@pytest.mark.parametrize("allowed", [True, False])
def test_only_the_user_opens_the_network_to_a_set_up(tmp_path: Path, index: int, allowed: bool) -> None:
    scratch = Allowing(tmp_path / "repository")
    scratch.hosts = f"127.0.0.1:{index}" if allowed else ""
    scratch.write(fetch__py=FETCH % index)
    project(scratch, "  t: {goal: t}\n", "cp deps/one t.txt", run="python3 fetch.py")
    scratch.interlock("run", code=0 if allowed else 7)
    assert scratch.states() == ({"t": "done"} if allowed else {"t": "waiting"})
    if allowed:
        assert scratch.git("show", "main:t.txt") == "from the index"


def test_no_file_of_the_repository_opens_the_network(scratch: Scratch) -> None:
    scratch.write(interlock__toml='setup_hosts = ["example.org"]\n')
    scratch.graph("  t: {goal: t}\n")
    assert "a repository may not set" in scratch.interlock("run", code=2)
