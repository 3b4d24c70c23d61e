"""Run by an agent program inside its sandbox: passes a hook's JSON out to Interlock, and the answer back in.

Only the standard library: it is started by whatever Python Interlock itself runs on, alone. Exit 0: go on;
2: no, with the reason on standard error; 1: Interlock did not answer, which does not stop the agent.
"""

import json
import socket
import sys

MOST_BYTES = 4 << 20
"""The most that Interlock takes. A longer call would go unanswered: a way past the commands."""


def main(port: int) -> int:
    """Ask, and say the answer in the way that agent programs take it."""
    told = sys.stdin.buffer.read().replace(b"\n", b" ")
    if len(told) >= MOST_BYTES:
        sys.stderr.write("this call cannot be read by the hooks: it is too long\n")
        return 2
    try:
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(told + b"\n")
            answer = json.loads(line.makefile("rb").readline())
    except (OSError, ValueError) as error:
        sys.stderr.write(f"interlock could not be asked: {error}\n")
        return 1
    if answer.get("blocks"):
        sys.stderr.write(answer.get("reason", "") + "\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
