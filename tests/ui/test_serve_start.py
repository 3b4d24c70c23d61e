"""Starting the server: where it may be reached, `interlock ui`, and what other commands load of it."""

import json
import signal
import ssl
import subprocess
import sys
from contextlib import closing
from http.client import BadStatusLine, HTTPSConnection, RemoteDisconnected
from pathlib import Path

import pytest

from interlock.ui.web.keys import load_keys
from interlock.ui.web.scopes import Scope
from tests.ui.conftest import Lab, task
from tests.ui.serving import PATIENCE_SECONDS, serving

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104 - it is refused
def test_an_address_of_other_machines_needs_tls(lab: Lab, host: str) -> None:
    refused = lab.run("serve", "--host", host)
    assert refused.code == 2
    assert "needs TLS" in refused.err
    assert "ssh -L" in refused.err
    half = lab.run("serve", "--host", host, "--tls-cert", str(lab.root / "README.md"))
    assert (half.code, "both --tls-cert and --tls-key" in half.err) == (2, True)


def test_with_a_certificate_it_answers_over_tls_alone(lab: Lab, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    made = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate))
    subprocess.run(["openssl", *made, *subject, "-days", "1"], check=True, capture_output=True)
    files = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with serving(lab.root, *files, "--allow-host", "localhost") as server:
        assert server.url.startswith("https://127.0.0.1:")
        host, _, port = server.place.rpartition(":")
        trusted = ssl.create_default_context(cafile=str(certificate))
        secure = HTTPSConnection(host, int(port), timeout=PATIENCE_SECONDS, context=trusted)
        with closing(secure) as connection:
            connection.request("GET", "/api/inbox", headers={"Authorization": f"Bearer {server.token}"})
            assert json.loads(connection.getresponse().read())["items"] == []
        with pytest.raises((ConnectionError, BadStatusLine, RemoteDisconnected)):
            server.send("GET", "/")


def test_ui_finds_the_server_that_runs_and_hands_out_fewer_rights_where_asked(lab: Lab) -> None:
    keys = load_keys(lab.root / ".git/interlock")
    with serving(lab.root) as server:
        assert lab.run("ui", "--print-url").out == f"{server.url}/#t={server.token}\n"
        told = lab.run("ui", "--print-url", "--scope", "read", "--json").json
        assert (told["address"], told["token"]) == (server.url, keys.token(Scope.READ))
        other = lab.run("ui", "--print-url", "--port", "1")
        assert (other.code, "runs already" in other.err) == (2, True)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE_SECONDS) == 0
    with serving(lab.root) as again:
        assert (again.url, again.token) == (server.url, server.token)


def test_ui_starts_a_server_where_none_runs(lab: Lab) -> None:
    lab.accept(task("a"))
    argv = [sys.executable, "-m", "interlock", "ui", "--no-open", "--json"]
    with subprocess.Popen(argv, cwd=lab.root, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            said = json.loads(process.stdout.readline())
            assert lab.run("ui", "--print-url").out.strip() == said["url"]
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()


def test_an_agent_is_handed_no_address_that_may_decide(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lab.root) as server:
        monkeypatch.setenv("INTERLOCK_TASK_ID", "a")
        assert lab.run("ui", "--print-url", "--scope", "decide").code == 3
        assert lab.run("ui", "--print-url").out.startswith(f"{server.url}/#t=il-act-")


def test_a_port_that_is_taken_is_said(lab: Lab) -> None:
    with serving(lab.root) as server:
        taken = lab.run("serve", "--port", server.place.rpartition(":")[2])
        assert (taken.code, "choose another with --port" in taken.err) == (7, True)


def test_no_other_command_loads_the_framework() -> None:
    lines = (
        "import sys",
        "from interlock.ui.cli.app import COMMANDS, interlock, main",
        "main(['--help'])",
        "assert not any(name.startswith('interlock.ui.web') for name in sys.modules)",
        "[interlock.get_command(None, name) for name in COMMANDS]",
        "found = {name.partition('.')[0] for name in sys.modules}",
        "assert not found & {'aiohttp', 'fastapi', 'litestar'}, found",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_run_can_be_led_beside_the_server(lab: Lab) -> None:
    """`--run` starts `interlock run`, which says what it lacks; the server goes on without it."""
    with serving(lab.root, "--run") as server:
        assert server.process.stderr
        while "task-graph.yaml" not in server.process.stderr.readline():
            pass
        assert server.get("/api/snapshot")["tasks"] == []
