"""The installer of the real programs: exact pins, no addresses, nothing done twice."""

import json
import re
import threading
from pathlib import Path

import pytest

from scripts.agent_programs import PINS, PROGRAMS, CannotInstall, command, folder, install, is_installed, main

FROM_NPM = sorted(name for name, program in PROGRAMS.items() if program.is_from_npm)
FROM_PYPI = sorted(set(PROGRAMS) - set(FROM_NPM))


def _ignore(line: str) -> None:
    """What the installer says, where a test does not care."""


def _pretend_installed(name: str, cache: Path) -> Path:
    where = folder(PROGRAMS[name], cache)
    where.mkdir(parents=True)
    (where / "manifest.json").write_text("{}")
    return where


def test_every_folder_of_pins_belongs_to_a_program() -> None:
    assert {path.name for path in PINS.iterdir()} == set(PROGRAMS)


@pytest.mark.parametrize("name", FROM_NPM)
def test_npm_versions_are_exact_and_their_lock_has_checksums_and_no_address(name: str) -> None:
    asked = json.loads((PINS / name / "package.json").read_text())
    versions = {**asked["dependencies"], **asked.get("optionalDependencies", {})}
    lock = json.loads((PINS / name / "package-lock.json").read_text())
    packages = [package for path, package in lock["packages"].items() if path]

    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages)
    assert not any("resolved" in package for package in packages)


@pytest.mark.parametrize("name", FROM_PYPI)
def test_python_pins_are_exact_and_hashed_and_name_no_address(name: str) -> None:
    text = (PINS / name / "requirements.txt").read_text()
    entries = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert all(re.match(r"[\w.\-]+==\S+", entry) and "--hash=sha256:" in entry for entry in entries)
    assert "://" not in text


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_what_is_installed_is_not_installed_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pretend_installed(name, tmp_path)
    monkeypatch.setenv("PATH", "")
    said: list[str] = []
    install(PROGRAMS[name], tmp_path, said.append)
    assert said == []


def test_an_installation_that_was_cut_short_does_not_count(tmp_path: Path) -> None:
    (_pretend_installed("codex", tmp_path) / "manifest.json").unlink()
    assert not is_installed(PROGRAMS["codex"], tmp_path)


def test_without_npm_the_message_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotInstall, match=r"npm is needed for codex .* install Node"):
        install(PROGRAMS["codex"], tmp_path, say=_ignore)
    assert not is_installed(PROGRAMS["codex"], tmp_path)


def test_a_failing_installer_shows_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho the disk is full >&2\nexit 28\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(CannotInstall, match="the disk is full"):
        install(PROGRAMS["gemini"], tmp_path / "cache", say=_ignore)


def test_two_at_once_install_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    binaries = " ".join(
        f"node_modules/@anthropic-ai/claude-code-linux-{cpu}/claude" for cpu in ("x64", "arm64")
    )
    npm.write_text(
        f"#!/bin/sh\necho once >> {tmp_path}/calls\nfor b in {binaries}; do install -D /dev/null $b; done\n"
    )
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    cache = tmp_path / "cache"
    both = [
        threading.Thread(target=install, args=(PROGRAMS["claude-code"], cache, _ignore)) for _ in range(2)
    ]
    for one in both:
        one.start()
    for one in both:
        one.join()

    assert (tmp_path / "calls").read_text() == "once\n"
    assert Path(command("claude-code", cache)[0]).exists()


def test_an_unknown_name_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "cloude"])
    assert "unknown: cloude; there are claude-code, codex" in capsys.readouterr().err


def test_asking_where_installs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "codex", "--where", "--cache", str(tmp_path)]) == 1
    assert "install again" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
