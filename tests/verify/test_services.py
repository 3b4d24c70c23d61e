"""Services beside a check: which ones, and what the check then is."""

import subprocess
import sys

import pytest

from interlock.model.suite import Unable
from interlock.verify.services import with_services
from interlock.verify.unable import unable

SERVICES = {"redis": "serve $PORT_REDIS", "mail-box": "mail"}


def test_a_check_without_the_port_of_a_service_runs_alone() -> None:
    assert with_services("make test", SERVICES, {"PORT_WEB": "1"}) == ("/bin/sh", "-c", "make test")


def test_a_check_gets_the_services_whose_ports_it_has() -> None:
    words = with_services("make test", SERVICES, {"PORT_MAIL_BOX": "3001"})
    assert words[-5:] == ("sh", "make test", "mail-box", "3001", "mail")


@pytest.mark.slow
def test_the_check_runs_when_the_port_answers_and_keeps_its_exit_code() -> None:
    listen = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", f"{listen}; input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        port = holder.stdout.readline().strip()
        words = with_services("echo checked; exit 7", {"web": "sleep 60"}, {"PORT_WEB": port})
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        holder.communicate("\n")
    assert (done.returncode, done.stdout) == (7, "checked\n")


@pytest.mark.slow
def test_a_service_that_ends_before_its_port_answers_is_why_the_check_cannot_run() -> None:
    words = with_services("echo checked", {"web": "echo full; exit 9"}, {"PORT_WEB": "1"})
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert "checked" not in done.stdout
    assert done.stdout.splitlines()[0] == "interlock: the service web did not start: it exited 9"
    assert done.stdout.splitlines()[-1] == "full"
    assert unable(done.returncode, False, done.stdout, None) == (Unable.SERVICE, "web")
