"""A `gh` that keeps its pull requests in a JSON file, with the flags, fields and errors of the real one.

It looks at the bare repository for what GitHub computes from commits: if a branch exists, or can be merged.
`FAKE_GH_STATE` names the file and `FAKE_GH_BARE` the repository. Only the standard library.
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

FLAGS = {
    ("pr", "list"): ("--head", "--base", "--state", "--json", "--limit"),
    ("pr", "create"): ("--head", "--base", "--title", "--body-file", "--label"),
    ("pr", "edit"): ("--title", "--body-file", "--add-label"),
    ("pr", "view"): ("--json",),
    ("pr", "merge"): ("--auto", "--merge", "--squash", "--match-head-commit"),
}
SWITCHES = ("--auto", "--merge", "--squash")
FIELDS = (
    *("number", "url", "state", "isDraft", "mergeable", "mergeStateStatus", "mergeCommit", "reviews"),
    *("latestReviews", "reviewDecision", "statusCheckRollup", "headRefOid", "headRefName", "baseRefName"),
    *("title", "body", "labels"),
)


class Trouble(Exception):
    """Printed as the real one prints it."""


def git(*argv: str, ok: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    identity = ("-c", "user.name=GitHub", "-c", "user.email=noreply@localhost")
    done = subprocess.run(
        ["git", *identity, *argv],
        cwd=os.environ["FAKE_GH_BARE"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in ok:
        raise Trouble(done.stderr)
    return done


class Pulls:
    """The pull requests. Nobody else reads or changes them until they are saved."""

    def __init__(self) -> None:
        self.file = Path(os.environ["FAKE_GH_STATE"])
        self.lock = Path(f"{self.file}.lock").open("w")  # noqa: SIM115 - closed by `save`
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.state: dict[str, Any] = json.loads(self.file.read_text())

    def save(self) -> None:
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps(self.state, indent=1))
        fresh.replace(self.file)
        self.lock.close()

    def get(self, number: str) -> dict[str, Any]:
        if found := self.state["pulls"].get(number):
            return dict(found)
        raise Trouble(
            f"GraphQL: Could not resolve to a PullRequest with the number of {number}. "
            "(repository.pullRequest)"
        )

    def shown(self, pull: dict[str, Any]) -> dict[str, Any]:
        """With what is computed from the commits."""
        head = git(
            "rev-parse", "--verify", "-q", f"refs/heads/{pull['headRefName']}", ok=(0, 1)
        ).stdout.strip()
        oid = head or pull["headRefOid"]
        merge = git(
            "merge-tree", "--write-tree", f"refs/heads/{pull['baseRefName']}", oid, ok=(0, 1)
        ).returncode
        mergeable = "UNKNOWN" if pull["state"] != "OPEN" else "CONFLICTING" if merge else "MERGEABLE"
        asked = [r for r in pull["reviews"] if r["state"] == "CHANGES_REQUESTED"]
        blocked = "DIRTY" if merge else "DRAFT" if pull["isDraft"] else "BLOCKED" if asked else "CLEAN"
        status = "UNKNOWN" if pull["state"] != "OPEN" else pull.get("mergeStateStatus") or blocked
        return {
            **pull,
            "headRefOid": oid,
            "mergeable": mergeable,
            "mergeStateStatus": status,
            "reviewDecision": "",
        }


def parsed(words: list[str], allowed: tuple[str, ...]) -> tuple[list[str], dict[str, list[str]]]:
    plain: list[str] = []
    flags: dict[str, list[str]] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            plain.append(word)
        elif word not in allowed:
            raise Trouble(f"unknown flag: {word}")
        else:
            flags.setdefault(word, []).append("" if word in SWITCHES else next(rest))
    return plain, flags


def fields(pull: dict[str, Any], flags: dict[str, list[str]]) -> dict[str, Any]:
    names = flags["--json"][0].split(",")
    if unknown := [name for name in names if name not in FIELDS]:
        raise Trouble(f'Unknown JSON field: "{unknown[0]}"')
    return {name: pull[name] for name in names}


def list_pulls(pulls: Pulls, _: list[str], flags: dict[str, list[str]]) -> str:
    wanted = {"headRefName": flags.get("--head"), "baseRefName": flags.get("--base")}
    found = [
        pull
        for pull in pulls.state["pulls"].values()
        if all(value is None or pull[key] == value[0] for key, value in wanted.items())
        and (flags.get("--state", ["open"])[0] in ("all", pull["state"].lower()))
    ]
    return json.dumps([fields(pulls.shown(pull), flags) for pull in found])


def create(pulls: Pulls, _: list[str], flags: dict[str, list[str]]) -> str:
    head, base = flags["--head"][0], flags["--base"][0]
    oid = git("rev-parse", "--verify", "-q", f"refs/heads/{head}", ok=(0, 1)).stdout.strip()
    if not oid:
        raise Trouble(
            "pull request create failed: GraphQL: Head sha can't be blank, Head ref must be a branch"
        )
    if known := [
        p for p in pulls.state["pulls"].values() if p["headRefName"] == head and p["state"] == "OPEN"
    ]:
        raise Trouble(
            f'a pull request for branch "{head}" into branch "{base}" already exists:\n{known[0]["url"]}'
        )
    labels = flags.get("--label", [])
    if missing := [label for label in labels if label not in pulls.state["labels"]]:
        raise Trouble(f"could not add label: '{missing[0]}' not found")
    number = 1 + max([11, *map(int, pulls.state["pulls"])])
    url = f"https://github.example/owner/project/pull/{number}"
    pulls.state["pulls"][str(number)] = {
        "number": number,
        "url": url,
        "state": "OPEN",
        "isDraft": False,
        "headRefName": head,
        "baseRefName": base,
        "headRefOid": oid,
        "title": flags["--title"][0],
        "body": Path(flags["--body-file"][0]).read_text(),
        "labels": [{"name": label} for label in labels],
        "mergeCommit": None,
        "reviews": [],
        "latestReviews": [],
        "statusCheckRollup": [],
        "comments": [],
        "auto": False,
    }
    return url


def edit(pulls: Pulls, words: list[str], flags: dict[str, list[str]]) -> str:
    pull = pulls.get(words[0])
    pull |= {"title": flags["--title"][0], "body": Path(flags["--body-file"][0]).read_text()}
    pulls.state["pulls"][words[0]] = pull
    return str(pull["url"])


def view(pulls: Pulls, words: list[str], flags: dict[str, list[str]]) -> str:
    if checkout := pulls.state.pop("pulled_into", ""):  # somebody merges it and pulls, just now
        merge_now(pulls, words[0], "merge")
        for _ in range(20):  # Interlock may be fetching into the same ref
            if not subprocess.run(["git", "pull", "-q", "--ff-only"], cwd=checkout, check=False).returncode:
                break
    return json.dumps(fields(pulls.shown(pulls.get(words[0])), flags))


def merge(pulls: Pulls, words: list[str], flags: dict[str, list[str]]) -> str:
    pull = pulls.shown(pulls.get(words[0]))
    if (wanted := flags.get("--match-head-commit")) and wanted[0] != pull["headRefOid"]:
        raise Trouble("GraphQL: Head branch was modified. Review and try the merge again. (mergePullRequest)")
    if pull["mergeStateStatus"] == "CLEAN" and not pulls.state["required"]:
        return merge_now(pulls, words[0], "squash" if "--squash" in flags else "merge")
    if "--auto" not in flags:
        raise Trouble(
            f"X Pull request owner/project#{words[0]} is not mergeable: "
            "the base branch policy prohibits the merge."
        )
    if not pulls.state["auto_merge"]:
        raise Trouble("GraphQL: Auto merge is not allowed for this repository (enablePullRequestAutoMerge)")
    pulls.state["pulls"][words[0]]["auto"] = True
    return ""


def merge_now(pulls: Pulls, number: str, how: str) -> str:
    """What the button on the page does."""
    pull = pulls.shown(pulls.get(number))
    base, oid = f"refs/heads/{pull['baseRefName']}", pull["headRefOid"]
    old = git("rev-parse", base).stdout.strip()
    tree = git("merge-tree", "--write-tree", old, oid).stdout.splitlines()[0]
    parents = ["-p", old, "-p", oid] if how == "merge" else ["-p", old]
    commit = git("commit-tree", tree, *parents, "-m", f"{pull['title']} (#{number})").stdout.strip()
    git("update-ref", base, commit, old)
    pulls.state["pulls"][number] |= {"state": "MERGED", "mergeCommit": {"oid": commit}, "headRefOid": oid}
    return commit


def api(pulls: Pulls, words: list[str]) -> str:
    found = re.fullmatch(r"repos/\{owner\}/\{repo\}/pulls/(\d+)/comments\?per_page=100", words[0])
    if not found:
        raise Trouble("HTTP 404: Not Found")
    return json.dumps(pulls.get(found[1])["comments"])


COMMANDS = {"list": list_pulls, "create": create, "edit": edit, "view": view, "merge": merge}


def main(words: list[str]) -> int:
    pulls = Pulls()
    with Path(f"{pulls.file}.calls").open("a") as calls:
        calls.write(json.dumps(words) + "\n")
    try:
        if pulls.state["down"]:
            raise Trouble("error connecting to api.github.example\ncheck your internet connection")
        if words[0] == "api":
            said = api(pulls, words[1:])
        else:
            said = COMMANDS[words[1]](pulls, *parsed(words[2:], FLAGS[words[0], words[1]]))
    except Trouble as trouble:
        sys.stderr.write(f"{trouble}\n")
        return 1
    said = pulls.state.get("odd", {}).get(words[1], said)
    kill = words[:2] == pulls.state["kill_after"]
    pulls.state["kill_after"] = [] if kill else pulls.state["kill_after"]
    pulls.save()
    if kill:  # what started it dies, before it reads what is printed
        os.kill(os.getppid(), signal.SIGKILL)
    sys.stdout.write(f"{said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
