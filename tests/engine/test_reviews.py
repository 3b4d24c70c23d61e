"""A tested change waits for a person before it lands, through the real command. A14."""

import json
import os
import pty
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import interlock
from tests.engine.scratch import INTERLOCK, WAIT, Scratch
from tests.engine.test_statements import at_home, make_home
from tests.ui.serving import serving

pytestmark = pytest.mark.slow

MAKES = 'echo "$INTERLOCK_ATTEMPT" > "$INTERLOCK_TASK_ID.txt"'
REQUIRED = "  a: {goal: Make a, review: required}\n"


def reviews(scratch: Scratch) -> dict[str, Any]:  # Any: parsed JSON
    found: list[dict[str, Any]] = json.loads(scratch.read("review", "--json"))["reviews"]
    return {each["task"]: each for each in found}


def test_a_change_waits_for_approval_and_others_land_past_it(scratch: Scratch) -> None:
    tasks = REQUIRED + "  b: {goal: Make b, review: required}\n  c: {goal: Make c}\n"
    scratch.graph(tasks, MAKES, verify="'test -n x'")
    out = scratch.interlock("run", code=6)
    assert (
        "a: waits for review: a person approves its change before it lands. Next: interlock review a" in out
    )
    assert scratch.states() == {"a": "waiting", "b": "waiting", "c": "done"}
    items = json.loads(scratch.read("inbox", "--json"))["items"]
    assert {(item["kind"], item["task"], item["next"][1]) for item in items} == {
        ("review", name, f"interlock approve {name}") for name in ("a", "b")
    }
    assert "in-review" in scratch.read("queue")
    assert "a is waiting: waits for review" in scratch.read("explain", "a")
    assert "interlock reject a" in scratch.interlock("retry", "a", code=2)
    assert "next: interlock run" in scratch.interlock("approve", "a")
    assert "has approved a already" in scratch.interlock("approve", "a", code=2)
    scratch.interlock("run", code=6)
    assert scratch.states() == {"a": "done", "b": "waiting", "c": "done"}
    assert len(scratch.facts("WorkFinished")) == 3
    scratch.interlock("approve", "--all")
    scratch.interlock("run")
    assert scratch.git("show", "main:b.txt") == "1"
    assert "no change waits for review" in scratch.interlock("approve", "--all", code=2)


def test_a_rejected_change_goes_back_to_its_agent_with_the_comments(scratch: Scratch) -> None:
    agent = 'printf "one\\ntwo\\n$INTERLOCK_ATTEMPT\\n" > a.txt; cp "$INTERLOCK_PROMPT_FILE" prompt.txt'
    scratch.graph("  a: {goal: Make a, review: required, retries: 0}\n", agent, verify="'test -n x'")
    scratch.interlock("run", code=6)
    assert "+two" in scratch.interlock("review", "a")
    assert "no line 9" in scratch.interlock("comment", "a", "a.txt:9", "what?", code=2)
    assert "no text in a file b.txt" in scratch.interlock("comment", "a", "b.txt:1", "what?", code=2)
    scratch.interlock("comment", "a", "a.txt:2", "say", "three")
    assert "say three" in scratch.interlock("review", "a")
    assert reviews(scratch)["a"]["comments"][0]["line"] == 2
    scratch.interlock("reject", "a", "-m", "one word is wrong")
    scratch.interlock("run", code=6)
    scratch.interlock("approve", "a", "-m", "good")
    scratch.interlock("run")
    prompt = scratch.git("show", "main:prompt.txt")
    assert "one word is wrong" in prompt
    assert "a.txt, line 2, as the change leaves it:" in prompt
    assert ">     2  two" in prompt
    assert "say three" in prompt
    assert scratch.facts("PhaseFailed", "TaskFailed") == []


def test_an_approval_lands_the_change_in_the_run_that_goes_on(scratch: Scratch, gate: Path) -> None:
    agent = f'[ "$INTERLOCK_TASK_ID" = a ] || {WAIT.format(gate=gate)}; {MAKES}'
    scratch.graph(REQUIRED + "  b: {goal: Make b}\n", agent, verify="'test -n x'")
    run = scratch.start("run")
    run.wait_for_line("a: waits for review")
    assert "the active run takes it up" in scratch.interlock("approve", "a")
    run.wait_for_line("a: landed as")
    gate.touch()
    assert run.wait() == 0


def test_a_run_that_is_killed_after_the_approval_lands_the_change_in_the_next(
    scratch: Scratch, gate: Path
) -> None:
    agent = f'[ "$INTERLOCK_TASK_ID" = a ] || {WAIT.format(gate=gate)}; {MAKES}'
    scratch.graph(REQUIRED + "  b: {goal: Make b}\n", agent, verify="'test -n x'")
    run = scratch.start("run")
    run.wait_for_line("a: waits for review")
    scratch.interlock("pause", "a")  # it must not land before the kill
    scratch.interlock("approve", "a")
    run.close()  # as a kill ends it
    gate.touch()
    assert scratch.states()["a"] == "waiting"
    scratch.interlock("unpause", "a")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}
    assert len(scratch.facts("ReviewOpened")) == len(scratch.facts("ReviewApproved")) == 1


def test_an_approval_holds_when_main_moves_and_not_when_the_change_is_altered(scratch: Scratch) -> None:
    scratch.write(list__txt="one\n\n\n\ntwo\n")
    agent = 'sed -i "s/two/two and $INTERLOCK_ATTEMPT/" list.txt'
    scratch.graph(REQUIRED, agent, verify="'test -n x'")
    scratch.interlock("run", code=6)
    first = reviews(scratch)["a"]
    scratch.interlock("approve", "a")
    scratch.write(list__txt="zero\none\n\n\n\ntwo\n")
    scratch.commit("move the lines of the change")
    scratch.interlock("run")
    assert len(scratch.facts("ReviewOpened")) == 1
    assert scratch.git("show", "main:list.txt").splitlines()[-1] == "two and 1"
    landed = scratch.facts("Landed")[-1]["fact"]
    assert landed["commit"] != first["commit"]

    scratch.graph(REQUIRED + "  b: {goal: Make b, review: required}\n", agent, verify="'test -n x'")
    scratch.interlock("run", code=6)
    scratch.interlock("approve", "b")
    scratch.write(list__txt="zero\none\n\n\n\ntwo is another\n")
    scratch.commit("edit the same line")
    scratch.interlock("run", code=6)  # it conflicts, its agent makes another change, and that waits again
    assert [row["fact"]["task"] for row in scratch.facts("ReviewOpened")] == ["a", "b", "b"]
    assert scratch.git("show", "main:list.txt").splitlines()[-1] == "two is another"
    assert "is another one now" in scratch.interlock("approve", "b", "--change", first["digest"], code=2)
    scratch.interlock("approve", "b", "--change", reviews(scratch)["b"]["digest"])
    scratch.interlock("run")
    assert scratch.git("show", "main:list.txt").splitlines()[-1] == "two and 2 is another"


def test_auto_asks_for_what_is_large_reserved_or_not_verified(scratch: Scratch) -> None:
    (scratch.root / "docs").mkdir()
    (scratch.root / "docs" / "start.txt").write_text("x\n")
    scratch.write(start__txt="x\n")
    scratch.write(interlock__toml='review = "auto"\nreview_lines = 3\nreview_files = ["docs/**"]\n')
    agent = (
        'case "$INTERLOCK_TASK_ID" in large) seq 9 > large.txt;; docs) echo x > docs/x.txt;;'
        ' *) echo x > "$INTERLOCK_TASK_ID.txt";; esac'
    )
    names = ("small", "large", "docs", "bare")
    tasks = "".join(f"  {name}: {{goal: x}}\n" for name in names).replace(
        "bare: {goal: x}", "bare: {goal: x, verify: []}"
    )
    scratch.graph(tasks, agent, verify='"cat *.txt docs/*.txt"')
    scratch.interlock("run", code=6)
    assert scratch.states() == {"small": "done", "large": "waiting", "docs": "waiting", "bare": "waiting"}
    why = {name: each["reason"]["code"] for name, each in reviews(scratch).items()}
    assert why == {"large": "review-large", "docs": "review-file", "bare": "review-unverified"}
    assert "it adds and removes 9 lines, more than 3" in scratch.read("explain", "large")
    assert "landed without a review: verified" in scratch.read("explain", "small")
    scratch.interlock("run", "--review", "none")  # the word of the run comes first
    assert set(scratch.states().values()) == {"done"}


@pytest.mark.thorough
def test_the_category_decides_where_the_task_does_not(scratch: Scratch) -> None:
    scratch.write(interlock__toml='review = "required"\nreview_by_category = {docs = "none"}\n')
    tasks = (
        "  a: {goal: x, category: docs}\n  b: {goal: x, category: docs, review: required}\n  c: {goal: x}\n"
    )
    scratch.graph(tasks, MAKES, verify="'test -n x'")
    scratch.interlock("run", code=6)
    assert scratch.states() == {"a": "done", "b": "waiting", "c": "waiting"}


@pytest.mark.sandbox
def test_an_agent_cannot_approve_its_change(scratch: Scratch) -> None:
    """Neither in its own environment, nor in one that it has cleaned: the log is not in its sandbox."""
    shutil.copytree(Path(interlock.__file__).parent, scratch.gates / "interlock")
    approve = " ".join(map(shlex.quote, (*INTERLOCK, "approve", "a")))
    agent = (
        f"export PYTHONPATH={shlex.quote(str(scratch.gates))}; {MAKES}; "
        '[ "$INTERLOCK_TASK_ID" = b ] || exit 0; '
        f"{approve} > own.txt 2>&1; echo $? >> own.txt; "
        f"env -u INTERLOCK_TASK_ID {approve} > clean.txt 2>&1; echo $? >> clean.txt"
    )
    scratch.graph(REQUIRED + "  b: {goal: Make b}\n", agent, verify="'test -n x'")
    scratch.interlock("run", "--only", "a", code=6)
    scratch.interlock("run", code=6)
    own, clean = (scratch.git("show", f"main:{name}.txt") for name in ("own", "clean"))
    assert "INTERLOCK_TASK_ID says that an agent asks" in own and own.endswith("3")
    assert "there is no task `a`" in clean and clean.endswith("2")
    assert scratch.states() == {"a": "waiting", "b": "done"}
    assert scratch.facts("ReviewApproved") == []


def test_an_agents_environment_is_refused(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch.graph(REQUIRED, MAKES, verify="'test -n x'")
    scratch.interlock("run", code=6)
    monkeypatch.setenv("INTERLOCK_TASK_ID", "a")
    for words in (("approve", "a"), ("reject", "a", "-m", "no"), ("comment", "a", "a.txt:1", "no")):
        assert "only a person may decide this" in scratch.interlock(*words, code=3)
    assert scratch.facts("ReviewApproved", "ReviewRejected", "ReviewCommented") == []


def test_the_statement_names_who_approved(
    scratch: Scratch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_home(tmp_path / "home", "key", signs=False)
    at_home(tmp_path / "home", monkeypatch)
    scratch.graph(REQUIRED, MAKES, verify="'test -n x'")
    scratch.interlock("run", code=6)
    monkeypatch.setenv("USER", "grace")
    scratch.interlock("approve", "a")
    scratch.write(readme__txt="main moves")
    scratch.commit("main moves, and the approval stays")
    scratch.interlock("run")
    assert "approved by grace" in scratch.interlock("verify", "main")
    assert "approved by grace" in scratch.read("show", "a")
    (commit,) = json.loads(scratch.interlock("verify", "main", "--json"))["commits"]
    (change,) = commit["statement"]["predicate"]["interlock"]["changes"]
    assert change["reviewedBy"] == ["grace"]


@pytest.mark.thorough
def test_a_change_is_reviewed_over_the_api_as_by_the_commands(scratch: Scratch) -> None:
    scratch.graph(REQUIRED, 'printf "one\\ntwo\\n" > a.txt', verify="'test -n x'")
    scratch.interlock("run", code=6)
    with serving(scratch.root) as server:
        remark = {"task": "a", "path": "a.txt", "line": 2, "text": "three?"}
        assert server.post("/api/actions/comment", **remark).status == 200
        shown = server.get("/api/tasks/a/review")
        assert shown == {**json.loads(scratch.read("review", "a", "--json")), "time": shown["time"]}
        assert (shown["waits"], shown["review"]["comments"][0]["text"]) == (True, "three?")
        assert server.post("/api/actions/approve", tasks=["a"], change="0" * 64).status == 409
        answer = server.post("/api/actions/reject", task="a", note="no")
        assert (answer.status, answer.json["cli"]) == (200, "interlock reject a -m no")
        assert server.post("/api/actions/approve", tasks=["a"]).status == 409
    scratch.interlock("run", code=6)
    with serving(scratch.root) as server:
        digest = server.get("/api/tasks/a/review")["review"]["digest"]
        assert server.post("/api/actions/approve", tasks=["a"], change=digest).status == 200
    scratch.interlock("run")


@pytest.mark.thorough
def test_an_undo_needs_no_review_and_a_held_change_waits_after_its_approval(scratch: Scratch) -> None:
    scratch.write(interlock__toml='review = "required"\n')
    scratch.graph("  a: {goal: Make a}\n", MAKES, verify="'test -n x'")
    scratch.interlock("run", code=6)
    scratch.interlock("queue", "hold", "a")
    scratch.interlock("approve", "a")
    assert "a person paused this task" in scratch.read("explain", "a")
    scratch.interlock("queue", "release", "a")
    scratch.interlock("run")
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)
    assert scratch.states() == {"a": "cancelled", "undo-a": "done"}
    scratch.interlock("retry", "a")
    scratch.interlock("run", code=6)  # another attempt is another change
    scratch.interlock("cancel", "a")
    assert scratch.read("review") == "no change waits for review\n"
    assert "a does not wait for review" in scratch.interlock("approve", "a", code=2)


def test_a_task_that_no_longer_asks_for_a_review_lands(scratch: Scratch) -> None:
    scratch.graph(REQUIRED, MAKES, verify="'test -n x'")
    scratch.interlock("run", code=6)
    scratch.graph("  a: {goal: Make a}\n", MAKES, verify="'test -n x'")
    scratch.interlock("run")
    assert len(scratch.facts("WorkFinished")) == 1


@pytest.mark.thorough
def test_a_change_opens_in_the_pager_of_git_on_a_terminal(scratch: Scratch) -> None:
    scratch.graph(REQUIRED, MAKES, verify="'test -n x'")
    scratch.interlock("run", code=6)
    scratch.git("config", "core.pager", "cat > paged")
    ours, terminal = pty.openpty()
    with os.fdopen(ours, "rb"), os.fdopen(terminal, "wb") as out:
        subprocess.run([*INTERLOCK, "review", "a"], cwd=scratch.root, env=scratch.env, stdout=out, check=True)
    paged = (scratch.root / "paged").read_text()
    assert "waits for review" in paged and "+1" in paged and "interlock approve a" in paged
