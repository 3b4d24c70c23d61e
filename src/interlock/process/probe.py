"""Tries of a sandbox on this machine: a program is put into it, as agents are, and tries what it can do.

A version number would prove nothing.
"""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from interlock.model.errors import UserError
from interlock.model.process import Command
from interlock.model.sandbox import ForwardedPort, Grant, Overlay, Sandbox
from interlock.process.containment import SUPERVISOR, Containment, prefix
from interlock.sandbox.confinement import Confinement, clear_up, close_all
from interlock.sandbox.refusals import said

CONFINED = "confined"
PORT = 8377
SECONDS = 20.0
OVERLAY_AT = "/interlock-probe"

OVERLAY_SCRIPT = """\
test -f below || { echo 'overlay: its lower layer is not shown'; exit 1; }
rm below && echo mine > new || { echo 'overlay: it cannot be changed'; exit 1; }
rm -r folder && mkdir folder && ! test -e folder/below || {
  echo 'overlay: a folder cannot be replaced (has the file system user.* attributes?)'; exit 1; }
echo confined
"""

SCRIPT = """\
echo mine > "$MINE/new" || { echo 'bwrap: its own folder cannot be written'; exit 1; }
if (echo no > "$MINE/kept") 2>/dev/null && test "$STRICT"; then
  echo 'bwrap: what is protected can be written'; exit 1; fi
if (read -r _ < "$OTHER") 2>/dev/null; then echo 'bwrap: other files can be read'; exit 1; fi
case $(cat /proc/self/status) in *Seccomp:?2*) ;; *) echo 'bwrap: SECCOMP filters do not hold'; exit 1;; esac
echo confined
"""
"""Tells apart what must be possible from what must not, with a shell's own means."""


FOLDERS = "interlock-probe-"
"""Beginning of the name of a folder of a probe. `interlock gc` removes those that a kill has left."""


@dataclass(frozen=True, slots=True)
class Probed:
    """The result of a probe."""

    works: bool
    message: str = ""
    """The reason that it does not work, as it was said."""


def probe(confinement: Confinement, containment: Containment, *, strict: bool = True) -> Probed:
    """Run a program in it with the arguments that agents get. `strict`: protected files must hold."""
    with tempfile.TemporaryDirectory(prefix=FOLDERS) as name:
        folder = Path(name)
        (mine := folder / "mine").mkdir()
        (mine / "kept").write_text("kept")
        (folder / "other").write_text("other")
        (folder / "socket").touch()
        env = {"MINE": str(mine), "OTHER": str(folder / "other"), "STRICT": "yes" if strict else ""}
        command = Command(("sh", "-c", SCRIPT), str(mine), "", env)
        port = PORT if confinement.alone else 0  # any that is free
        grant = Grant(
            write=(str(mine),),
            protect=(str(mine / "kept"),),
            forwarded_ports=(ForwardedPort(port, str(folder / "socket")),),
        )
        try:
            return _run(confinement, containment, command, grant)
        except (OSError, UserError, subprocess.TimeoutExpired) as problem:
            return Probed(False, str(problem))


def probe_overlay(confinement: Confinement, containment: Containment, state: Path) -> Probed:
    """Mount an overlay for a program, with its layers in the folder that layers will be in."""
    if confinement.kind is not Sandbox.BUBBLEWRAP:
        return Probed(False, f"the sandbox ({confinement.kind.value}) cannot mount")
    if getattr(confinement, "by_itself", False) or not containment.is_namespace:
        return Probed(False, "this system lets only bubblewrap make namespaces")
    there = state if state.is_dir() else state.parent  # `doctor` makes no state folder
    with tempfile.TemporaryDirectory(prefix=FOLDERS, dir=there) as name:
        folders = [Path(name, each) for each in ("lower", "upper", "work", "merged")]
        for folder in folders:
            folder.mkdir()
        (folders[0] / "below").touch()
        (folders[0] / "folder").mkdir()
        (folders[0] / "folder" / "below").touch()
        lower, upper, work, merged = map(str, folders)
        grant = Grant(overlays=(Overlay((lower,), upper, work, merged, OVERLAY_AT),))
        command = Command(("sh", "-c", OVERLAY_SCRIPT), OVERLAY_AT, "")
        try:
            return _run(confinement, containment, command, grant)
        except (OSError, UserError, subprocess.TimeoutExpired) as problem:
            return Probed(False, str(problem))


def _run(confinement: Confinement, containment: Containment, command: Command, grant: Grant) -> Probed:
    confined = confinement.confine(command, grant, {})
    start = (*prefix(containment, alone=confined.alone), *SUPERVISOR, containment.value)
    control, held = os.pipe()  # held open until the program has ended: its end would be the program's
    try:
        done = subprocess.run(
            (*start, "10", "0", "0", *confined.words, "--", *confined.argv),
            stdin=control,
            capture_output=True,
            env=dict(confined.env),
            cwd=confined.directory,
            pass_fds=confined.descriptors,
            timeout=SECONDS,
            check=False,
        )
    finally:
        os.close(control)
        os.close(held)
        close_all(confined)
        clear_up(confined)
    text = done.stdout.decode(errors="replace")
    if text.endswith(f"{CONFINED}\n"):
        return Probed(True)
    return Probed(False, said(text or done.stderr.decode(errors="replace")))
