"""What of a program's installation it must be able to read (D11)."""

from pathlib import Path

import pytest

from interlock.run.program import folders_of


def put(path: Path, text: str = "", link: Path | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if link:
        path.symlink_to(link)
    else:
        path.write_text(text)
        path.chmod(0o755)
    return path


def test_a_package_of_node_comes_with_all_packages_beside_it_and_its_node(tmp_path: Path) -> None:
    node = put(tmp_path / "node" / "bin" / "node")
    (tmp_path / "node" / "lib").mkdir()
    script = put(tmp_path / "p/lib/node_modules/@x/tool/bin/tool.js", "#!/usr/bin/env node\n")
    put(tmp_path / "p" / "bin" / "tool", link=script)
    found = folders_of("tool", f"{tmp_path}/p/bin:{node.parent}", tmp_path / "w")
    assert f"{tmp_path}/p/bin" in found
    assert f"{tmp_path}/p/lib/node_modules" in found
    assert f"{tmp_path}/node/bin" in found
    assert f"{tmp_path}/node/lib" in found


def test_a_virtual_environment_comes_with_the_python_it_was_made_of(tmp_path: Path) -> None:
    base = put(tmp_path / "python" / "bin" / "python3.12")
    (tmp_path / "python" / "lib").mkdir()
    put(tmp_path / "venv" / "pyvenv.cfg")
    put(tmp_path / "venv" / "bin" / "python3", link=base)
    put(tmp_path / "venv" / "bin" / "tool", f"#!{tmp_path}/venv/bin/python3\n")
    found = folders_of("tool", f"{tmp_path}/venv/bin", tmp_path / "w")
    assert {f"{tmp_path}/venv", f"{tmp_path}/python/bin", f"{tmp_path}/python/lib"} <= set(found)
    assert str(tmp_path) not in found


def test_programs_of_the_system_and_of_the_workspace_need_nothing(tmp_path: Path) -> None:
    put(tmp_path / "agent.sh", "#!/bin/sh\n")
    assert folders_of("sh", "/usr/bin:/bin", tmp_path) == ()
    assert folders_of("./agent.sh", "/usr/bin", tmp_path) == ()
    assert folders_of("no-such-program", "/usr/bin", tmp_path) == ()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home with a key in it."""
    (tmp_path / "home/.ssh").mkdir(parents=True)
    (tmp_path / "home/.ssh/key").write_text("private")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_program_right_in_a_home_comes_alone(home: Path, tmp_path: Path) -> None:
    """D11: else every agent could read the keys beside it."""
    agent = put(home / "agent.sh", "#!/bin/sh\n")
    assert folders_of(str(agent), "", tmp_path / "w") == (str(agent),)
    (other := tmp_path / "other/.ssh").mkdir(parents=True)
    agent = put(other.parent / "agent.sh", "#!/bin/sh\n")
    assert folders_of(str(agent), "", tmp_path / "w") == (str(agent),)


def test_a_program_in_the_folder_around_all_workspaces_comes_alone(tmp_path: Path) -> None:
    """D11: the log, the other agents' homes and the ways to the outside are there."""
    agent = put(tmp_path / "repository/agent.sh", "#!/bin/sh\n")
    assert folders_of(str(agent), "", tmp_path / "repository/.git/interlock/w") == (str(agent),)


def test_no_script_of_a_repository_names_a_key_as_its_interpreter(home: Path, tmp_path: Path) -> None:
    """D11: a landed script would show the next agent any folder."""
    put(tmp_path / "w/agent.sh", f"#!/usr/bin/env -S -u {home}/.ssh/key sh\n")
    assert folders_of("./agent.sh", "/usr/bin", tmp_path / "w") == ()
    (tmp_path / "w/key").symlink_to(home / ".ssh/key")
    assert folders_of("./key", "/usr/bin", tmp_path / "w") == ()


def test_no_program_of_the_workspace_shows_a_folder_that_it_names(tmp_path: Path) -> None:
    """D11: an agent writes its first line, or makes it a link, and the next attempt would see the folder."""
    tool = put(tmp_path / "secret/bin/tool")
    put(tmp_path / "w/script", f"#!{tool}\n")
    put(tmp_path / "w/link", link=tool)
    put(tmp_path / "w/twice", link=tmp_path / "w/link")
    for program in ("./script", "./link", "./twice", f"{tmp_path}/w/x/../script"):
        assert folders_of(program, "/usr/bin", tmp_path / "w") == ()
        assert folders_of(program, f"{tmp_path}/w:/usr/bin", tmp_path / "w") == ()


def test_a_script_of_the_workspace_finds_its_interpreter_on_path(tmp_path: Path) -> None:
    tool = put(tmp_path / "tools/bin/tool")
    put(tmp_path / "w/named", f"#!{tool}\n")
    put(tmp_path / "w/searched", "#!/usr/bin/env tool\n")
    for program in ("./named", "./searched"):
        assert str(tool.parent) in folders_of(program, f"/usr/bin:{tool.parent}", tmp_path / "w")
