"""What of a program's installation it must be able to read (P2)."""

from pathlib import Path

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
