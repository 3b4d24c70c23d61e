"""Starts the services that a check needs in its sandbox, waits until their ports answer, and then runs it.

A shell does this, as the sandbox has one for certain. Whatever the check and its services leave running ends
with the sandbox.
"""

from collections.abc import Mapping

START_SECONDS = 60
NOT_STARTED = 125
"""The exit status of `docker run` and `env` for a failure of their own."""
PORT = "PORT_"

_BESIDE = r"""
check=$1; shift
dir=$(mktemp -d) || exit 125
pids=
last_output() { echo "interlock: the end of its output:"; tail -n 30 "$dir/$1"; }
leave() { kill $pids 2>/dev/null; rm -rf "$dir"; exit "$1"; }
while [ $# -gt 0 ]; do
    name=$1 port=$2
    /bin/sh -c "$3" >"$dir/$name" 2>&1 </dev/null &
    pid=$! left=%(tries)d
    shift 3
    pids="$pids $pid"
    echo "$pid $name" >>"$dir/.started"
    until grep -qsi "$(printf ':%%04X [0-9A-F]*:0000 0A' "$port")" /proc/net/tcp /proc/net/tcp6; do
        if ! kill -0 "$pid" 2>/dev/null; then
            wait "$pid"
            echo "interlock: the service $name did not start: it exited $?"
            last_output "$name"
            leave %(failed)d
        fi
        left=$((left - 1))
        if [ "$left" -le 0 ]; then
            echo "interlock: the service $name did not start: port $port does not answer after %(seconds)d s"
            last_output "$name"
            leave %(failed)d
        fi
        sleep 0.1
    done
done
/bin/sh -c "$check"
code=$?
while read -r pid name; do
    if [ "$code" -ne 0 ] && ! kill -0 "$pid" 2>/dev/null; then
        echo "interlock: the service $name ended during the check"
        last_output "$name"
    fi
done <"$dir/.started"
leave "$code"
"""


def with_services(command: str, services: Mapping[str, str], env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that run a check with those services beside it whose port is in its environment."""
    words = []
    for name, service in services.items():
        if port := env.get(PORT + name.replace("-", "_").upper()):
            words += [name, port, service]
    if not words:
        return "/bin/sh", "-c", command
    script = _BESIDE % {"tries": START_SECONDS * 10, "seconds": START_SECONDS, "failed": NOT_STARTED}
    return "/bin/sh", "-c", script, "sh", command, *words
