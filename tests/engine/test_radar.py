"""Changes that conflict are seen while their agents still work, through the real command (D2, A17)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from interlock.git.files import remove_tree
from tests.agents.model_server.running import running_model
from tests.engine.scratch import INTERLOCK, WAIT, Background, Scratch

pytestmark = pytest.mark.slow

NUMBERS = "".join(f"{number}\n" for number in range(1, 41))
EDIT = 'sed -i "s/^20$/$INTERLOCK_TASK_ID/" numbers.txt'
TWO = "  a: {goal: A}\n  b: {goal: B}\n"
CONFLICT = "a and b: their changes conflict in numbers.txt"


@pytest.fixture(params=["overlay", "copies"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "copies":
        monkeypatch.setenv("INTERLOCK_SANDBOX", "landlock")
    return str(request.param)


def wait(scratch: Scratch, name: str) -> str:
    """For an agent: go on when the gate of this name is there."""
    return WAIT.format(gate=scratch.gates / name)


def opened(scratch: Scratch, *names: str) -> None:
    for name in names:
        (scratch.gates / name).touch()


def plan(scratch: Scratch, agent: str, tasks: str = TWO) -> None:
    scratch.write(numbers__txt=NUMBERS, __gitignore="build/\n*.log\n")
    scratch.graph(tasks, agent)


def radar(scratch: Scratch) -> dict[str, Any]:  # Any: parsed JSON
    found: dict[str, Any] = json.loads(scratch.read("radar", "--json"))
    return found


def overlaps(scratch: Scratch) -> list[list[object]]:
    """The facts about overlaps, in short."""
    rows = scratch.facts("OverlapSeen", "OverlapGone")
    return [[row["kind"], row["fact"]["task"], row["fact"]["other"]] for row in rows]


def test_two_agents_that_edit_the_same_lines_are_seen_at_work_and_no_more_when_one_takes_it_back(
    scratch: Scratch, kind: str
) -> None:
    agent = (
        f"mkdir build; echo $INTERLOCK_TASK_ID > build/out; echo $INTERLOCK_TASK_ID > x.log\n{EDIT}\n"
        f"{wait(scratch, 'seen')}\n"
        f'if [ "$INTERLOCK_TASK_ID" = b ]; then cp numbers.txt ../mine; sed -i "s/^b$/20/" numbers.txt\n'
        f"echo b > b.txt; fi\n{wait(scratch, 'gone')}"
    )
    plan(scratch, agent.replace("cp numbers.txt ../mine; ", ""))
    running = scratch.start("run", "--max-parallel", "2")
    running.wait_for_line(CONFLICT)
    seen = radar(scratch)
    assert [(each["task"], each["other"], each["paths"]) for each in seen["overlaps"]] == [
        ("a", "b", ["numbers.txt"])
    ], kind
    assert seen["tasks"] == [{"task": "a", "running": True}, {"task": "b", "running": True}]
    matrix = scratch.read("radar")
    assert [line.split() for line in matrix.splitlines()[:3]] == [
        ["main", "1", "2"],
        ["1", "a", ".", "-", "1"],
        ["2", "b", ".", "1", "-"],
    ]
    assert CONFLICT in matrix
    assert f"radar: {CONFLICT}" in scratch.read("status")
    assert "its change conflicts now with the change of a in numbers.txt" in scratch.read("explain", "b")
    opened(scratch, "seen")
    running.wait_for_line("a and b: their changes no longer conflict")
    assert radar(scratch)["overlaps"] == []
    opened(scratch, "gone")
    assert running.wait() == 0
    assert overlaps(scratch) == [["OverlapSeen", "a", "b"], ["OverlapGone", "a", "b"]]
    assert scratch.facts("PhaseFailed") == []


def test_a_change_that_conflicts_with_a_main_that_moved_is_seen_and_changes_elsewhere_are_not(
    scratch: Scratch,
) -> None:
    """The commit of the person is in the base of neither: only what an agent did itself counts as its own."""
    agent = (
        f'if [ "$INTERLOCK_TASK_ID" = a ]; then {EDIT}; else sed -i "s/^1$/one/" numbers.txt; fi\n'
        f"{wait(scratch, 'end')}\n"
        f'git show "$(cat {scratch.gates / "end"}):numbers.txt" > "$INTERLOCK_TASK_ID.txt"'
    )
    plan(scratch, agent)
    running = scratch.start("run", "--max-parallel", "2")
    running.wait_for_line("b: implement started")
    (scratch.root / "numbers.txt").write_text(NUMBERS.replace("\n20\n", "\ntwenty\n"))
    commit = scratch.commit("a person's change")
    running.wait_for_line("a: its change conflicts with main in numbers.txt")
    assert overlaps(scratch) == [["OverlapSeen", "a", ""]]
    (scratch.gates / "new").write_text(commit)
    (scratch.gates / "new").rename(scratch.gates / "end")
    running.wait()
    assert overlaps(scratch) == [["OverlapSeen", "a", ""]], "it is over with the attempt, without a fact"
    assert "twenty" in scratch.git("show", "main:b.txt"), "an agent can read the new main, as it is told"


def test_a_change_in_the_train_still_counts_until_it_has_landed(scratch: Scratch) -> None:
    agent = f'{EDIT}; if [ "$INTERLOCK_TASK_ID" = b ]; then {wait(scratch, "end")}; fi'
    done = f"grep -q ^a$ numbers.txt || exit 1; {wait(scratch, 'check')}"
    plan(scratch, agent, f"  a: {{goal: A, done_when: '{done}'}}\n  b: {{goal: B}}\n")
    running = scratch.start("run", "--max-parallel", "2")
    running.wait_for_line(CONFLICT)
    running.wait_for_line("a: change made")
    seen = radar(scratch)
    assert seen["tasks"] == [{"task": "a", "running": False}, {"task": "b", "running": True}]
    assert "waits in the train" in scratch.read("radar")
    opened(scratch, "check")
    running.wait_for_line("a: landed")
    running.wait_for_line("b: its change conflicts with main in numbers.txt")
    assert [(each["task"], each["other"]) for each in radar(scratch)["overlaps"]] == [("b", None)]
    opened(scratch, "end")
    running.wait()


HOSTILE = """
mkfifo numbers.txt.new; mv numbers.txt.new numbers.txt; mkfifo pipe .gitattributes .gitmodules
truncate -s 1T huge; ln -s /etc secrets; ln -s . loop; ln -s /dev/zero endless
printf '*\\n' > sub.ignore; mkdir -p sub; mkfifo sub/.gitignore; mkdir ':(exclude)'; echo x > ':(exclude)/:x'
git config filter.x.clean 'touch ../filtered'; git config core.fsmonitor 'touch ../watched'
"""
DEEP = "d=x; for n in $(seq 1000); do mkdir $d && cd $d; done"


def test_a_hostile_workspace_blocks_nothing_and_shows_nothing(scratch: Scratch, kind: str) -> None:
    agent = f"""
case $INTERLOCK_TASK_ID in
evil) {HOSTILE};;
deep) ({DEEP}); {EDIT}; {wait(scratch, "deep")};;
*) {EDIT}; mkdir secrets; echo $INTERLOCK_TASK_ID > secrets/passwd;;
esac
{wait(scratch, "end")}"""
    plan(scratch, agent, f"{TWO}  evil: {{goal: E, retries: 0}}\n  deep: {{goal: D, retries: 0}}\n")
    running = scratch.start("run", "--max-parallel", "4")
    running.wait_for_line("radar: the workspace of deep is not compared with others: its folders are more")
    running.wait_for_line("a and b: their changes conflict in numbers.txt, secrets/passwd")
    seen = [(each["task"], each["other"], each["paths"]) for each in radar(scratch)["overlaps"]]
    assert ("a", "b", ["numbers.txt", "secrets/passwd"]) in seen
    assert not any("deep" in pair for pair in seen), kind
    assert all(set(paths) <= {"numbers.txt", "secrets", "secrets/passwd"} for _, _, paths in seen), seen
    assert not (scratch.root.parent / "filtered").exists()
    assert not running.has_ended
    opened(scratch, "deep", "end")
    running.wait()
    remove_tree(scratch.root)  # pytest cannot: its own way to remove folders recurses


def test_a_git_that_is_killed_is_started_again(scratch: Scratch, tmp_path: Path) -> None:
    """The first two processes that merge are killed, as by a person or for want of memory."""
    programs, killed = tmp_path / "programs", tmp_path / "killed"
    programs.mkdir()
    (programs / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *merge-tree*--stdin*) echo x >> {killed}\n'
        f"[ $(wc -l < {killed}) -gt 2 ] || kill -9 $$;; esac\n"
        f'PATH="{os.environ["PATH"]}" exec git "$@"\n'
    )
    (programs / "git").chmod(0o755)
    plan(scratch, f"{EDIT}; {wait(scratch, 'end')}")
    env = scratch.env | {"PATH": f"{programs}:{os.environ['PATH']}"}
    running = Background([*INTERLOCK, "run", "--max-parallel", "2"], scratch.root, env)
    scratch.started.append(running)
    running.wait_for_line(CONFLICT)
    assert len(killed.read_text().splitlines()) > 2
    opened(scratch, "end")
    running.wait()


def test_the_workspace_keeps_no_trace_of_the_looks_and_the_scratch_folder_goes_with_the_run(
    scratch: Scratch,
) -> None:
    """The agent's own git runs all the time, and finds no lock of ours."""
    own = "git status -s && git add -A && git commit -qm $n --allow-empty"
    own = f"for n in $(seq 40); do {own} || exit 9; done"
    plan(scratch, f"{EDIT}; {own}; ls -A > list.txt; {wait(scratch, 'end')}")
    running = scratch.start("run", "--max-parallel", "2")
    running.wait_for_line("a and b: their changes conflict")
    assert (scratch.root / ".git/interlock/radar").exists()
    opened(scratch, "end")
    running.wait()
    assert not (scratch.root / ".git/interlock/radar").exists()
    assert scratch.git("show", "main:list.txt").split() == [
        ".git",
        ".gitignore",
        "agent.sh",
        "list.txt",
        "numbers.txt",
        "task-graph.yaml",
    ]


def test_the_setting_turns_it_off(scratch: Scratch) -> None:
    scratch.write(interlock__toml='radar = "off"\n')
    plan(scratch, f"{EDIT}; {wait(scratch, 'end')}")
    running = scratch.start("run", "--max-parallel", "2")
    running.wait_for_line("b: implement started")
    assert radar(scratch)["policy"] is None
    assert "the radar is off in this run" in scratch.interlock("radar")
    assert "--watch needs a terminal" in scratch.interlock("radar", "--watch", code=2)
    opened(scratch, "end")
    running.wait()
    assert overlaps(scratch) == []
    assert not (scratch.root / ".git/interlock/radar").exists()


def test_with_ask_an_overlap_waits_in_the_inbox(scratch: Scratch) -> None:
    scratch.write(interlock__toml='radar = "ask"\n')
    plan(scratch, f"{EDIT}; {wait(scratch, 'end')}")
    running = scratch.start("run", "--max-parallel", "2")
    running.wait_for_line(CONFLICT)
    (item,) = json.loads(scratch.read("inbox", "--json"))["items"]
    assert (item["kind"], item["text"]) == ("overlap", CONFLICT)
    following = scratch.start("radar", "--watch", "--json")
    following.wait_for_line('"other":"b","other_attempt":1,"paths":["numbers.txt"]')
    assert item["next"] == ['interlock say a "..."', "interlock cancel a", "interlock cancel b"]
    opened(scratch, "end")
    running.wait()


def test_with_tell_each_agent_hears_of_it_once(scratch: Scratch) -> None:
    scratch.write(interlock__toml='radar = "tell"\n', numbers__txt=NUMBERS)
    with running_model() as model:
        works = (
            {"op": "shell", "command": f"{EDIT}; {wait(scratch, 'end')}"},
            {"op": "say", "text": "All done."},
        )
        model.add_script("works", works)
        scratch.write(
            **{
                "task-graph__yaml": "version: 1\ndefaults: {agent: own, retries: 0}\n"
                f"agents: {{own: {{use: built-in, url: '{model.url('works')}', model: tiny}}}}\ntasks:\n{TWO}"
            }
        )
        scratch.commit()
        running = scratch.start("run", "--max-parallel", "2")
        running.wait_for_line(CONFLICT)
        following = scratch.start("events", "--follow", "--json")
        for task in ("a", "b"):
            following.wait_for_line(f'"kind":"MessageDelivered","fact":{{"task":"{task}"')
        opened(scratch, "end")
        running.wait()
        heard = [
            call.body.count("your changes conflict now in: numbers.txt") for call in model.calls("works")
        ]
    told = [(row["fact"]["task"], row["fact"]["attempt"]) for row in scratch.facts("MessageDelivered")]
    assert sorted(told)[:2] == [("a", 1), ("b", 1)]
    assert max(heard) == 1


ORDERED = """
case $INTERLOCK_TASK_ID in
first) echo first > first.txt;;
other) {first}; echo other > other.txt;;
a) {edit}; {seen}; {first};;
b) {edit}; {end};;
esac"""


@pytest.mark.parametrize("policy", ["order", "warn"])
def test_with_order_the_change_that_cost_more_lands_first_and_the_other_is_made_again(
    scratch: Scratch, policy: str
) -> None:
    """The checks of `first` hold up the train. Then `a` and `other` are finished, and `b` after them."""
    scratch.write(interlock__toml=f'radar = "{policy}"\nlane_depth = 1\n')
    agent = ORDERED.format(
        edit=f"grep -q ^20$ numbers.txt && {EDIT} || echo $INTERLOCK_TASK_ID >> numbers.txt",
        seen=wait(scratch, "seen"),
        first=wait(scratch, "first"),
        end=wait(scratch, "end"),
    )
    held = f"  first: {{goal: F, done_when: 'test -e first.txt || exit 1; {wait(scratch, 'check')}'}}\n"
    plan(scratch, agent, f"{held}{TWO}  other: {{goal: O}}\n")
    running = scratch.start("run", "--max-parallel", "4")
    running.wait_for_line(CONFLICT)
    opened(scratch, "seen")
    running.wait_for_line("first: change made")
    opened(scratch, "first")
    running.wait_for_line("a: change made")
    running.wait_for_line("other: change made")
    opened(scratch, "end")
    running.wait_for_line("b: change made")
    moved = "behind b in the queue: their changes conflict, and more was spent on b"
    if policy == "order":
        running.wait_for_line(f"a: moved {moved}")
        assert f"moved {moved}" in scratch.read("explain", "a")
    places = [row["task"] for row in json.loads(scratch.read("queue", "ls", "--json"))["queue"]]
    opened(scratch, "check")
    assert running.wait() == 0
    landed = [row["fact"]["task"] for row in scratch.facts("Landed")]
    again = [row["fact"]["task"] for row in scratch.facts("PhaseFailed")]
    assert scratch.states() == dict.fromkeys(("first", "a", "b", "other"), "done")
    if policy == "order":
        assert [name for name in places if name != "other"] == ["first", "b", "a"]
        assert again == ["a"], "it was made again on top of the change that cost more"
        assert landed.index("b") < landed.index("a")
    else:
        assert [name for name in places if name != "other"] == ["first", "a", "b"]
        assert again == ["b"]
        assert landed.index("a") < landed.index("b")
    assert scratch.git("show", "main:numbers.txt").split().count("a") == 1
    assert scratch.git("show", "main:numbers.txt").split().count("b") == 1
