"""A template of one's own: filled in, checked, and only from where it may come."""

from pathlib import Path

import pytest

from interlock.engine.settings import load
from interlock.engine.template import PLACES, check_template, fill, shipped, template_of
from interlock.model.errors import UsageError

EMPTY = dict.fromkeys(PLACES, "")


def test_the_shipped_template_has_a_place_for_everything_but_the_number() -> None:
    check_template(shipped(), "prompt.md")
    assert {name for name in PLACES if f"${name}" not in shipped()} == {"attempt"}


def test_a_place_that_stays_empty_takes_its_line_with_it() -> None:
    text = fill("# $task\n\n$said\n\n${feedback}\n$footprint\nEnd\n", EMPTY | {"task": "a"})
    assert text == "# a\n\nEnd\n"


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    assert fill("$goal $$5", EMPTY | {"goal": "$said ${task} $9"}) == "$said ${task} $9 $5\n"


@pytest.mark.parametrize(
    ("text", "where", "hint"),
    [
        ("$goal\nSee $feedbak", "t.md:2:5: unknown placeholder `$feedbak`", "`feedback`"),
        ("$goal\n\n  ${Goal}", "t.md:3:3: unknown placeholder `$Goal`", "`goal`"),
        ("$goal costs $5", "t.md:1:13: a `$` without a name after it", "`$$`"),
        ("$goal $wholly_unknown", "t.md:1:7", "$neighbours"),
        ("Do it.", "t.md: the template has no `$goal`", "no agent knows"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, where: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_template(text, "t.md")
    assert where in str(caught.value)
    assert hint in caught.value.hint


def chosen(root: Path, config: Path, **env: str) -> str:
    loaded = load(root, {}, {"HOME": str(config), **env})
    return template_of(loaded.settings, loaded.origins, root)


def test_a_repository_may_have_a_template_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text('prompt_template = "prompts/mine.md"\n')
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "mine.md").write_text("Just $goal\n")
    assert chosen(tmp_path, tmp_path / "home") == "Just $goal\n"


@pytest.mark.parametrize("name", ["../secret", "{0}/secret", "link"])
def test_a_repository_cannot_have_a_file_of_yours_sent_to_a_model(tmp_path: Path, name: str) -> None:
    """D11."""
    root = tmp_path / "repo"
    root.mkdir()
    (tmp_path / "secret").write_text("$goal sesame\n")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "interlock.toml").write_text(f'\nprompt_template = "{name.format(tmp_path)}"\n')
    with pytest.raises(UsageError, match=r"interlock.toml:2: `prompt_template` is outside the repository"):
        chosen(root, tmp_path / "home")


def test_your_own_settings_may_name_a_template_anywhere(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("$goal, please\n")
    root, config = tmp_path / "repo", tmp_path / "home" / ".config" / "interlock"
    root.mkdir()
    config.mkdir(parents=True)
    (config / "config.toml").write_text(f'prompt_template = "{tmp_path / "own.md"}"\n')
    assert chosen(root, tmp_path / "home") == "$goal, please\n"
    assert chosen(root, tmp_path, INTERLOCK_PROMPT_TEMPLATE=str(tmp_path / "own.md")) == "$goal, please\n"


def test_a_template_that_is_not_there_is_an_error_with_the_place_of_the_setting(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text('prompt_template = "gone.md"\n')
    with pytest.raises(UsageError, match=r"interlock.toml:1: `prompt_template` cannot be read: .*gone.md"):
        chosen(tmp_path, tmp_path / "home")
