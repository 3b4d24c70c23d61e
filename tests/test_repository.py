"""The promises of the repository itself: pins, links, layers, and a reason beside every ignore."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from scripts.reasons import code_without_reason, settings_without_reason

ROOT = Path(__file__).resolve().parent.parent
PINS = sorted((ROOT / "requirements").glob("*.txt"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "changes").glob("*.md")]
TARGETS = ("demo", "test", "check", "fix", "bench", "test-night", "docs", "changelog", "release")


@pytest.mark.parametrize("pins", PINS, ids=lambda path: path.name)
def test_pins_name_no_index_and_no_folder(pins: Path) -> None:
    text = pins.read_text()
    assert not re.search(r"://|--(extra-)?index-url|--find-links|(^|\s)/\w", text)


@pytest.mark.parametrize("pins", PINS, ids=lambda path: path.name)
def test_every_pin_is_exact_and_hashed(pins: Path) -> None:
    entries = re.split(r"\n(?=[a-z0-9])", pins.read_text().strip())
    assert entries
    assert all(re.match(r"[\w.\-]+==\S+", entry) and "--hash=sha256:" in entry for entry in entries)


def test_all_sets_agree_on_versions() -> None:
    seen: dict[str, set[str]] = {}
    for pins in PINS:
        for name, version in re.findall(r"^([\w.\-]+)==(\S+)", pins.read_text(), re.MULTILINE):
            seen.setdefault(name, set()).add(version)
    assert {name: versions for name, versions in seen.items() if len(versions) > 1} == {}


def test_every_package_stands_in_the_layers() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    listed = {name.strip() for layer in layers for name in layer.split("|")}
    assert {init.parent.name for init in (ROOT / "src/interlock").glob("*/__init__.py")} <= listed


def test_the_workflow_runs_the_make_targets_and_may_only_read() -> None:
    text = (ROOT / ".github/workflows/check.yml").read_text()
    workflow = yaml.safe_load(text)
    job = workflow["jobs"]["check"]
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["cancel-in-progress"] is True
    assert "secrets." not in text
    assert [step["run"] for step in job["steps"] if step.get("run", "").startswith("make ")] == [
        "make check",
        "make test",
    ]
    tested = {
        f"Programming Language :: Python :: {version}" for version in job["strategy"]["matrix"]["python"]
    }
    assert tested <= set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"])


def test_the_pre_commit_hooks_fetch_nothing() -> None:
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]


def test_the_rule_that_the_first_hour_changes_is_there_and_so_is_its_test() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    ((old, new, path),) = re.findall(r"sed -i\.bak 's/(.+?)/(.+?)/' (\S+)", page)
    ((tests, name),) = re.findall(r'ARGS="(\S+)" +# (\w+) fails', page)
    assert (ROOT / path).read_text().count(old) == 1
    assert old != new
    assert f"\ndef {name}(" in (ROOT / tests).read_text()


@pytest.mark.parametrize("target", TARGETS)
def test_make_knows(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_an_ignore_needs_two_words_of_reason() -> None:
    marker = "# no" + "qa: S101"  # in two parts, or this line would hold one
    assert list(code_without_reason(f"a\nb  {marker}")) == [2]
    assert list(code_without_reason(f"b  {marker} - must stop here")) == []


def test_a_rule_switched_off_needs_a_comment() -> None:
    assert list(settings_without_reason('ignore = [\n  "S603",\n]')) == [2]
    assert list(settings_without_reason('ignore = [\n  "S603", # argv lists only\n]')) == []
