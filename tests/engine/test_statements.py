"""Each landed commit carries a statement that any clone can check, with real git and real keys (D16)."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

NOTES = "refs/notes/interlock"
CHAIN = "  a: {goal: x}\n  b: {goal: y, needs: [a]}\n  c: {goal: z, needs: [b]}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own git configuration: a name and an address."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "SSH_AUTH_SOCK", "GNUPGHOME"):
        monkeypatch.delenv(name, raising=False)
    (folder / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.invalid\n")
    return folder


@pytest.fixture
def landed(scratch: Scratch, home: Path) -> Scratch:
    """Three tasks that landed one after the other."""
    assert home.is_dir()
    scratch.graph(CHAIN, verify='"true"')
    scratch.interlock("run")
    return scratch


class Clone:
    """A clean clone with the notes, and no log."""

    def __init__(self, scratch: Scratch, root: Path) -> None:
        self.scratch, self.root = scratch, root
        scratch.git("clone", "-q", str(scratch.root), str(root))
        self.git("fetch", "-q", "origin", f"{NOTES}:{NOTES}")

    def git(self, *argv: str, feed: str = "") -> str:
        words = ["git", "-c", "user.name=P", "-c", "user.email=p@localhost", *argv]
        done = subprocess.run(words, cwd=self.root, input=feed, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def verify(self, *argv: str) -> tuple[int, str]:
        done = warm.run([*warm.INTERLOCK, "verify", *argv], self.root, self.scratch.env)
        return done.returncode, done.stdout + done.stderr

    def statement(self, commit: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.git("notes", "--ref", NOTES, "show", commit))
        return found


@pytest.fixture
def clone(landed: Scratch, tmp_path: Path) -> Clone:
    return Clone(landed, tmp_path / "clone")


def test_every_landing_is_verified_in_a_clean_clone(clone: Clone) -> None:
    code, said = clone.verify("main~3..main")
    assert (code, said.splitlines()[-1]) == (0, "3 commits: 3 good")
    assert said.count("1 check, unsigned") == 3
    assert not (clone.root / ".git/interlock").exists(), "looking leaves nothing behind"


def test_a_statement_names_tree_base_checks_agent_and_prompt(clone: Clone) -> None:
    found = clone.statement("main")
    commit, tree, base = (clone.git("rev-parse", name) for name in ("main", "main^{tree}", "main~1"))
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    digests = [subject["digest"] for subject in found["subject"]]  # type: ignore[attr-defined] # parsed JSON
    assert digests == [{"gitCommit": commit}, {"gitTree": tree}]
    about = found["predicate"]["interlock"]  # type: ignore[index] # parsed JSON
    assert (about["base"], about["task"], about["attempt"]) == ({"gitCommit": base}, "c", 1)
    assert about["checks"] == [{"command": "true", "exitCode": 0}]
    assert (about["agent"]["program"], len(about["agent"]["prompt"]["sha256"])) == ("command", 64)


def test_an_edited_a_missing_and_a_slipped_in_commit_are_each_named(clone: Clone) -> None:
    edited, missing = clone.git("rev-parse", "main"), clone.git("rev-parse", "main~1")
    text = json.dumps(clone.statement(edited)).replace(clone.git("rev-parse", "main^{tree}"), "0" * 40)
    clone.git("notes", "--ref", NOTES, "add", "-f", "-F", "-", edited, feed=text)
    clone.git("notes", "--ref", NOTES, "remove", missing)
    clone.git("commit", "-q", "--allow-empty", "-m", "by\x1f hand")
    clone.git("notes", "--ref", NOTES, "copy", "main~3", "main")
    code, said = clone.verify("main~4..main")
    assert code == 1
    lines = said.splitlines()
    assert lines[0].endswith(
        "hand: the statement is about another commit, the statement is about "
        "another tree, the statement is about another base"
    )
    assert "the statement is about another tree" in lines[1] and edited[:12] in lines[1]
    assert "it names a task of Interlock and carries no statement" in lines[2] and missing[:12] in lines[2]
    assert lines[-1] == "4 commits: 1 good, 2 wrong, 1 missing"
    clone.git("notes", "--ref", NOTES, "remove", "main")
    assert "hand: not landed by Interlock" in clone.verify("main")[1]


def test_the_log_is_asked_too_where_it_is(landed: Scratch) -> None:
    commit = landed.git("rev-parse", "main")
    text = landed.git("notes", "--ref", NOTES, "show", commit)
    forged = text.replace('"grade":"verified"', '"grade":"observed"')
    assert forged != text
    landed.git("notes", "--ref", NOTES, "add", "-f", "-m", forged, commit)
    assert "the log says otherwise" in landed.interlock("verify", "main", code=1)


def test_without_notes_the_command_says_how_to_get_them(clone: Clone) -> None:
    clone.git("update-ref", "-d", NOTES)
    code, said = clone.verify("main~3..main")
    assert code == 1
    assert f"git fetch origin {NOTES}:{NOTES}" in said
    assert clone.verify("main~99..main")[0] == 2


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen makes the key")
def test_a_statement_is_signed_with_the_key_of_the_persons_git(
    scratch: Scratch, home: Path, tmp_path: Path
) -> None:
    key = home / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (home / "signers").write_text(f"ada@example.invalid {(home / 'key.pub').read_text()}")
    with (home / ".gitconfig").open("a") as file:
        file.write(
            f"[commit]\ngpgsign = true\n[user]\nsigningkey = {key}\n[gpg]\nformat = ssh\n"
            f'[gpg "ssh"]\nallowedSignersFile = {home / "signers"}\n'
        )
    scratch.graph("  a: {goal: x}\n", verify='"true"')
    scratch.interlock("run")
    clone = Clone(scratch, tmp_path / "clone")
    assert clone.verify("main", "--signed")[0] == 0
    assert "signed by ada@example.invalid" in clone.verify("main")[1]
    note = clone.git("notes", "--ref", NOTES, "show", "main")
    forged = clone.git("hash-object", "-w", "--stdin", feed=note.replace('"attempt":1', '"attempt":2') + "\n")
    clone.git("notes", "--ref", NOTES, "add", "-f", "-C", forged, "main")
    assert "the signature does not fit" in clone.verify("main")[1]
    (home / "signers").write_text("")
    assert "no good signature" in scratch.interlock("verify", "main", "--signed", code=1)
