"""Which of a person's tools are in the sandbox: those on the PATH, and never their keys (D11)."""

import base64
import hashlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from interlock.model.errors import UsageError
from interlock.sandbox.toolchains import PRIVATE, Toolchains, find_toolchains
from tests.run.tree import linux
from tests.sandbox.room import furnished


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def program(path: Path, text: str = "#!/bin/sh\necho here\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def found(home: Path, *entries: Path, wanted: tuple[str, ...] = ("auto",), **more: str) -> Toolchains:
    path = ":".join(["/usr/bin", *map(str, entries)])
    return find_toolchains(wanted, {"HOME": str(home), "PATH": path, **more}, root=str(home / "project"))


def test_the_systems_own_folders_need_no_naming(home: Path) -> None:
    assert found(home) == Toolchains()


@pytest.mark.parametrize(
    ("entry", "folder", "variable"),
    [
        (".pyenv/shims", ".pyenv", "PYENV_ROOT"),
        (".nvm/versions/node/v22/bin", ".nvm", "NVM_DIR"),
        (".volta/bin", ".volta", "VOLTA_HOME"),
        (".local/share/mise/shims", ".local/share/mise", "MISE_DATA_DIR"),
        (".bun/bin", ".bun", "BUN_INSTALL"),
        (".rbenv/shims", ".rbenv", "RBENV_ROOT"),
        (".local/bin", ".local/bin", ""),
        ("go/bin", "go/bin", ""),
        ("miniconda3/bin", "miniconda3", ""),
    ],
)
def test_a_known_installation_on_the_path_comes_whole_and_is_told_where_it_is(
    home: Path, entry: str, folder: str, variable: str
) -> None:
    program(home / entry / "tool")
    got = found(home, home / entry)
    assert got.folders == (str(home / folder),)
    assert got.env == ({variable: str(home / folder)} if variable else {})


def test_cargos_programs_come_with_rustup_and_without_its_credentials(home: Path) -> None:
    program(home / ".cargo/bin/cargo")
    program(home / ".rustup/toolchains/stable/bin/rustc")
    (home / ".cargo/credentials.toml").write_text("token")
    got = found(home, home / ".cargo/bin")
    assert got.folders == (str(home / ".cargo/bin"), str(home / ".rustup"))


def test_a_virtual_environment_comes_with_the_python_it_was_made_with(home: Path) -> None:
    program(home / "pythons/3.12/bin/python3")
    (home / "pythons/3.12/lib").mkdir()
    (home / "project/.venv/bin").mkdir(parents=True)
    (home / "project/.venv/lib").mkdir()
    (home / "project/.venv/pyvenv.cfg").write_text(f"home = {home}/pythons/3.12/bin\nversion = 3.12\n")
    got = found(home, home / "project/.venv/bin", VIRTUAL_ENV=str(home / "project/.venv"))
    assert got.folders == (str(home / "project/.venv"), str(home / "pythons/3.12"))
    assert got.env == {"VIRTUAL_ENV": str(home / "project/.venv")}
    named = found(home, wanted=(".venv",))
    assert named.folders == got.folders


def python_installation(folder: Path) -> Path:
    (folder / "lib/python3.12").mkdir(parents=True)
    return program(folder / "bin/python3")


@pytest.mark.parametrize("place", [".venv", "venv", ".tox/py312"])
def test_the_checkouts_environment_lets_in_its_python_although_neither_is_on_the_path(
    home: Path, place: str
) -> None:
    python_installation(home / ".local/share/uv/python/cpython-3.12")
    real = python_installation(home / "pythons/3.12")
    environment = home / "project" / place
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {home}/.local/share/uv/python/cpython-3.12/bin\n")
    (environment / "bin/python").symlink_to(real)
    assert found(home).folders == (f"{home}/.local/share/uv/python", f"{home}/pythons/3.12")


def test_a_pyvenv_cfg_lets_in_nothing_but_a_python(home: Path) -> None:
    """It may say anything."""
    (home / "papers/python3").mkdir(parents=True)
    program(home / "work/bin/python3")
    (home / "work/lib").mkdir()
    for name, folder in {"a": home / "papers", "b": home / "work/bin", "c": "/etc"}.items():
        (home / "project" / name).mkdir(parents=True)
        (home / "project" / name / "pyvenv.cfg").write_text(f"home = {folder}\n")
    assert found(home) == Toolchains()


def test_what_git_tracks_leads_to_no_folder_of_the_host(home: Path) -> None:
    project = home / "project"
    real = python_installation(home / "pythons/3.12")
    names = [".venv", "link", "config", "linked/bin", "inner", "bin"]
    for name in names:
        (project / name).mkdir(parents=True)
    (project / "inner/.git").mkdir()
    (project / ".venv/bin").symlink_to(project / "linked/bin")
    (project / "linked/bin/python").symlink_to(project / "link/python")
    (project / "link/python").symlink_to(real)
    (project / "bin/tool").symlink_to(real)
    for name in (".venv", "config", "inner", "bin"):
        (project / name / "pyvenv.cfg").write_text(f"home = {real.parent}\n")
    tracked = {"link/python", "config/pyvenv.cfg", "bin/tool", "bin/pyvenv.cfg"}
    environ = {"HOME": str(home), "PATH": f"{project}/bin", "VIRTUAL_ENV": f"{project}/config"}

    def search(wanted: str, tracked: set[str]) -> Toolchains:
        return find_toolchains([wanted], environ, str(project), (), tracked.intersection)

    got = search("auto", tracked)
    assert got.folders == (f"{project}/bin", f"{project}/config")
    assert sorted(got.left_out) == [f"{project}/{name}" for name in (".venv", "bin", "config", "inner")]
    assert str(real.parent.parent) in search("auto", set()).folders
    assert search("config", tracked).folders == (f"{project}/config",)
    (project / "tools").symlink_to(home / "pythons")
    assert search("tools", set()).folders == (f"{project}/tools",)
    with pytest.raises(UsageError, match="link that git tracks"):
        search("tools", {"tools"})


@pytest.mark.parametrize(
    ("file", "text", "folder", "variable"),
    [
        ("go.mod", "module m", "go/pkg/mod", "GOMODCACHE=go/pkg/mod"),
        ("Cargo.toml", "[package]", ".cargo/registry", "CARGO_HOME=.cargo"),
        ("package.json", '{"packageManager": "pnpm@9.1.0"}', ".cache/node/corepack", "COREPACK_HOME"),
        ("yarn.lock", "", ".yarn/berry/cache", ""),
    ],
)
def test_a_file_of_the_project_lets_in_the_cache_that_its_tool_needs_offline(
    home: Path, file: str, text: str, folder: str, variable: str
) -> None:
    (home / "project").mkdir()
    (home / folder).mkdir(parents=True)
    (home / ".cargo").mkdir(exist_ok=True)
    (home / ".cargo/credentials.toml").write_text("token")
    assert found(home) == Toolchains()
    (home / "project" / file).write_text(text)
    got = found(home)
    name, _, value = variable.partition("=")
    assert got.folders == (f"{home}/{folder}",)
    assert got.env == ({name: f"{home}/{value or folder}"} if name else {})
    assert found(home, wanted=()) == Toolchains()


def test_poetrys_environment_of_this_project_is_there_and_no_other(home: Path) -> None:
    python_installation(home / "pythons/3.12")
    project = home / "project"
    project.mkdir()
    (project / "poetry.lock").write_text("")
    digest = hashlib.sha256(str(project.resolve()).encode()).digest()
    kept = home / ".cache/pypoetry/virtualenvs"
    mine = kept / f"shop-{base64.urlsafe_b64encode(digest).decode()[:8]}-py3.12"
    for environment in (mine, kept / "other-AAAAAAAA-py3.12"):
        environment.mkdir(parents=True)
        (environment / "pyvenv.cfg").write_text(f"home = {home}/pythons/3.12/bin\n")
    got = found(home)
    assert got.folders == (str(mine), f"{home}/pythons/3.12")
    assert got.env == {"POETRY_VIRTUALENVS_PATH": str(kept)}


def test_a_linked_program_of_a_node_package_brings_its_package(home: Path) -> None:
    program(home / ".local/lib/node_modules/pnpm/bin/pnpm.cjs")
    program(home / ".local/lib/node_modules/@scope/tool/bin/tool.js")
    (home / ".local/bin").mkdir()
    (home / ".local/bin/pnpm").symlink_to(home / ".local/lib/node_modules/pnpm/bin/pnpm.cjs")
    (home / ".local/bin/tool").symlink_to(home / ".local/lib/node_modules/@scope/tool/bin/tool.js")
    modules = f"{home}/.local/lib/node_modules"
    assert found(home, home / ".local/bin").folders == (
        f"{home}/.local/bin",
        f"{modules}/@scope/tool",
        f"{modules}/pnpm",
    )


def test_a_link_in_a_folder_of_programs_lets_in_what_it_leads_to(home: Path) -> None:
    program(home / ".local/share/claude/versions/2.1")
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/claude").symlink_to(home / ".local/share/claude/versions/2.1")
    got = found(home, home / ".local/bin")
    assert got.folders == (str(home / ".local/bin"), str(home / ".local/share/claude/versions"))


def test_links_that_lead_in_a_circle_lead_nowhere(home: Path) -> None:
    folder = program(home / "tools/bin/tool").parent
    (folder / "python").symlink_to("python3")
    (folder / "python3").symlink_to("python")
    assert found(home, folder).folders == (str(folder),)


def test_an_unknown_folder_brings_its_surroundings_only_if_they_are_an_installation(home: Path) -> None:
    program(home / "tools/node/bin/node")
    (home / "tools/node/lib").mkdir()
    program(home / "scripts/bin/mine")
    program(home / "work/bin/run")
    (home / "work/lib").mkdir()
    (home / "work/.git").mkdir()
    got = found(home, home / "tools/node/bin", home / "scripts/bin", home / "work/bin")
    assert set(got.folders) == {f"{home}/tools/node", f"{home}/scripts/bin", f"{home}/work/bin"}


def test_files_that_may_hold_a_token_are_blank(home: Path) -> None:
    program(home / "tools/node/bin/node")
    (home / "tools/node/lib").mkdir()
    (home / "tools/node/etc").mkdir()
    (home / "tools/node/etc/npmrc").write_text("_authToken=secret")
    assert found(home, home / "tools/node/bin").masked == (f"{home}/tools/node/etc/npmrc",)


@pytest.mark.parametrize("entry", ["", "bin/..", "project", ".ssh", ".config/tool/bin", ".claude/local"])
def test_the_path_lets_in_neither_home_nor_the_project_nor_anything_private(home: Path, entry: str) -> None:
    program(home / "bin/mine")
    (home / "project").mkdir()
    (home / entry).mkdir(parents=True, exist_ok=True)
    assert found(home, home / entry).folders == ()


@pytest.mark.parametrize(
    "name", ["~", "/", "~/..", "~/project", *(f"~/{name}" for name in PRIVATE), "~/.ssh/keys"]
)
def test_settings_cannot_name_what_is_private(home: Path, name: str) -> None:
    """A repository's own file must not be able to show an agent the person's keys."""
    with pytest.raises(UsageError, match="private folder that agents must not read"):
        found(home, wanted=(name,))


def test_a_link_does_not_make_a_private_folder_any_less_private(home: Path) -> None:
    (home / ".ssh").mkdir()
    (home / "project").mkdir()
    (home / "project/keys").symlink_to(home / ".ssh")
    with pytest.raises(UsageError, match="private folder"):
        found(home, wanted=("keys",))


@linux
@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_the_python_on_the_path_runs_in_the_sandbox(tmp_path: Path, kind: str) -> None:
    """Of a pyenv, a virtual environment or the system: whatever it is here."""
    room = furnished(tmp_path, kind)
    python = shutil.which("python3")
    ended = room.sh("command -v python3; python3 -c 'import ssl, sqlite3, ctypes, json; print(6 * 7)'")
    assert ended.tail.splitlines() == [python, "42"]


@linux
@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_a_tool_is_there_its_token_is_not_and_neither_can_be_changed(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = tmp_path / "elsewhere" / "tool"
    program(prefix / "bin/tool")
    (prefix / "lib").mkdir()
    (prefix / "etc").mkdir()
    (prefix / "etc/npmrc").write_text("a token\n")
    monkeypatch.setenv("PATH", f"{prefix}/bin:{os.environ['PATH']}")
    room = furnished(tmp_path, kind)
    ended = room.sh(f"tool; cat {prefix}/etc/npmrc; echo no > {prefix}/bin/tool; echo no > {prefix}/new")
    assert ended.tail.splitlines()[0] == "here"
    assert "a token" not in ended.tail
    assert (prefix / "bin/tool").read_text() == "#!/bin/sh\necho here\n"
    assert not (prefix / "new").exists()


def test_the_python_that_runs_interlock_is_nothing_special(home: Path) -> None:
    assert sys.base_prefix not in found(home).folders
