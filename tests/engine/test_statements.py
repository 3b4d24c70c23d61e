"""Statements about landed commits, and `interlock verify` in a clean clone, with a real key (D16)."""

import base64
import hashlib
import json
import os
import shutil
import signal
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.remotes import Remote
from tests.engine.scratch import WAIT, Scratch

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen makes the key"),
]
REF = "refs/notes/interlock"
FETCH = f"{REF}:{REF}"
TOKEN = "ghp_0123456789abcdefghij0123456789abcdef"  # noqa: S105 - made up, and to be left out of a statement


def make_home(folder: Path, name: str, signs: bool = True) -> None:
    """The person's home: git with an SSH key and the file of signers that go with it."""
    folder.mkdir(exist_ok=True)
    key = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (folder / "signers").write_text(f"ada@example.invalid {key.with_suffix('.pub').read_text()}")
    (folder / ".gitconfig").write_text(
        "[user]\nname = Ada\nemail = ada@example.invalid\n"
        f"signingkey = {key}\n[commit]\ngpgsign = {str(signs).lower()}\n[gpg]\nformat = ssh\n"
        f'[gpg "ssh"]\nallowedSignersFile = {folder / "signers"}\n'
    )


def at_home(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "SSH_AUTH_SOCK", "GNUPGHOME"):
        patch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person whose git does not sign commits."""
    folder = tmp_path / "home"
    make_home(folder, "key", signs=False)
    at_home(folder, monkeypatch)
    return folder


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    """Twenty landings by a person whose git signs commits; no test changes this repository."""
    root = tmp_path_factory.mktemp("twenty")
    make_home(root / "home", "key")
    with pytest.MonkeyPatch.context() as patch:
        at_home(root / "home", patch)
        scratch = Scratch(root / "a repository")
        tasks = "".join(f"  t{number}: {{goal: x}}\n" for number in range(20))
        scratch.write(interlock__toml="land_together = false\n")
        scratch.graph(tasks, verify=f'["test -d .", "true {TOKEN}"]')
        scratch.interlock("run")
        yield scratch
        scratch.close()


class Clone:
    """A clean clone of a repository, with its notes."""

    def __init__(self, scratch: Scratch, where: Path) -> None:
        self.root = where
        self._scratch = scratch
        scratch.git("clone", "-q", str(scratch.root), str(where))
        self.git("fetch", "-q", "origin", FETCH)

    def git(self, *argv: str, feed: bytes = b"") -> str:
        identity = ("-c", "user.name=Eve", "-c", "user.email=eve@localhost", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *identity, *argv], cwd=self.root, input=feed, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def verify(self, *argv: str, code: int = 0) -> str:
        return self._scratch.interlock("--project", str(self.root), "verify", *argv, code=code)

    def found(self, *argv: str, code: int = 0) -> dict[str, Any]:  # Any: parsed JSON
        listed = json.loads(self.verify("--json", *argv, code=code))
        return {commit["commit"]: commit for commit in listed["commits"]}

    def problems(self, *argv: str) -> dict[str, str]:
        found = self.found(*argv, code=1)
        return {commit: each["problem"] for commit, each in found.items() if each["problem"]}

    def note(self, commit: str) -> dict[str, Any]:  # Any: parsed JSON
        envelope: dict[str, Any] = json.loads(self.git("notes", "--ref=interlock", "show", commit))
        return envelope

    def statement(self, commit: str) -> dict[str, Any]:  # Any: parsed JSON
        said: dict[str, Any] = json.loads(base64.b64decode(self.note(commit)["payload"]))
        return said

    def replace_note(self, commit: str, envelope: object) -> None:
        text = json.dumps(envelope).encode()
        self.git("notes", "--ref=interlock", "add", "-f", "-F", "-", commit, feed=text)

    def edit(self, commit: str, change: Callable[[dict[str, Any]], None], signed: bool = True) -> None:
        """Change the statement about a commit, and leave the signature as it is, or take it away."""
        note, said = self.note(commit), self.statement(commit)
        change(said)
        payload = base64.b64encode(json.dumps(said).encode()).decode()
        self.replace_note(commit, {**note, "payload": payload, **({} if signed else {"signatures": []})})


@pytest.fixture
def clone(twenty: Scratch, tmp_path: Path) -> Clone:
    return Clone(twenty, tmp_path / "clone")


def test_a_clean_clone_verifies_twenty_landings(twenty: Scratch, clone: Clone) -> None:
    said = clone.verify("main~20..main")
    assert "20 commits, 20 good" in said
    assert said.count("verified, 2 checks, signed by ada@example.invalid") == 20
    assert "as the log says" not in said
    assert not (clone.root / ".git/interlock").exists()
    assert twenty.interlock("verify", "main~20..main").count("as the log says") == 20


def test_a_range_without_commits_is_not_good(clone: Clone) -> None:
    """It said that 0 commits are good, with exit code 0."""
    for range_ in ("main..main~2", "main..main", "^main"):
        said = clone.verify(range_, code=2)
        assert "nothing was verified" in said
        assert "good" not in said


def test_the_real_commits_are_verified_whatever_the_repository_puts_in_their_place(clone: Clone) -> None:
    """A graft hid a commit without a statement, and so did a replaced commit and a shallow file."""
    bad, above = clone.git("rev-parse", "main~3"), clone.git("rev-parse", "main~2")
    below = clone.git("rev-parse", "main~4")
    clone.git("notes", "--ref=interlock", "remove", bad)
    graft = clone.root / ".git/info/grafts"
    graft.parent.mkdir(exist_ok=True)
    graft.write_text(f"{above} {below}\n")
    assert bad not in clone.git("rev-list", "main"), "git itself believes it"
    assert clone.problems("main~6..main") == {bad: "missing"}
    graft.unlink()
    clone.git("replace", "--graft", above, below)
    assert bad not in clone.git("rev-list", "main")
    assert clone.problems("main~6..main") == {bad: "missing"}
    clone.git("replace", "-d", above)
    (clone.root / ".git/shallow").write_text(f"{above}\n")
    assert bad not in clone.git("rev-list", "main")
    assert clone.problems(f"{below}..main") == {bad: "missing"}


def test_a_commit_that_is_not_there_is_no_end_of_the_history(clone: Clone, tmp_path: Path) -> None:
    """In a clone that is really shallow."""
    shallow = tmp_path / "shallow"
    clone.git("clone", "-q", "--depth=3", f"file://{clone.root}", str(shallow))
    clone.root = shallow
    clone.git("fetch", "-q", "origin", "refs/notes/interlock:refs/notes/interlock")
    assert "2 commits, 2 good" in clone.verify("main~2..main")
    assert "git fetch --unshallow" in clone.verify("main~10..main", code=7)


def test_an_object_with_another_content_than_its_name_says_is_named(clone: Clone) -> None:
    one, other = clone.git("rev-parse", "main~1"), clone.git("rev-parse", "main")
    content = clone.git("cat-file", "commit", one).encode() + b"\nforged\n"
    path = clone.root / ".git/objects" / other[:2] / other[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(b"commit %d\0" % len(content) + content))
    for pack in (clone.root / ".git/objects/pack").glob("*"):
        pack.rename(pack.with_name(f"{pack.name}.away"))
    said = clone.verify("main", code=7)
    assert "is not the commit of this name" in said


def test_each_problem_is_named_with_its_commit(clone: Clone) -> None:
    edited, missing = clone.git("rev-parse", "main~3"), clone.git("rev-parse", "main~7")
    clone.edit(edited, lambda said: said["predicate"].update(result="WARNED"))
    clone.git("notes", "--ref=interlock", "remove", missing)
    clone.git("commit", "-q", "--allow-empty", "-m", "just this once")
    by_hand = clone.git("rev-parse", "main")
    assert clone.problems("main~21..main") == {edited: "edited", missing: "missing", by_hand: "by-hand"}
    said = clone.verify("main~21..main", code=1)
    assert "21 commits, 18 good, 3 problems" in said
    assert "edited: the signature does not fit the statement" in said
    assert "by-hand: no task landed it" in said


def test_a_statement_follows_the_published_schema(twenty: Scratch, clone: Clone) -> None:
    """in-toto Statement v1, test-result v0.1 and DSSE v1, as their specifications list the fields."""
    commit, tree, base = (clone.git("rev-parse", name) for name in ("main", "main^{tree}", "main~1"))
    note, said = clone.note(commit), clone.statement(commit)
    assert note.keys() == {"payloadType", "payload", "signatures"}
    assert note["payloadType"] == "application/vnd.in-toto+json"
    assert said.keys() == {"_type", "subject", "predicateType", "predicate"}
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert said["subject"] == [{"name": "main", "digest": {"gitCommit": commit}}]
    result = said["predicate"]
    required, optional = {"result", "configuration"}, {"passedTests", "warnedTests", "failedTests", "url"}
    assert required <= result.keys() <= required | optional | {"interlock"}
    assert result["result"] == "PASSED"
    assert result["passedTests"] == ["test -d .", "true [redacted]"]
    for described in result["configuration"]:
        assert described["name"] and described["digest"] == {"gitTree": tree}

    own = result["interlock"]
    task = clone.git("log", "-1", "--format=%(trailers:key=Interlock-Task,valueonly)", commit)
    (change,), state = own["changes"], twenty.root / ".git/interlock"
    prompt = (state / f"logs/{task}/1.prompt.md").read_bytes()
    assert (own["tree"], own["base"]) == ({"gitTree": tree}, {"gitCommit": base})
    assert own["evidence"] == "verified"
    assert (change["task"], change["attempt"], change["agent"], change["program"]) == (
        task,
        1,
        "shell",
        "command",
    )
    assert change["prompt"] == {"sha256": hashlib.sha256(prompt).hexdigest()}
    landed = next(row for row in twenty.facts("Landed") if row["fact"]["commit"] == commit)
    fact = own["fact"]
    assert (fact["position"], fact["hash"]) == (landed["seq"], {"sha256": landed["hash"]})
    checks = next(row["fact"] for row in twenty.facts("CandidatePassed") if row["fact"]["commit"] == commit)
    for check, ran in zip(own["checks"], checks["checks"], strict=True):
        output = hashlib.sha256((state / ran["log"]).read_bytes()).hexdigest()
        assert (check["exitCode"], check["output"]) == (0, {"sha256": output})
    whole = json.dumps(said)
    assert str(twenty.root) not in whole
    assert twenty.root.name not in whole
    assert TOKEN not in whole


def test_a_statement_of_another_commit_does_not_count(clone: Clone) -> None:
    one, other = clone.git("rev-parse", "main~1"), clone.git("rev-parse", "main~2")
    clone.replace_note(one, clone.note(other))
    assert clone.problems("main~3..main") == {one: "edited"}
    assert "about another commit" in clone.verify(one, code=1)


def test_a_rebased_landing_has_no_statement(clone: Clone) -> None:
    """It is another commit on another base, which nobody tested as it is."""
    clone.git("commit", "-q", "--allow-empty", "-m", "by hand")
    clone.git("cherry-pick", "--allow-empty", "-x", "--keep-redundant-commits", "main~1")
    assert set(clone.problems("main~2..main").values()) == {"missing", "by-hand"}


def test_a_signer_who_is_not_allowed_is_named(clone: Clone, tmp_path: Path) -> None:
    make_home(tmp_path / "other", "other")
    others = tmp_path / "other" / "signers"
    assert clone.problems("main", "--signers", str(others)) == {
        clone.git("rev-parse", "main"): "unknown-signer"
    }
    others.write_text(others.read_text() + (Path(os.environ["HOME"]) / "signers").read_text())
    clone.verify("main", "--signers", str(others))


def test_a_statement_without_a_signature_counts_only_where_that_is_allowed(clone: Clone) -> None:
    commit = clone.git("rev-parse", "main")
    clone.edit(commit, lambda _: None, signed=False)
    assert clone.problems("main~2..main") == {commit: "unsigned"}
    assert "unsigned" in clone.verify("main", "--allow-unsigned")


def test_the_log_contradicts_a_forged_statement_and_vouches_for_a_true_one(
    twenty: Scratch, clone: Clone, tmp_path: Path
) -> None:
    forged, bare = clone.git("rev-parse", "main"), clone.git("rev-parse", "main~1")
    clone.edit(forged, lambda said: said["predicate"]["interlock"]["checks"].pop(), signed=False)
    clone.edit(bare, lambda _: None, signed=False)
    with_log = tmp_path / "with the log"
    shutil.copytree(twenty.root, with_log)
    subprocess.run(["git", "fetch", "-q", str(clone.root), f"+{FETCH}"], cwd=with_log, check=True)
    said = twenty.interlock("--project", str(with_log), "verify", "main~2..main", code=1)
    assert "edited: its statement does not say what the log says" in said
    assert "unsigned, as the log says" in said
    assert "2 commits, 1 good, 1 problem" in said


def test_the_log_contradicts_a_note_that_claims_more_than_was_found(scratch: Scratch, home: Path) -> None:
    """No check of this landing can read its change, and the note says that it was verified."""
    scratch.write(one__txt="x\n", m__py="def f():\n    return 1\n")
    scratch.graph(
        "  a: {goal: x}\n",
        "printf 'def f():\\n    return 2\\n' > m.py",
        verify="[{run: cat one.txt, inputs: [one.txt]}]",
    )
    scratch.interlock("run")
    assert "observed (change-not-read), 1 check, unsigned, as the log says" in scratch.interlock(
        "verify", "main"
    )
    clone = Clone(scratch, home / "clone")
    clone.edit("main", lambda said: said["predicate"]["interlock"].update(evidence="verified", gap=""))
    scratch.git("fetch", "-q", str(clone.root), f"+{FETCH}")
    said = scratch.interlock("verify", "main", code=1)
    assert "edited: its statement does not say what the log says" in said


@pytest.mark.parametrize(
    "note", [b"no statement", b"{}", b'{"payloadType":"x","payload":"e30="}', b"[" * 9999]
)
def test_a_note_that_is_no_statement_is_a_problem_and_no_crash(clone: Clone, note: bytes) -> None:
    commit = clone.git("rev-parse", "main")
    clone.git("notes", "--ref=interlock", "add", "-f", "-F", "-", commit, feed=note)
    assert clone.problems("main") == {commit: "edited"}


def test_without_notes_it_says_how_to_fetch_them(clone: Clone) -> None:
    clone.git("update-ref", "-d", REF)
    said = clone.verify("main", code=7)
    assert f"git fetch origin {FETCH}" in said
    assert "names no commit" in clone.verify("no-such-branch", code=2)


def test_a_commit_without_a_check_is_named_and_a_check_that_fails_on_main_too_is_marked(
    scratch: Scratch, home: Path
) -> None:
    known = "red_main: allow, verify: ['test -d .', 'test -e missing']"
    scratch.graph(f"  a: {{goal: x}}\n  b: {{goal: x, needs: [a], {known}}}\n")
    scratch.interlock("run")
    said = scratch.interlock("verify", "main~2..main", code=1)
    assert "untested: no check ran on it" in said
    assert "observed (red-on-main), 2 checks, 1 failed as on the base, unsigned, as the log says" in said
    assert "2 commits, 1 good, 1 problem" in said
    clone = Clone(scratch, home / "clone")
    assert set(clone.problems("main~2..main", "--allow-unsigned").values()) == {"untested"}


def test_a_check_with_inputs_names_the_files_that_it_could_see_and_if_it_was_reused(
    scratch: Scratch, home: Path
) -> None:
    for area in ("one", "two"):
        (scratch.root / area).mkdir()
        (scratch.root / area / "file").write_text("x\n")
    inputs = "[{run: ls one, inputs: [one/**]}, {run: ls two, inputs: [two/**]}]"
    scratch.graph("  a: {goal: x, touches: [one/**]}\n", "echo y > one/file", verify=inputs)
    scratch.interlock("run")
    clone = Clone(scratch, home / "clone")
    clone.verify("main", "--allow-unsigned")
    own = clone.statement("main")["predicate"]["interlock"]
    found = {check["command"]: (check["reused"], check["seen"]) for check in own["checks"]}
    ran = {
        check["command"]: (check.get("reused", False), {"gitTree": check["saw"]})
        for row in scratch.facts("CandidatePassed")
        for check in row["fact"]["checks"]
    }
    assert found == ran
    assert found["ls one"][0] is False and found["ls two"][0] is True
    assert own["tree"] not in [seen for _, seen in found.values()]


TWO = "  a: {goal: x}\n  b: {goal: x, needs: [a]}\n"


def lock(folder: Path) -> None:
    (folder / "interlock.lock").touch()


def spoil(folder: Path) -> None:
    (folder / "interlock").write_text("garbage\n")


@pytest.mark.parametrize("spoiled", [lock, spoil])
def test_notes_that_cannot_be_written_hold_no_landing_up(
    scratch: Scratch, home: Path, spoiled: Callable[[Path], None]
) -> None:
    scratch.graph(TWO, verify='["test -d ."]')
    notes = scratch.root / ".git/refs/notes"
    notes.mkdir(parents=True)
    spoiled(notes)
    assert "warning: no statement about the last landing yet" in scratch.interlock("run")
    assert set(scratch.states().values()) == {"done"}
    assert not scratch.facts("PhaseFailed", "PhaseDeferred", "TaskFailed")
    late = "no statement yet about 2 landed commits: git"
    assert late in scratch.interlock("status")
    assert late in scratch.interlock("doctor", "--no-checks", code=None)
    assert scratch.status()["statements"]["missing"] == 2
    shutil.rmtree(notes)
    scratch.interlock("run")
    assert "no statement" not in scratch.interlock("status")
    scratch.interlock("verify", "main~2..main")


def test_notes_that_are_deleted_during_a_run_are_written_again_by_the_next(
    scratch: Scratch, home: Path, gate: Path
) -> None:
    waits = f'[ "$INTERLOCK_TASK_ID" = a ] || {WAIT.format(gate=gate)}; echo x > "$INTERLOCK_TASK_ID"'
    scratch.graph(TWO, waits, verify='["test -d ."]')
    scratch.git("notes", "add", "-m", "mine", "HEAD")
    mine = scratch.git("rev-parse", "refs/notes/commits")
    run = scratch.start("run")
    run.wait_for_line("a: landed as")
    scratch.wait_for_output("b", "")
    scratch.git("update-ref", "-d", REF)
    gate.touch()
    assert run.wait() == 0
    scratch.interlock("run")
    scratch.interlock("verify", "main~2..main")
    assert scratch.git("rev-parse", "refs/notes/commits") == mine


def test_statements_are_pushed_with_what_they_are_about(scratch: Scratch, home: Path) -> None:
    scratch.write(interlock__toml='land = "push"\n')
    scratch.graph(TWO, verify='["test -d ."]')
    remote = Remote(scratch)
    refuse = remote.hook("update", "case $1 in refs/notes/*) echo no notes here >&2; exit 1; esac")
    said = scratch.interlock("run")
    assert set(scratch.states().values()) == {"done"}
    assert "warning: the statements are not pushed" in said
    assert remote.git("for-each-ref", REF) == ""
    refuse.unlink()
    scratch.interlock("run")
    assert remote.git("rev-parse", REF) == scratch.git("rev-parse", REF)


def test_statements_of_others_on_the_remote_are_kept(scratch: Scratch, home: Path) -> None:
    scratch.write(interlock__toml='land = "push"\n')
    scratch.graph(TWO, verify='["test -d ."]')
    remote = Remote(scratch)
    start = remote.git("rev-parse", "main")
    remote.colleague_git("notes", "--ref=interlock", "add", "-m", "theirs", start)
    remote.colleague_git("push", "-q", "origin", REF)
    assert "warning" not in scratch.interlock("run")
    assert remote.git("notes", "--ref=interlock", "show", start) == "theirs"
    assert len(remote.git("notes", "--ref=interlock", "list").splitlines()) == 3
    remote.git("merge-base", "--is-ancestor", remote.colleague_git("rev-parse", REF), REF)


def signer(home: Path, script: str) -> None:
    """Replace the program that signs."""
    program = home / "sign"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with (home / ".gitconfig").open("a") as file:
        file.write(f"program = {program}\n")


@pytest.mark.parametrize(
    ("script", "said"), [("exec sleep 600", "no result after 5 s"), ("echo no card >&2; exit 2", "no card")]
)
def test_a_signing_program_that_hangs_or_fails_holds_no_landing_up(
    scratch: Scratch, home: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    monkeypatch.setenv("INTERLOCK_STATEMENTS", "signed")
    signer(home, script)
    scratch.graph(TWO, verify='["test -d ."]')
    scratch.interlock("run")
    assert set(scratch.states().values()) == {"done"}
    assert not scratch.facts("PhaseFailed", "PhaseDeferred", "TaskFailed")
    assert said in scratch.interlock("status")
    signer(home, 'exec ssh-keygen "$@"')
    scratch.interlock("run")
    Clone(scratch, home / "clone").verify("main~2..main")


def test_a_kill_between_a_landing_and_its_statement_leaves_it_to_the_next_run(
    scratch: Scratch, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_STATEMENTS", "signed")
    signer(home, f"touch {home / 'began'}; exec sleep 600")
    scratch.graph(TWO, verify='["test -d ."]')
    run = scratch.start("run")
    run.wait_for_line("b: landed as")
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert (home / "began").exists()
    assert scratch.git("for-each-ref", REF) == ""
    signer(home, 'exec ssh-keygen "$@"')
    scratch.interlock("run")
    Clone(scratch, home / "clone").verify("main~2..main")


def test_statements_can_be_turned_off_in_your_own_settings_only(
    scratch: Scratch, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch.graph("  a: {goal: x}\n")
    scratch.write(interlock__toml='statements = "signed"\n')
    assert "a repository may not set" in scratch.interlock("run", code=2)
    (scratch.root / "interlock.toml").unlink()
    monkeypatch.setenv("INTERLOCK_STATEMENTS", "off")
    scratch.interlock("run")
    assert scratch.git("for-each-ref", REF) == ""


@pytest.mark.skipif(not shutil.which("gpg"), reason="gpg makes the key")
def test_a_statement_is_signed_with_gpg(scratch: Scratch, home: Path) -> None:
    (home / ".gnupg").mkdir(mode=0o700)
    (home / ".gitconfig").write_text(
        "[user]\nname = Ada\nemail = ada@example.invalid\nsigningkey = ada@example.invalid\n"
        "[commit]\ngpgsign = true\n"
    )
    words = ("--batch", "--passphrase", "", "--quick-gen-key", "Ada <ada@example.invalid>", "ed25519", "sign")
    subprocess.run(["gpg", *words], check=True, capture_output=True)
    try:
        scratch.graph("  a: {goal: x}\n", verify='["test -d ."]')
        scratch.interlock("run")
        clone = Clone(scratch, home / "clone")
        assert "signed by Ada <ada@example.invalid>" in clone.verify("main")
        commit = clone.git("rev-parse", "main")
        clone.edit(commit, lambda said: said["predicate"].update(result="WARNED"))
        assert clone.problems("main") == {commit: "edited"}
    finally:
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)
