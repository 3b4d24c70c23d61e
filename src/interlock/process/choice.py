"""The choice of this machine's sandbox: the strongest that works, or none and a fix for a person."""

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from interlock.model.sandbox import Sandbox
from interlock.process.containment import Containment, strongest
from interlock.process.probe import Probed, probe
from interlock.sandbox.bubblewrap import find_bubblewrap
from interlock.sandbox.checkout import Tracked
from interlock.sandbox.confinement import Confinement, Unconfined
from interlock.sandbox.container import find_container
from interlock.sandbox.landlock import Landlock
from interlock.sandbox.refusals import NoSandbox, fix_for, install_command
from interlock.sandbox.toolchains import AUTO, Toolchains, find_toolchains
from interlock.sandbox.unprivileged import is_root

UNSAFE = "--unsafe-no-sandbox"
UNSAFE_VARIABLE = "INTERLOCK_UNSAFE_NO_SANDBOX"
TRUE = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """The sandbox that a person, or a project's settings, ask for."""

    kind: Literal["auto", "bubblewrap", "landlock", "container"] = "auto"
    toolchains: tuple[str, ...] = (AUTO,)
    image: str = ""
    """Image of the container."""
    root: str = ""
    """The project's own folder: relative names start there, and no toolchain may be around it."""
    hidden: tuple[str, ...] = ()
    """Folders that no toolchain may let in."""
    tracked: Tracked = field(default=lambda _: (), compare=False)


WHATEVER_WORKS = SandboxRequest()


@dataclass(frozen=True, slots=True)
class SandboxTrial:
    """One kind of sandbox, and the result of trying it."""

    kind: Sandbox
    message: str = ""
    """The reason that it does not work; empty: it does."""
    fix: str = ""
    confinement: Confinement | None = None


def choose_confinement(wanted: SandboxRequest = WHATEVER_WORKS, *, unsafe: bool = False) -> Confinement:
    """The sandbox for this machine. `NoSandbox` if there is none, and says what to do.

    Only a person says that none is needed: on the command line, or in the environment. No setting can.
    """
    if unsafe or none_is_wanted():
        return Unconfined()
    tried = try_all(wanted)
    if tried[-1].confinement is None:
        raise refusal(tried)
    return tried[-1].confinement


def none_is_wanted() -> bool:
    """Tell if the environment says that agents shall run without a sandbox."""
    return os.environ.get(UNSAFE_VARIABLE, "").lower() in TRUE


@functools.cache
def try_all(wanted: SandboxRequest) -> tuple[SandboxTrial, ...]:
    """Try what is wanted, strongest first, up to the first that works. Once: it is the same every time."""
    if wanted.kind == Sandbox.CONTAINER.value:
        return (_try_container(wanted.image),)
    toolchains = find_toolchains(wanted.toolchains, os.environ, wanted.root, wanted.hidden, wanted.tracked)
    tried: list[SandboxTrial] = []
    for kind, attempt in _ATTEMPTS.items():
        if wanted.kind in ("auto", kind.value):
            tried.append(attempt(toolchains, strongest()))
            if tried[-1].confinement:
                break
    return tuple(tried)


def refusal(tried: tuple[SandboxTrial, ...]) -> NoSandbox:
    """Return the error that says why no agent is started."""
    lines = ["agents cannot start: no sandbox works on this machine"]
    for each in tried:
        lines.append(f"  {each.kind.value:10} : {each.message}")
        lines += [f"    {line}" for line in each.fix.splitlines()]
    lines.append("Nothing was started.")
    return NoSandbox(
        "\n".join(lines),
        f"`interlock doctor` looks again; {UNSAFE} runs agents that can do whatever you can",
    )


def _try_bubblewrap(toolchains: Toolchains, containment: Containment) -> SandboxTrial:
    found = find_bubblewrap(toolchains)
    if found is None:
        return SandboxTrial(Sandbox.BUBBLEWRAP, "not installed", install_command())
    if containment.is_namespace:
        probed = probe(found, containment)
        if probed.works:
            return SandboxTrial(Sandbox.BUBBLEWRAP, confinement=found)
    by_itself = replace(found, by_itself=True)
    probed = probe(by_itself, containment)
    if probed.works:
        return SandboxTrial(Sandbox.BUBBLEWRAP, confinement=by_itself)
    return SandboxTrial(Sandbox.BUBBLEWRAP, f'found, but failed: "{probed.message}"', fix_for(probed.message))


def _try_landlock(toolchains: Toolchains, containment: Containment) -> SandboxTrial:
    probed = Probed(False, "not tried")
    for candidate in _landlocks(toolchains, containment):
        probed = probe(candidate, containment, strict=False)
        if probed.works:
            return SandboxTrial(Sandbox.LANDLOCK, confinement=candidate)
    fix = fix_for(probed.message) or "a kernel from 6.12 on has what is needed (6.7 with namespaces)"
    return SandboxTrial(Sandbox.LANDLOCK, probed.message, fix)


def _landlocks(toolchains: Toolchains, containment: Containment) -> Iterator[Landlock]:
    if containment.is_namespace:
        yield Landlock(toolchains, alone=True)
    yield Landlock(toolchains)


def _try_container(image: str) -> SandboxTrial:
    if not image:
        return SandboxTrial(
            Sandbox.CONTAINER, "no image is named", 'container_image = "..." in interlock.toml'
        )
    if is_root():
        # An engine mounts folders with their owners: only root could write to them in there.
        message = "root's containers run under root's own number: an unprivileged user could not write there"
        return SandboxTrial(Sandbox.CONTAINER, message, fix_for(message))
    found = find_container(image)
    if found is None:
        return SandboxTrial(
            Sandbox.CONTAINER, "neither podman nor docker is installed", "sudo apt-get install podman"
        )
    probed = probe(found, Containment.SUBREAPER)
    if probed.works:
        return SandboxTrial(Sandbox.CONTAINER, confinement=found)
    fix = f"{found.engine} run --rm {image} true"
    return SandboxTrial(Sandbox.CONTAINER, f'{found.engine} failed: "{probed.message}"', fix)


_ATTEMPTS: dict[Sandbox, Callable[[Toolchains, Containment], SandboxTrial]] = {
    Sandbox.BUBBLEWRAP: _try_bubblewrap,
    Sandbox.LANDLOCK: _try_landlock,
}
