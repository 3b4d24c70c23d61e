"""Overlays: folders that a program finds at another path, and changes without changing them (DESIGN 6)."""

from dataclasses import replace
from pathlib import Path

import pytest

from interlock.model.errors import EnvironmentProblem
from interlock.model.sandbox import Mount, Overlay
from interlock.process.probe import probe_overlay
from tests.run.tree import linux
from tests.sandbox.room import Room, furnished

pytestmark = [linux, pytest.mark.sandbox, pytest.mark.slow]

AT = "/srv/their checkout"


@pytest.fixture
def room(tmp_path: Path) -> Room:
    made = furnished(tmp_path, "bubblewrap")
    if not (probed := probe_overlay(made.confinement, made.processes.containment, tmp_path)).works:
        pytest.skip(f"no overlays here: {probed.message}")
    return made


def overlay(folder: Path, files: dict[str, str], at: str = AT) -> Overlay:
    """One with these files below it. The kernel reads commas and colons in paths in its own way."""
    home = folder / "odd, name: x"
    for name in ("lower", "upper", "work", "merged"):
        (home / name).mkdir(parents=True)
    for name, text in files.items():
        (home / "lower" / name).write_text(text)
    return Overlay((str(home / "lower"),), str(home / "upper"), str(home / "work"), str(home / "merged"), at)


def test_a_program_changes_an_overlay_and_not_what_is_below(room: Room, tmp_path: Path) -> None:
    made = overlay(tmp_path, {"a": "a\n", "b": "b\n"})
    ended = room.sh("pwd; cat a; rm b; echo new > c; ls", overlays=(made,), directory=AT)
    assert ended.tail.split() == [*AT.split(), "a", "a", "c"]
    assert sorted(path.name for path in Path(made.lower[0]).iterdir()) == ["a", "b"]
    assert Path(made.upper, "c").read_text() == "new\n"
    assert list(Path(made.merged).iterdir()) == [], "the mount is the program's alone"


def test_its_files_belong_to_the_user_inside(room: Room, tmp_path: Path) -> None:
    made = overlay(tmp_path, {"a": "a\n"})
    ended = room.sh("stat -c %u . a; id -un; id -u", overlays=(made,), directory=AT)
    assert ended.tail.split() == ["1000", "1000", "agent", "1000"]


def test_one_overlay_may_be_inside_another_and_a_mount_inside_both(room: Room, tmp_path: Path) -> None:
    outer = overlay(tmp_path / "outer", {"a": "a\n"})
    inner = overlay(tmp_path / "inner", {"tool": "tool\n"}, f"{AT}/.venv")
    kept = Mount(str(room.mine / "kept"), f"{AT}/.venv/kept")
    script = "cat .venv/tool .venv/kept; echo mine > .venv/tool; echo no > .venv/kept; cat .venv/tool; ls -A"
    ended = room.sh(script, overlays=(inner, outer), mounts=(kept,), directory=AT)
    assert ended.tail.split()[:2] == ["tool", "kept"]
    assert ended.tail.split()[-3:] == ["mine", ".venv", "a"]
    assert Path(inner.lower[0], "tool").read_text() == "tool\n"
    assert (room.mine / "kept").read_text() == "kept\n"


def test_an_overlay_that_cannot_be_mounted_is_said(room: Room, tmp_path: Path) -> None:
    made = overlay(tmp_path, {})
    gone = replace(made, lower=(str(tmp_path / "gone"),))
    with pytest.raises(EnvironmentProblem, match=r"overlay: .*No such file"):
        room.sh("true", overlays=(gone,), directory=AT)


def test_the_hardware_can_be_looked_up_and_not_set(room: Room) -> None:
    script = "ls -d /sys/class/net /sys/devices/system/cpu; ls /sys/kernel; test -w /sys/class/net || echo no"
    said = room.sh(script).tail
    assert "/sys/class/net" in said
    assert "/sys/devices/system/cpu" in said
    assert "/sys/kernel': No such file" in said
    assert said.split()[-1] == "no"
