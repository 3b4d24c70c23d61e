"""Every command, setting and fact is in the docs, and the pages made from code are as the code is."""

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest

from interlock.engine.settings import Settings, default_of, key_of, load
from interlock.events.facts import kinds
from interlock.events.lifecycle import TABLE
from interlock.model.errors import UsageError
from interlock.ui.cli.app import COMMANDS, interlock
from interlock.ui.cli.exits import ExitCode
from scripts import docs

DOCS = Path(__file__).resolve().parent.parent / "docs"
REFERENCE = DOCS / "reference"
WRITTEN = sorted({*DOCS.parent.glob("*.md"), *DOCS.rglob("*.md")} - {DOCS.parent / "CHANGELOG.md"})


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_generated_pages_are_up_to_date() -> None:
    assert docs.out_of_date(REFERENCE) == [], "run `make docs`"


@pytest.mark.slow
def test_a_page_that_was_edited_by_hand_is_noticed(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(REFERENCE, tmp_path / "reference"))
    (folder / "exit-codes.md").write_text("mine")
    assert docs.main(["--check"], folder) == 1
    assert docs.main([], folder) == 0
    assert (folder / "exit-codes.md").read_text() == page("exit-codes.md")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    assert f"\n## interlock {name}\n" in page("cli.md")


@pytest.mark.parametrize("field", fields(Settings), ids=lambda field: str(field.name))
def test_every_setting_is_documented_with_a_meaning(field: object) -> None:
    key = key_of(field)  # type: ignore[arg-type] # parametrize knows no type for fields
    row = re.search(rf"^\| `{key}` \|.*\| (.*) \|$", page("config.md"), re.MULTILINE)
    assert row
    assert row[1].strip()


def command_tree() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(interlock, info_name="interlock")
    for name in COMMANDS:
        command = interlock.get_command(context, name)
        assert command
        yield name, command
        for child, inner in command.commands.items() if isinstance(command, click.Group) else ():
            yield f"{name} {child}", inner


@pytest.mark.slow
def test_every_command_and_every_command_below_one_has_an_example_of_itself_that_can_be_typed() -> None:
    for name, command in command_tree():
        examples = re.findall(r"For example: (interlock .*)", command.help or "")
        assert len(examples) == 1, name
        words = shlex.split(examples[0])
        known = {flag for param in command.params for flag in param.opts}
        parent = name.split()[0]
        assert words[1] == parent
        assert isinstance(command, click.Group) or words[1 : 1 + len(name.split())] == name.split()
        if not isinstance(command, click.Group):
            assert {word for word in words if word.startswith("-")} <= known, name


def test_a_variable_is_named_for_exactly_the_settings_that_one_can_set(tmp_path: Path) -> None:
    told = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| (\S+) \|", page("config.md"), re.MULTILINE))
    assert told.keys() == {key_of(field) for field in fields(Settings)}
    for field in fields(Settings):
        variable = f"INTERLOCK_{key_of(field).upper()}"
        default = default_of(field)
        text = ",".join(default) if isinstance(default, tuple) else str(default)
        environ = {variable: text, "HOME": str(tmp_path)}
        if told[key_of(field)] == "none":
            with pytest.raises(UsageError, match="is a table"):
                load(tmp_path, {}, environ)
        else:
            assert told[key_of(field)] == f"`{variable}`"
            assert load(tmp_path, {}, environ).origins[key_of(field)] == variable


@pytest.mark.parametrize("name", ["cli.md", "config.md", "exit-codes.md"])
def test_no_row_of_a_table_has_more_cells_than_its_head(name: str) -> None:
    for table in re.findall(r"(?:^\|.*\n)+", page(name), re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1, table


@pytest.mark.parametrize("name", sorted(kinds()))
def test_every_fact_is_documented(name: str) -> None:
    assert f"\n## {name}\n" in page("facts.md")


def test_every_move_and_every_exit_code_is_documented() -> None:
    assert page("lifecycle.md").count("\n| ") == len(TABLE) + 1
    assert all(f"\n| {int(code)} | " in page("exit-codes.md") for code in ExitCode)


@pytest.mark.parametrize("folder", ["how-to", "reference", "why"])
def test_every_page_is_listed_in_its_folder(folder: str) -> None:
    index = (DOCS / folder / "README.md").read_text(encoding="utf-8")
    pages = [path.name for path in (DOCS / folder).glob("*.md") if path.name != "README.md"]
    assert [name for name in pages if f"({name})" not in index] == []


@pytest.mark.parametrize("folder", ["how-to", "why"])
def test_the_index_of_a_folder_has_the_title_of_each_page(folder: str) -> None:
    index = (DOCS / folder / "README.md").read_text(encoding="utf-8")
    for title, name in re.findall(r"^- \[(.+)\]\((.+)\)$", index, re.MULTILINE):
        assert (DOCS / folder / name).read_text(encoding="utf-8").startswith(f"# {title}\n")


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(DOCS.parent)))
def test_every_link_leads_to_a_file_and_a_heading_that_exist(path: Path) -> None:
    for target, _, heading in re.findall(
        r"\]\((?!http)([^)#]*)(#([^)]+))?\)", path.read_text(encoding="utf-8")
    ):
        linked = path.parent / target if target else path
        assert linked.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in map(anchor, headings), f"{target}#{heading}"


@pytest.mark.parametrize("path", sorted((DOCS / "how-to").glob("*.md")), ids=lambda path: str(path.name))
def test_how_to_pages_name_only_commands_that_exist(path: Path) -> None:
    named = re.findall(r"^interlock (?:--\w+ \S+ )*([a-z-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) <= set(COMMANDS)


def glossary() -> list[str]:
    return re.findall(
        r"^\| \*\*(.+?)\*\* \|", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_the_glossary_has_at_most_45_words_and_the_first_20_come_before_the_alphabet() -> None:
    words = glossary()
    assert 20 < len(words) <= 45
    assert words[20:] == sorted(words[20:])


def test_every_word_of_the_glossary_is_used_elsewhere() -> None:
    pages = [path for path in DOCS.rglob("*.md") if path.name != "glossary.md"]
    sources = (DOCS.parent / "src").rglob("*.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in [*pages, *sources])
    used = set(re.findall(r"[a-z]+", text.lower()))
    assert [word for word in glossary() if not set(word.lower().split()) <= used] == []


def test_the_walk_of_one_task_has_at_most_25_files_in_order() -> None:
    walk = (DOCS / "follow-one-task.md").read_text(encoding="utf-8")
    steps = re.findall(r"^(\d+)\. \[(\S+)\]\(\.\./src/interlock/(\S+)\): ", walk, re.MULTILINE)
    assert [int(number) for number, _, _ in steps] == [*range(1, len(steps) + 1)]
    assert 15 <= len(steps) <= 25
    assert [shown for _, shown, _ in steps] == [path for _, _, path in steps]
    assert walk.count("(../src/") == len(steps)
    missing = [path for _, _, path in steps if not (DOCS.parent / "src/interlock" / path).is_file()]
    assert missing == []


def test_the_walk_of_one_task_names_functions_that_its_files_have() -> None:
    walk = (DOCS / "follow-one-task.md").read_text(encoding="utf-8")
    for path, text in re.findall(r"^\d+\. \[(\S+)\]\S+ (.*(?:\n   .*)*)", walk, re.MULTILINE):
        code = (DOCS.parent / "src/interlock" / path).read_text(encoding="utf-8")
        named = re.search(r"`(\w+)`", text)
        assert named is None or re.search(rf"\b{named[1]}\b", code), f"{path} has no {named[1]}"


@pytest.mark.parametrize("path", sorted((DOCS / "why").glob("*.md")), ids=lambda path: str(path.name))
def test_a_page_in_why_is_one_page(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(DOCS.parent)))
def test_a_sentence_names_its_actor(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if "<!-- Written by `make docs`" not in text:
        assert re.findall(r"\b(?:nobody|somebody|whoever)\b.*", text, re.IGNORECASE) == []
