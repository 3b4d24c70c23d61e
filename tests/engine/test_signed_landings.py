"""Landed commits are signed where the person's git signs, or nothing starts; with real keys (D16)."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own git configuration: a name, an address, and that commits are signed."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "SSH_AUTH_SOCK", "GNUPGHOME"):
        monkeypatch.delenv(name, raising=False)
    (folder / ".gitconfig").write_text(
        "[user]\nname = Ada\nemail = ada@example.invalid\n[commit]\ngpgsign = true\n"
    )
    return folder


def configure(home: Path, text: str) -> None:
    with (home / ".gitconfig").open("a") as file:
        file.write(text)


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen makes the key")
def test_what_lands_is_signed_with_an_ssh_key(scratch: Scratch, home: Path) -> None:
    key = home / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (home / "signers").write_text(f"ada@example.invalid {(home / 'key.pub').read_text()}")
    configure(
        home,
        f"[user]\nsigningkey = {key}\n[gpg]\nformat = ssh\n"
        f'[gpg "ssh"]\nallowedSignersFile = {home / "signers"}\n',
    )
    scratch.graph("  a: {goal: x}\n  b: {goal: x, needs: [a]}\n")
    scratch.interlock("run")
    for commit in ("main", "main~1"):
        assert scratch.git("log", "-1", "--format=%G? %an %cn", commit) == "G Ada Ada"
        scratch.git("verify-commit", commit)
    assert "landed commits are signed with your key" in scratch.interlock("doctor", code=None)


@pytest.mark.skipif(not shutil.which("gpg"), reason="gpg makes the key")
def test_what_lands_is_signed_with_gpg(scratch: Scratch, home: Path) -> None:
    (home / ".gnupg").mkdir(mode=0o700)
    configure(home, "[user]\nsigningkey = ada@example.invalid\n")
    words = ("--batch", "--passphrase", "", "--quick-gen-key", "Ada <ada@example.invalid>", "ed25519", "sign")
    subprocess.run(["gpg", *words], check=True, capture_output=True)
    try:
        scratch.graph("  a: {goal: x}\n")
        scratch.interlock("run")
        scratch.git("verify-commit", "main")
    finally:
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)


def test_a_key_that_cannot_be_used_is_said_before_anything_starts(scratch: Scratch, home: Path) -> None:
    scratch.git("config", "commit.gpgsign", "false")
    scratch.graph("  a: {goal: x}\n")
    scratch.git("config", "--unset", "commit.gpgsign")
    configure(home, f"[gpg]\nformat = ssh\n[user]\nsigningkey = {home / 'no-such-key'}\n")
    said = scratch.interlock("run", code=7)
    assert "your git signs commits (commit.gpgsign), but signing fails" in said
    assert "git config commit.gpgsign false" in said
    assert not scratch.facts("PhaseStarted")
    assert "but signing fails" in scratch.interlock("doctor", code=7)
    scratch.git("config", "commit.gpgsign", "false")
    scratch.interlock("run")
