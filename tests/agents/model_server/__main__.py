"""`python -m tests.agents.model_server [--host H] [--port P]`: the first line printed is the URL."""

import argparse
import signal
import sys

from tests.agents.model_server.running import running_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    chosen = parser.parse_args()
    # Blocked here, so that the server's thread never takes it from the wait below.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    with running_model(chosen.host, chosen.port) as model:
        sys.stdout.write(f"{model.url()}\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
