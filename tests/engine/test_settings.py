"""Settings come from five places, each value from the strongest that names it."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

import interlock
from interlock.engine.setting_values import TABLES
from interlock.engine.settings import (
    GIVEN,
    PREFIX,
    Settings,
    check,
    default_of,
    key_of,
    load,
    project_name,
    store_address,
)
from interlock.engine.trust import OWN
from interlock.model.errors import UsageError


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home" / ".config" / "interlock").mkdir(parents=True)
    return {"HOME": str(tmp_path / "home")}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_variables_of_an_attempt_are_no_misspelt_settings(tmp_path: Path, home: dict[str, str]) -> None:
    """A program of an attempt may start `interlock`; one variable came close to the name of a new setting."""
    sources = Path(interlock.__file__).parent.rglob("*.py")
    ours = {name for file in sources for name in re.findall(r'"(INTERLOCK_[A-Z_]+)"', file.read_text())}
    settings = {PREFIX + key_of(field).upper() for field in fields(Settings)} | {PREFIX}
    assert ours - settings == GIVEN
    load(tmp_path, {}, home | dict.fromkeys(GIVEN, "1"))


def test_without_any_file_the_defaults_hold_and_say_so(tmp_path: Path, home: dict[str, str]) -> None:
    loaded = load(tmp_path, {}, home)
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}


def test_each_place_beats_the_ones_after_it(tmp_path: Path, home: dict[str, str]) -> None:
    user = tmp_path / "home" / ".config" / "interlock" / "config.toml"
    places: list[tuple[str, int | str]] = [(f"{user}:1", 4), (f"{tmp_path / 'pyproject.toml'}:3", 5)]
    write(user, "max_parallel = 4\n")
    assert _origin(tmp_path, {}, home) == places[0]
    write(tmp_path / "pyproject.toml", "[project]\n[tool.interlock]\nmax_parallel = 5\n")
    assert _origin(tmp_path, {}, home) == places[1]
    own = write(tmp_path / "interlock.toml", "\nmax_parallel = 6\n")
    assert _origin(tmp_path, {}, home) == (f"{own}:2", 6)
    environ = home | {"INTERLOCK_MAX_PARALLEL": "7"}
    assert _origin(tmp_path, {}, environ) == ("INTERLOCK_MAX_PARALLEL", 7)
    assert _origin(tmp_path, {"max_parallel": 8}, environ) == ("--max-parallel", 8)


def _origin(root: Path, flags: dict[str, object], environ: dict[str, str]) -> tuple[str, int | str]:
    loaded = load(root, flags, environ)
    return loaded.origins["max_parallel"], loaded.settings.max_parallel


def test_a_flag_that_was_not_given_says_nothing(tmp_path: Path, home: dict[str, str]) -> None:
    assert load(tmp_path, {"max_parallel": None}, home).settings.max_parallel == 3


def test_an_unknown_key_names_its_line_and_the_nearest_key(tmp_path: Path, home: dict[str, str]) -> None:
    path = write(tmp_path / "interlock.toml", '# mine\nstore = ""\nmax_paralel = 2\n')
    with pytest.raises(UsageError) as caught:
        load(tmp_path, {}, home)
    assert str(caught.value) == f"{path}:3: unknown setting `max_paralel`"
    assert caught.value.hint == "did you mean `max_parallel`?"


def test_a_setting_of_an_earlier_version_may_stay_in_a_file(tmp_path: Path, home: dict[str, str]) -> None:
    write(tmp_path / "interlock.toml", "share_experience = false\nstrict_scope = true\nmax_parallel = 2\n")
    assert load(tmp_path, {}, home).settings.max_parallel == 2


def test_a_table_nobody_knows_is_an_unknown_key_too(tmp_path: Path, home: dict[str, str]) -> None:
    path = write(tmp_path / "interlock.toml", "[agents]\nclaude = 1\n")
    with pytest.raises(UsageError, match="unknown setting `agents`") as caught:
        load(tmp_path, {}, home)
    assert str(caught.value).startswith(f"{path}:1:")


def test_a_file_that_is_no_toml_names_the_place(tmp_path: Path, home: dict[str, str]) -> None:
    path = write(tmp_path / "interlock.toml", 'store = "\n')
    with pytest.raises(UsageError) as caught:
        load(tmp_path, {}, home)
    assert str(caught.value).startswith(f"{path}:1:")


@pytest.mark.parametrize("key", ["toolchains", "pass_env", "allow_hosts", "server_fetches", "graph"])
def test_what_agents_may_reach_is_not_for_a_file_that_they_may_change(
    tmp_path: Path, home: dict[str, str], key: str
) -> None:
    write(tmp_path / "pyproject.toml", f'[tool.interlock]\n{key} = ["x"]\n')
    with pytest.raises(UsageError, match=f"pyproject.toml:2: `{key}` says what agents may reach") as refused:
        load(tmp_path, {}, home)
    assert "interlock.toml" in refused.value.hint


def test_where_keys_may_go_is_for_no_repository_to_say(tmp_path: Path, home: dict[str, str]) -> None:
    write(tmp_path / "interlock.toml", 'key_hosts = ["A@b"]\n')
    with pytest.raises(UsageError, match="`key_hosts` sends keys of yours to others"):
        load(tmp_path, {}, home)
    (tmp_path / "interlock.toml").unlink()
    assert load(tmp_path, {}, home | {"INTERLOCK_KEY_HOSTS": "A@b"}).settings.key_hosts == ("A@b",)


def test_a_broken_pyproject_is_left_to_its_own_tools(tmp_path: Path, home: dict[str, str]) -> None:
    write(tmp_path / "pyproject.toml", "[project\n")
    assert load(tmp_path, {}, home).settings == Settings()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("max_parallel", "many"),
        ("max_parallel", "0"),
        ("fetch", "perhaps"),
        ("stale_after", "soon"),
        ("stale_after", "-5m"),
        ("stale_after", "inf"),
        ("notify", "green"),
        ("log_limit_bytes", "1"),
        ("keep_trash_days", "-1"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_an_example(
    tmp_path: Path, home: dict[str, str], key: str, text: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, {}, home | {f"INTERLOCK_{key.upper()}": text})
    assert f"INTERLOCK_{key.upper()}" in str(caught.value)
    assert caught.value.hint


def test_a_mistyped_variable_is_noticed_and_a_stranger_is_not(tmp_path: Path, home: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, {}, home | {"INTERLOCK_MAX_PARALEL": "2"})
    assert caught.value.hint == "did you mean INTERLOCK_MAX_PARALLEL?"
    strangers = {
        "INTERLOCK_TASK_ID": "a",
        "INTERLOCK_ATTEMPT": "1",
        "INTERLOCK_PROMPT_FILE": "p",
        "INTERLOCK_DEBUG": "1",
    }
    assert load(tmp_path, {}, home | strangers).settings == Settings()


def test_variables_hold_lists_switches_and_times(tmp_path: Path, home: dict[str, str]) -> None:
    environ = home | {"INTERLOCK_PASS_ENV": "A, B", "INTERLOCK_FETCH": "no", "INTERLOCK_STALE_AFTER": "2m"}
    settings = load(tmp_path, {}, environ).settings
    assert (settings.pass_env, settings.fetch, settings.stale_after_seconds) == (("A", "B"), False, 120.0)


def test_every_setting_takes_its_own_default_from_a_file(tmp_path: Path, home: dict[str, str]) -> None:
    for field in fields(Settings):
        default = default_of(field)
        if key_of(field) in OWN or field.name in TABLES:
            continue  # not what `config set` writes: not for a repository to say, or a table
        text = ",".join(default) if isinstance(default, tuple) else str(default)
        assert check(key_of(field), text, "here") == default


def test_the_log_is_a_file_in_the_state_folder_unless_an_address_is_set(tmp_path: Path) -> None:
    state = tmp_path / "shop" / ".git/interlock"
    assert store_address(Settings(), state) == str(state / "log.db")
    assert store_address(Settings(store="postgresql://db/x"), state) == "postgresql://db/x"


def test_a_project_is_called_after_its_lineage_unless_a_name_is_set() -> None:
    assert project_name(Settings(), "shop-1a2b") == "shop-1a2b"
    assert project_name(Settings(project_name="till"), "shop-1a2b") == "till"
