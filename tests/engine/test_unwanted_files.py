"""What agents leave behind does not land, and a secret holds a change up; through the real command."""

import os
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow
TOKEN = "ghp_" + "q7Zk2LmX9vB4tR8wYp3NcH6sDf1GjA5eUoKi"
"""Made up, and put together here so that no scanner takes it for a leak."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own git configuration."""
    folder = tmp_path / "home"
    (folder / ".config" / "git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    return folder


def landed(scratch: Scratch) -> set[str]:
    """The files of the last landing."""
    return set(scratch.git("diff", "--name-only", "--no-renames", "main~1", "main").splitlines())


def test_a_change_lands_without_what_no_person_would_commit(scratch: Scratch) -> None:
    """FIELD 10: the wanted file lands; the rest is named with its reason, and is not lost."""
    agent = (
        "echo good > good.txt; echo TOKEN=1 > .env; echo TOKEN= > .env.example; mkdir -p node_modules/a dist;"
        "echo 1 > node_modules/a/i.js; echo 2 > node_modules/a/j.js; echo 3 > dist/app.js; echo 4 > m.pyc;"
        "head -c 6000000 /dev/zero > big.bin"
    )
    scratch.write(package__json="{}\n")
    scratch.graph("  t: {goal: t}\n", agent)
    said = scratch.interlock("run")
    assert landed(scratch) == {"good.txt", ".env.example"}
    assert "left out of t: .env (files like this hold credentials)" in said
    assert "interlock show t" in said
    (fact,) = scratch.facts("WorkFinished")
    assert {(out["path"], out["why"]) for out in fact["fact"]["left_out"]} == {
        (".env", "env-file"),
        ("node_modules/", "dependencies"),
        ("dist/", "build-output"),
        ("m.pyc", "compiled"),
        ("big.bin", "large"),
    }
    assert fact["fact"]["touched"] == [".env.example", "good.txt"]
    for command in ("show", "explain"):
        told = scratch.interlock(command, "t")
        assert "left out: .env (files like this hold credentials)" in told
        assert "land_files in interlock.toml" in told
    kept = fact["fact"]["archived"]
    assert scratch.git("show", f"{kept}^:.env") == "TOKEN=1"


def test_what_main_tracks_already_may_change_and_move(scratch: Scratch) -> None:
    scratch.write(__env="A=1\n")
    (scratch.root / "dist").mkdir()
    (scratch.root / "dist" / "app.js").write_text("1\n")
    (scratch.root / "old.bin").write_bytes(os.urandom(6_000_000))
    scratch.graph(
        "  t: {goal: t}\n", "echo A=2 > .env; echo 2 > dist/app.js; echo 3 > dist/new.js; mv old.bin new.bin"
    )
    scratch.interlock("run")
    assert landed(scratch) == {".env", "dist/app.js", "dist/new.js", "old.bin", "new.bin"}
    assert not scratch.facts("WorkFinished")[0]["fact"]["left_out"]


def test_a_persons_own_ignore_rules_hold_even_for_what_was_added_by_force(
    scratch: Scratch, home: Path
) -> None:
    (home / ".config" / "git" / "ignore").write_text("*.swp\n.idea/\n*.keep\n")
    scratch.write(__gitignore="!wanted.keep\n")
    agent = (
        "mkdir .idea; echo 1 > .idea/x.xml; echo 2 > a.swp; echo 3 > a.txt; echo 4 > wanted.keep;"
        "echo 5 > local.note; git add -f . && git commit -qm all"
    )
    with (scratch.root / ".git" / "info" / "exclude").open("a") as rules:
        rules.write("local.note\n")
    scratch.graph("  t: {goal: t}\n", agent)
    scratch.interlock("run")
    assert landed(scratch) == {"a.txt", "wanted.keep"}
    whys = {out["path"]: out["why"] for out in scratch.facts("WorkFinished")[0]["fact"]["left_out"]}
    assert whys == {".idea/x.xml": "ignored", "a.swp": "ignored", "local.note": "ignored"}


def test_a_person_can_allow_files_and_an_agent_cannot(scratch: Scratch) -> None:
    scratch.write(interlock__toml='land_files = ["fixtures/**"]\n')
    agent = (
        f"mkdir fixtures; echo A > fixtures/.env; echo {TOKEN} > fixtures/token.txt; echo B > .env;"
        "echo '[tool.interlock]' > pyproject.toml"
    )
    scratch.graph("  t: {goal: t}\n", agent)
    scratch.interlock("run")
    assert landed(scratch) == {"fixtures/.env", "fixtures/token.txt", "pyproject.toml"}
    scratch.write(pyproject__toml='[tool.interlock]\nland_files = ["**"]\n')
    assert "agents may change pyproject.toml" in scratch.interlock("run", code=2)


def test_a_secret_goes_back_to_the_agent_and_is_written_down_nowhere(scratch: Scratch) -> None:
    """The next attempt is told the place and the rule; the token is in no fact, log or prompt of ours."""
    agent = (
        'if grep -q "config.py:2 (GitHub token)" "$INTERLOCK_PROMPT_FILE"; then\n'
        f'  grep -q {TOKEN} "$INTERLOCK_PROMPT_FILE" && touch leaked\n'
        "  echo 'token = environ[\"TOKEN\"]' > config.py\nelse\n"
        f"  printf 'import os\\ntoken = \"%s\"\\n' {TOKEN[:8]}''{TOKEN[8:]} > config.py\nfi"
    )
    scratch.graph("  t: {goal: t}\n", agent)
    scratch.interlock("run")
    assert landed(scratch) == {"config.py"}
    assert TOKEN not in scratch.git("show", "main:config.py")
    (failure,) = scratch.facts("PhaseFailed")
    assert failure["fact"]["error"] == "secret"
    assert "config.py:2 (GitHub token)" in failure["reason"]["text"]
    assert TOKEN not in scratch.interlock("events", "--json")
    written = [*(scratch.root / ".git/interlock/logs").rglob("*"), *scratch.root.glob(".git/interlock/*.db*")]
    assert not [path for path in written if path.is_file() and TOKEN.encode() in path.read_bytes()]


def test_a_change_of_which_nothing_may_land_is_told_so(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: t, retries: 0}\n", "echo A=1 > .env")
    scratch.interlock("run", code=1)
    assert "none of its changes may land: .env" in scratch.interlock("explain", "t")


def test_a_check_that_needs_a_file_that_was_left_out_says_so_to_the_agent(scratch: Scratch) -> None:
    agent = (
        'if grep -q "never land" "$INTERLOCK_PROMPT_FILE"; then echo 1 > ok.txt;'
        " else echo 1 > .env; echo 2 > a.txt; fi"
    )
    scratch.graph("  t: {goal: t, done_when: test -e ok.txt}\n", agent)
    scratch.interlock("run")
    assert landed(scratch) == {"ok.txt"}
