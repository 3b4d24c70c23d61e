"""A container as the sandbox, if the project's settings say so: the image brings its own programs.

1. Everything the program may reach is mounted at its own path; the rest of the container is read-only. There
   is no network: a small process inside forwards the ports, for which the image needs python3.
2. The container is not a child of the command that starts it. It has a unique name, and is removed by that
      name when the program has ended, or by the cleanup after a crash.
3. The person's toolchains are not there: they were made for another system.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from interlock.model.errors import CannotStart, EnvironmentProblem
from interlock.model.process import Command
from interlock.model.sandbox import Grant, Sandbox
from interlock.sandbox.confinement import SYSTEM_PATH, Confined, in_memory
from interlock.sandbox.environment import NO_HOME, inside
from interlock.sandbox.toolchains import NO_TOOLCHAINS, Toolchains

ENGINES = ("podman", "docker")
NAME = "interlock-{}"
OUTSIDE = str(Path(__file__).with_name("outside"))
TEMP = "/tmp"  # noqa: S108 - of the container
TEMPORARY = "rw,exec,size=1g,mode=1777"


@dataclass(frozen=True, slots=True)
class Container:
    """Programs in an image of the person's choice."""

    program: str
    image: str
    kind = Sandbox.CONTAINER
    alone = True
    missing = ""

    @property
    def toolchains(self) -> Toolchains:
        return NO_TOOLCHAINS

    @property
    def engine(self) -> str:
        return Path(self.program).name

    def confine(self, command: Command, grant: Grant, mark: Mapping[str, str]) -> Confined:
        if not Path(command.directory).is_dir():
            raise CannotStart(f"working directory not found: {command.directory}")
        env = {**inside(command.env, grant, NO_TOOLCHAINS, grant.home or NO_HOME, TEMP), **mark}
        # One variable a line is all that engines read; a value of several lines cannot be told.
        lines = "".join(f"{name}={value}\n" for name, value in env.items() if "\n" not in value)
        listed = in_memory("environment", os.fsencode(lines))
        name = container_name("".join(mark.values()))
        words = (*self._words(command, grant), "--name", name, "--env-file", f"/proc/self/fd/{listed}")
        return Confined(
            (self.program, "run", *words, "--", self.image, *_inside_words(command, grant)),
            {**_of_the_engine(), "PATH": SYSTEM_PATH, **mark},
            "/",
            descriptors=(listed,),
            container=(self.program, name),
        )

    def _words(self, command: Command, grant: Grant) -> Iterator[str]:
        yield from ("--rm", "--init", "--interactive", "--pull=never", "--network=none", "--read-only")
        yield from ("--cap-drop=ALL", "--security-opt=no-new-privileges", "--hostname=agent")
        if self.engine == "podman":
            yield from ("--userns=keep-id", f"--timeout={int(command.timeout_seconds) or 0}")
        else:
            yield from ("--user", f"{os.getuid()}:{os.getgid()}")
        if grant.limits.memory_bytes:
            yield f"--memory={grant.limits.memory_bytes}"
        if grant.limits.processes:
            yield f"--pids-limit={grant.limits.processes}"
        yield from ("--tmpfs", f"{TEMP}:{TEMPORARY}")
        if not grant.home:
            yield from ("--tmpfs", f"{NO_HOME}:{TEMPORARY}")
        sockets = (forwarded.socket for forwarded in grant.forwarded_ports)
        for path in sorted({*grant.read, *sockets, *((OUTSIDE,) if grant.forwarded_ports else ())}):
            yield from _mounted(path, ",readonly")
        for path in sorted({*grant.write, *((grant.home,) if grant.home else ())}):
            yield from _mounted(path, "")
        for path in sorted(path for path in grant.protect if os.path.lexists(path)):
            yield from _mounted(path, ",readonly")
        yield from ("--workdir", command.directory)


_ENGINE_NEEDS = (
    "HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "DOCKER_HOST",
    "CONTAINER_HOST",
)


def _of_the_engine() -> dict[str, str]:
    """Return the variables that say where the engine keeps images, and where it is asked."""
    return {name: os.environ[name] for name in _ENGINE_NEEDS if name in os.environ}


def _mounted(path: str, how: str) -> Iterator[str]:
    if "," in path:
        raise EnvironmentProblem(f"a container engine cannot mount {path}: there is a comma in it")
    yield from ("--mount", f"type=bind,source={path},target={path}{how}")


def _inside_words(command: Command, grant: Grant) -> tuple[str, ...]:
    if not grant.forwarded_ports:
        return command.argv
    forwarded_ports = (f"{forwarded.port}={forwarded.socket}" for forwarded in grant.forwarded_ports)
    return (
        "python3",
        "-I",
        "-S",
        "-E",
        f"{OUTSIDE}/port_forwarder.py",
        *forwarded_ports,
        "--",
        *command.argv,
    )


def container_name(mark: str) -> str:
    return NAME.format(mark or f"probe-{os.getpid()}")


def known_engine(program: str) -> str:
    """The path of an engine, if that is what it is: notes are not believed blindly. Else nothing."""
    return (shutil.which(Path(program).name) or "") if Path(program).name in ENGINES else ""


def find_container(image: str) -> Container | None:
    """The engine that is installed; None if there is none."""
    search = f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"
    found = next((path for engine in ENGINES if (path := shutil.which(engine, path=search))), None)
    return Container(found, image) if found else None
