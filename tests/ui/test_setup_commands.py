"""`init`, `config`, `schema`: one file, settings with their origin, and an editor that knows the format."""

import json
import os
import shutil
from pathlib import Path

import pytest

from interlock.model.setup import Setup
from interlock.plan import parse
from tests.ui.conftest import Lab, git


def test_init_writes_one_file_that_git_sees_and_it_is_a_valid_graph(lab: Lab) -> None:
    assert lab.run("init").code == 0
    assert git(lab.root, "status", "--porcelain") == "?? task-graph.yaml"
    text = (lab.root / "task-graph.yaml").read_text()
    assert [one.id for one in parse(text, "task-graph.yaml").tasks] == ["first", "second"]
    assert lab.run("plan").code == 0


def test_line_one_leads_the_editor_to_a_schema_that_is_there(lab: Lab) -> None:
    lab.run("init")
    first = (lab.root / "task-graph.yaml").read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    schema = json.loads((lab.root / first.partition("=")[2]).read_text())
    assert "tasks" in schema["properties"]


def test_init_leaves_nothing_in_the_work_tree_but_the_graph(lab: Lab) -> None:
    lab.run("init")
    lab.run("pause")
    git = lab.root / ".git"
    assert (git / "interlock" / "log.db").exists()
    assert "interlock" not in (git / "info" / "exclude").read_text()
    assert not (lab.root / ".interlock").exists()
    assert not (lab.root / ".gitignore").exists()


def test_state_of_an_older_version_is_moved_and_the_log_says_so(lab: Lab) -> None:
    lab.run("pause")
    (lab.root / ".git/interlock").rename(lab.root / ".interlock")
    facts = lab.run("events").out
    assert not (lab.root / ".interlock").exists()
    assert facts.index("Paused") < facts.index("StateMoved")


def test_init_never_overwrites(lab: Lab) -> None:
    (lab.root / "task-graph.yaml").write_text("mine")
    result = lab.run("init")
    assert (result.code, "already exists" in result.err) == (2, True)
    assert (lab.root / "task-graph.yaml").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here")
def test_init_blames_the_set_up_and_not_the_check_that_needs_it(lab: Lab) -> None:
    """The lock file lacks a package that package.json names, so `npm ci` refuses it."""
    package = {"name": "x", "version": "1.0.0", "scripts": {"test": "node --test"}}
    lock = {"name": "x", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": package}}
    needs = {"dependencies": {"no-such-package-here": "1.0.0"}}
    (lab.root / "package.json").write_text(json.dumps(package | needs))
    (lab.root / "package-lock.json").write_text(json.dumps(lock))
    (lab.root / ".npmrc").write_text("offline=true\n")
    (lab.root / "Makefile").write_text("test:\n\ttrue\n")
    git(lab.root, "add", ".")
    git(lab.root, "commit", "-qm", "start")
    said = lab.run("init").err
    assert said.count("was not written as a check: the set-up `npm ci` failed") == 1
    assert "  | the set-up `npm ci` exited" in said or "  | npm " in said


@pytest.mark.slow
def test_init_writes_the_check_that_it_has_seen_run(lab: Lab) -> None:
    (lab.root / "Makefile").write_text("all:\n\ntest: all\n\ttrue\n")
    git(lab.root, "add", "Makefile")
    git(lab.root, "commit", "-qm", "tests")
    assert lab.run("init", "--json").json["verify"] == "make test"
    text = (lab.root / "task-graph.yaml").read_text()
    assert '\n  verify: "make test"       # on every change merged onto main: passed in ' in text
    assert "its output names no tests" in text
    assert parse(text, "task-graph.yaml").tasks[0].verify == ("make test",)


@pytest.mark.slow
def test_init_prefers_the_command_that_runs_tests_to_one_that_shows_none(lab: Lab) -> None:
    (lab.root / "Makefile").write_text("test:\n\t@echo fine\n")
    (lab.root / "scripts").mkdir()
    (lab.root / "scripts/test").write_text("set -e\necho 'ok 1 - area'; echo 'ok 2 - edge'; echo 1..2\n")
    git(lab.root, "add", "--all")
    git(lab.root, "commit", "-qm", "tests")
    said = lab.run("init").err
    assert "`make test` (Makefile: test) was not chosen as the check: passed in " in said
    assert "its output names no tests" in said
    chosen = next(line for line in said.splitlines() if line.startswith("every change will be checked with"))
    assert "`sh scripts/test` (scripts/test)" in chosen
    assert chosen.endswith(" s, 2 tests, the most of the commands that were tried")


@pytest.mark.slow
def test_init_writes_a_check_that_cannot_run_as_a_comment_with_the_reason(lab: Lab) -> None:
    (lab.root / "Makefile").write_text("test:\n\tpytset -q\n")
    git(lab.root, "add", "Makefile")
    git(lab.root, "commit", "-qm", "tests")
    said = lab.run("init").err
    assert "`make test` (Makefile: test) was not written as a check: " in said
    assert "`pytset`" in said
    text = (lab.root / "task-graph.yaml").read_text()
    assert '\n  # verify: "make test"       # not used: ' in text
    assert parse(text, "task-graph.yaml").tasks[0].verify == ()


def test_init_can_leave_the_check_untried(lab: Lab) -> None:
    (lab.root / "Makefile").write_text("test:\n\ttrue\n")
    assert lab.run("init", "--no-checks", "--json").json["verify"] is None
    assert '\n  # verify: "make test"       # not tried' in (lab.root / "task-graph.yaml").read_text()


def test_init_says_which_file_a_check_comes_from_and_what_is_missing(lab: Lab) -> None:
    (lab.root / "Makefile").write_text("test:\n\t./check\n")
    (lab.root / "package.json").write_text('{"scripts": {"test": "node --test"}}')
    (lab.root / "package-lock.json").write_text("{}")
    said = lab.run("init", "--no-checks").err
    assert "found, but not tried: `npm test` (package.json: scripts.test)" in said
    assert "found, but not tried: `make test` (Makefile: test)" in said
    assert "package-lock.json exists, but node_modules does not: run `npm ci`" in said


def test_init_writes_the_set_up_that_a_lock_file_decides_if_its_program_is_here(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lab.root / "uv.lock").touch()
    (lab.root / "pyproject.toml").write_text('[dependency-groups]\ntests = ["pytest"]\n')
    without = [part for part in os.environ["PATH"].split(os.pathsep) if not Path(part, "uv").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(without))
    command = "uv sync --frozen --group tests"
    assert f"uv.lock exists, but .venv does not: install uv, then run `{command}`" in lab.run("init").err
    path = lab.root / "task-graph.yaml"
    assert parse(path.read_text(), path.name).setup is None
    path.unlink()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").touch(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([*without, str(tmp_path / "bin")]))
    lab.run("init")
    graph = parse(path.read_text(), path.name)
    assert graph.setup == Setup((command,), ("uv.lock",))
    assert graph.setup.folders == (".venv",)


def test_init_uses_no_command_that_ignores_failing_tests(lab: Lab) -> None:
    (lab.root / "Makefile").write_text("test:\n\t-false\n")
    git(lab.root, "add", "--all")
    git(lab.root, "commit", "-qm", "tests")
    said = lab.run("init").err
    words = "`make test` (Makefile: test) is not used as a check: it ignores that tests fail (`-false`)"
    assert words in said
    path = lab.root / "task-graph.yaml"
    assert parse(path.read_text(), path.name).tasks[0].verify == ()


def test_config_show_says_where_each_value_comes_from(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    (lab.root / "interlock.toml").write_text("max_parallel = 5\n")
    monkeypatch.setenv("INTERLOCK_FETCH", "no")
    out = lab.run("config", "show", "--origin").out
    rows = {key.strip(): value for key, _, value in (line.partition(" = ") for line in out.splitlines())}
    assert rows["max_parallel"] == f"5   # {lab.root / 'interlock.toml'}:1"
    assert rows["fetch"] == "false   # INTERLOCK_FETCH"
    assert rows["stale_after"] == '"5m"   # default'
    assert lab.run("config", "show", "--json").json["max_parallel"]["value"] == 5


@pytest.mark.parametrize("value", ['["x/**", "y"]', "x/**,y"])
def test_config_set_writes_lists_over_lists_of_several_lines(lab: Lab, value: str) -> None:
    path = lab.root / "interlock.toml"
    path.write_text('land_files = [\n  "a",\n  "b]",  # c ]\n]\nmax_parallel = 2\n')
    assert lab.run("config", "set", "land_files", value).code == 0
    assert path.read_text() == 'land_files = ["x/**","y"]\nmax_parallel = 2\n'


def test_config_set_keeps_the_rest_of_the_file(lab: Lab) -> None:
    path = lab.root / "interlock.toml"
    path.write_text("# ours\nmax_parallel = 5  # enough\nfetch = false\n")
    assert lab.run("config", "set", "max_parallel", "7").code == 0
    assert lab.run("config", "set", "stale_after", "90s").code == 0
    assert path.read_text() == '# ours\nmax_parallel = 7\nfetch = false\nstale_after = "90s"\n'
    assert lab.run("config", "get", "max_parallel").out == "7\n"
    assert lab.run("config", "get", "stale_after").out == "1m30s\n"


def test_config_set_refuses_nonsense_and_leaves_the_file(lab: Lab) -> None:
    result = lab.run("config", "set", "max_paralel", "7")
    assert (result.code, "did you mean `max_parallel`?" in result.err) == (2, True)
    assert lab.run("config", "set", "max_parallel", "lots").code == 2
    assert not (lab.root / "interlock.toml").exists()


def test_config_set_says_when_something_stronger_wins(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_MAX_PARALLEL", "2")
    assert "INTERLOCK_MAX_PARALLEL overrides it: 2" in lab.run("config", "set", "max_parallel", "7").err


def test_a_password_in_an_address_is_never_shown(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_STORE", "postgresql://ada:s3cret@db/x")
    for words in (["config", "show"], ["config", "get", "store"], ["config", "show", "--json"]):
        out = lab.run(*words).out
        assert "ada:***@db" in out
        assert "s3cret" not in out


def test_config_get_of_an_unknown_key_suggests(lab: Lab) -> None:
    assert "did you mean `branch`?" in lab.run("config", "get", "brunch").err


def test_a_bad_setting_stops_every_command_with_its_place(lab: Lab) -> None:
    (lab.root / "interlock.toml").write_text("\nmax_paralel = 5\n")
    result = lab.run("status")
    assert result.code == 2
    assert f"{lab.root / 'interlock.toml'}:2: unknown setting `max_paralel`" in result.err


def test_config_path_lists_the_files(lab: Lab) -> None:
    assert lab.run("config", "path").out.splitlines()[0] == f"{lab.root / 'interlock.toml'}  (does not exist)"


def test_the_schema_is_printed_or_written(lab: Lab, tmp_path: Path) -> None:
    printed = lab.run("schema").json
    target = tmp_path / "deep" / "schema.json"
    assert lab.run("schema", "--write", str(target)).code == 0
    assert json.loads(target.read_text()) == printed
    assert lab.run("schema", "--write", str(target)).code == 0
    (tmp_path / "notes.json").write_text("{}\n")
    refused = lab.run("schema", "--write", str(tmp_path / "notes.json"))
    assert (refused.code, "exists and is not a schema" in refused.err) == (2, True)
    assert (tmp_path / "notes.json").read_text() == "{}\n"


def test_config_set_follows_no_link_of_the_repository(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine\n")
    (lab.root / "interlock.toml.new").symlink_to(tmp_path / "mine")
    assert lab.run("config", "set", "max_parallel", "5").code == 0
    assert (tmp_path / "mine").read_text() == "mine\n"
    assert (lab.root / "interlock.toml.new").is_symlink()
    assert (lab.root / "interlock.toml").read_text() == "max_parallel = 5\n"


def test_a_foreign_file_in_the_place_of_a_completion_script_stays(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".zfunc" / "_interlock"
    place.parent.mkdir()
    place.write_text("# mine\n")
    refused = lab.run("completion", "install", "zsh")
    assert (refused.code, "is not a completion script of Interlock" in refused.err) == (2, True)
    place.unlink()
    assert [lab.run("completion", "install", "zsh").code for _ in range(2)] == [0, 0]
