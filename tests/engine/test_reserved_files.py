"""No agent changes what steers Interlock, or what the next agent is shown; through the real command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.engine.reserved import names_in
from tests.engine.scratch import Scratch
from tests.tiers import rest_at_night

pytestmark = pytest.mark.slow


def said_by(scratch: Scratch, task: str) -> str:
    return (scratch.root / ".git/interlock/logs" / task / "1.log").read_text()


OWN = {
    "include": (".worktreeinclude", ".env"),
    "settings": ("Interlock.TOML", "branch = 1"),
    "graph": ("TASK-graph.yaml", "version: 1"),
    "table": ("pyproject.toml", "[tool.interlock]\nbranch = 1"),
    "key": ("pyproject.toml", "[tool]\ninterlock.nosuchkey = 1"),
    "word": ("pyproject.toml", 'tool = "x"'),
    "broken": ("pyproject.toml", "tool = ["),
    "case": ("PyProject.toml", "[tool.interlock]\nbranch = 1"),
}


def test_what_steers_interlock_goes_back_to_the_agent(scratch: Scratch) -> None:
    """The next attempt is told the reason; what it leaves as it was, lands."""
    told = 'grep -q "controls what agents may do" "$INTERLOCK_PROMPT_FILE"'
    writes = "".join(f"{task}) echo '{text}' > {name};;\n" for task, (name, text) in OWN.items())
    agent = f'{told} || case "$INTERLOCK_TASK_ID" in\n{writes}esac\necho done > "$INTERLOCK_TASK_ID.txt"'
    scratch.graph("".join(f"  {task}: {{goal: x}}\n" for task in OWN), agent)
    before = scratch.git("rev-parse", "main")
    scratch.interlock("run")
    changed = scratch.git("diff", "--name-only", before, "main").splitlines()
    assert sorted(changed) == sorted(f"{task}.txt" for task in OWN)
    failures = {row["fact"]["task"]: row["fact"] for row in scratch.facts("PhaseFailed")}
    assert [
        task for task, (name, _) in OWN.items() if name not in failures[task]["why"]["fields"]["paths"]
    ] == []
    assert {failure["error"] for failure in failures.values()} == {"denied"}


STEERING = (
    *(".claude/settings.json", ".claude/hooks/x.sh", ".CLAUDE/Settings.local.json", "sub/.mcp.json"),
    *(".codex/config.toml", ".gemini/settings.json", "opencode.json", ".vscode/tasks.json", ".lfsconfig"),
    *("inter\u200clock.toml", "task-graph.yaml.", ".githooks/post-checkout", "notify.sh"),
    *(".vscode/settings.json", ".devcontainer/devcontainer.json", "tools/ext", ".gitconfig"),
    *(".pre-commit-config.yaml", "lefthook.yml", "lefthook-local.yml", ".lefthook.toml", ".husky/pre-commit"),
    *(".lintstagedrc.json", ".overcommit.yml", ".devcontainer.json", "shop.code-workspace"),
    *("mise.local.toml", ".mise/config.toml", ".config/mise.toml", ".Rprofile", ".helix/languages.toml"),
    *("web/.claude", "web/.vscode", "web/.mise", "web/.config/mise", "api/.config"),  # links to other folders
    *(".github/hooks/h.json", ".clinerules/hooks/TaskStart", ".windsurf/hooks.json", ".factory/mcp.json"),
    *(".continue/mcpServers/x.yaml", ".amazonq/mcp.json", ".kilocode/mcp.json", ".junie/mcp/mcp.json"),
    *(".trae/mcp.json", ".iex.exs", ".ghci", ".octaverc", ".Renviron", ".pdbrc", "web/.github"),
    *(
        "absent/hook.sh",
        "cddir/there.sh",
        "strip.py",
        "drive.sh",
        "tools/trailer.sh",
        "tools/paint.sh",
        *("attrs/a", "kit/text.py", "kit/__init__.py"),
    ),
    *(".idea/startup.xml", ".idea/runConfigurations/x.xml", "web/.husky/pre-push"),
)
HOOKS = """[hooks]
SessionEnd = ["sh notify.sh", "test ! -f absent/hook.sh || sh absent/hook.sh", "cd cddir; sh ./there.sh"]
"""
GIT_STARTS = {
    "diff.external": "./tools/ext --fast",
    "include.path": "../.gitconfig",
    "filter.nb.clean": "python3 strip.py",
    "merge.ours.driver": 'sh -c "sh drive.sh %A"',
    "diff.nb.textconv": "PYTHONPATH=. python3 -m kit.text",
    "alias.readme": "!cat README.md",
    "core.autocrlf": "input",
    "trailer.x.cmd": "!tools/trailer.sh",
    "interactive.diffFilter": "$(git rev-parse --show-toplevel)/tools/paint.sh",
    "core.attributesFile": "attrs/a",
}
HARMLESS = (
    *("AGENTS.md", ".claude/commands/x.md", "docs/.gitattributes", ".vscode/extensions.json"),
    *(".editorconfig", "commitlint.config.js", "mise/table.toml", "docs/lefthook.md", "README.md", "input"),
)


def lines(names: tuple[str, ...]) -> str:
    return "".join(f"{name}\n" for name in names)


def test_what_steers_the_host_or_the_next_agent_goes_back(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Settings of agent programs and editors, programs of git, files that the person's hooks run."""
    own = tmp_path / "config" / "interlock" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(HOOKS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    scratch.git("config", "core.hooksPath", ".githooks")
    for setting, value in GIT_STARTS.items():
        scratch.git("config", setting, value)
    scratch.write(notify__sh="true\n", writes__txt=lines(STEERING), harmless__txt=lines(HARMLESS))
    make = 'while read -r f; do mkdir -p "$(dirname "$f")"; echo "* text" > "$f"; done <'
    told = 'grep -q "controls what agents may do" "$INTERLOCK_PROMPT_FILE"'
    agent = (
        f"{told} || {{ {make} writes.txt; echo '*.bin filter=lfs' > .gitattributes; }}; {make} harmless.txt"
    )
    scratch.graph("  t: {goal: t}\n", agent)
    scratch.interlock("run")
    (failure,) = scratch.facts("PhaseFailed")
    said = failure["reason"]["paths"]
    assert [name for name in (*STEERING, ".gitattributes") if name not in said] == []
    assert [name for name in HARMLESS if name in said] == []
    assert sorted(scratch.git("diff", "--name-only", "main~1", "main").splitlines()) == sorted(HARMLESS)


def test_nothing_is_planted_where_interlock_looks_for_programs_and_modules(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `PATH_add bin`, Interlock would start the agent's `unshare` outside the sandbox."""
    (scratch.root.parent / "other name").symlink_to(scratch.root)
    monkeypatch.setenv("PATH", f"./tools:{scratch.root.parent}/other name/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", "src")
    scratch.git("config", "filter.nb.clean", "strip-it --all")
    planted = ("bin/unshare", "tools/git", "bin/strip-it", "src/sitecustomize.py")
    write = "".join(f"echo x > {name}\n" for name in (*planted, "bin/own", "src/own.py"))
    scratch.graph("  t: {goal: t, retries: 0}\n", f"mkdir -p bin tools src\n{write}")
    scratch.interlock("run", code=1)
    (failure,) = scratch.facts("PhaseFailed")
    assert sorted(failure["reason"]["paths"]) == sorted(planted)


def test_settings_of_the_user_that_are_links_into_the_repository_are_reserved(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A repository of dotfiles."""
    (scratch.root / "config").mkdir()
    (scratch.root / "config" / "config.toml").touch()
    scratch.write(gitconfig="[core]\n\tpager = cat\n")
    (tmp_path / "xdg").mkdir()
    (tmp_path / "xdg" / "interlock").symlink_to(scratch.root / "config")
    (tmp_path / "gitconfig").symlink_to(scratch.root / "gitconfig")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    write = "for f in gitconfig config/config.toml own.txt; do echo >> $f; done"
    scratch.graph("  t: {goal: t, retries: 0}\n", write)
    scratch.interlock("run", code=1)
    (failure,) = scratch.facts("PhaseFailed")
    assert sorted(failure["reason"]["paths"]) == ["config/config.toml", "gitconfig"]


def test_programs_that_git_settings_of_a_linked_worktree_name_are_reserved(
    scratch: Scratch, tmp_path: Path
) -> None:
    scratch.graph("  t: {goal: t, retries: 0}\n", "mkdir -p tools; touch tools/clean.sh")
    scratch.git("config", "extensions.worktreeConfig", "true")
    scratch.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    scratch.root = tmp_path / "linked"
    scratch.git("config", "--worktree", "filter.nb.clean", "tools/clean.sh")
    assert "tools/clean.sh" in scratch.interlock("run", code=1)


def test_the_command_imports_no_module_of_the_repository(scratch: Scratch) -> None:
    scratch.write(msgspec__py="raise SystemExit(99)\n", click__py="raise SystemExit(98)\n")
    for path in (".", str(scratch.root), ""):
        command = [sys.executable, "-m", "interlock", "--version"]
        env = {**os.environ, "PYTHONPATH": path}
        assert subprocess.run(command, cwd=scratch.root, env=env, check=False).returncode == 0
    modules = scratch.root.parent / "modules"
    modules.mkdir()
    (modules / "click.py").write_text("raise SystemExit(97)\n")
    env = {**os.environ, "PYTHONPATH": str(modules)}
    own = subprocess.run([sys.executable, "-m", "interlock", "--version"], env=env, check=False)
    assert own.returncode == 97, "a folder outside of repositories is the person's own"


ODD = {
    **dict.fromkeys(
        (
            *("x\ny/.claude/settings.json", ".opencode/plugin/a\nb.js", "p\nq.code-workspace"),
            *(".idea/runConfigurations/a\nb.xml", ".gemini/x\ny/gemini-extension.json"),
        ),
        "{}",
    ),
    "d\xff/.gitattributes": "* diff=evil\n",
    ".gitattributes": "\f#* filter=lfs\n",
    **{
        f"{name}/package.json": json.dumps({name: {"pre-commit": "x"}})
        for name in ("lint-staged", "husky", "simple-git-hooks", "gitHooks")
    },
    "deep/package.json": '{"husky": {"hooks": {"pre-commit": "x"}}, "x": ' + "[" * 9000 + "]" * 9000 + "}",
    "sub/package.json": '{"name": "x", "lint-staged": {"*": "x"}}',
    ".claude/agents/x.md": "---\nname: x\nhooks:\n  Stop: [{command: x}]\n---\n",
    ".claude/skills/x/SKILL.md": '---\nname: x\n"h\\x6foks": {Stop: [{command: x}]}\n---\n',
    ".claude/skills/link": "../../tools",
    "a/.gitattributes": "* text\r# merge=evil\n",
    "c/.gitattributes": "*.py working-tree-encoding=NONE-SUCH\n",
}
"""Files that are reserved by their name or by their content."""
PLAIN = {
    "x\ny/docs.md": "text\n",
    "package.json": '{"name": "b", "husky": {}, "scripts": {"test": "x"}}',
    "broken/package.json": "{",
    ".claude/skills/y/SKILL.md": "---\nname: y\n---\nExplains hooks.\n",
    ".claude/agents/y.md": "Explains hooks.\n---\nand more\n",
    ".github/workflows/ci.yml": "on: push\n",
    "b/.gitattributes": " \t# filter\n* text\n",
}
ODD_AGENT = """
import json, os, sys
made = json.load(open("plain.json"))
if "controls what agents may do" not in open(os.environ["INTERLOCK_PROMPT_FILE"]).read():
    made |= json.load(open("odd.json"))
for name, text in made.items():
    name = name.encode("latin-1")
    os.makedirs(os.path.dirname(name) or b".", exist_ok=True)
    open(name, "w", newline="").write(text)
"""


def test_no_odd_name_or_form_of_a_file_evades_the_rule(scratch: Scratch) -> None:
    scratch.write(package__json='{"name": "a", "husky": {}}')
    scratch.write(odd__json=json.dumps(ODD), plain__json=json.dumps(PLAIN), odd__py=ODD_AGENT)
    scratch.graph("  t: {goal: t}\n", "python3 odd.py")
    scratch.interlock("run")
    (failure,) = scratch.facts("PhaseFailed")
    said = {*failure["reason"]["paths"]}
    assert {name.replace("\xff", "\\xff") for name in ODD} == said
    landed = scratch.git("-c", "core.quotePath=off", "diff", "-z", "--name-only", "main~1", "main")
    assert sorted(landed.strip("\0").split("\0")) == sorted(PLAIN)


def test_a_macro_that_the_person_has_defined_is_as_reserved_as_what_it_stands_for(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A line `*.png lfs` starts the program of the filter as `*.png filter=lfs` does."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "attributes").write_text("[attr]own diff=own\n")
    info = scratch.root / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text(
        "[attr]lfs filter=lfs -text\n[attr] \tbig  lfs\n[attr]lines text eol=lf\n"
    )
    scratch.write(__gitattributes="\ufeff[attr]drive merge=ours\n")
    lines = {"a": "*.png big", "b": "*.x drive", "c": "*.y lfs=1", "d": "*.z own", "e": "*.txt lines binary"}
    write = "".join(f"mkdir {name}; echo '{line}' > {name}/.gitattributes\n" for name, line in lines.items())
    scratch.graph("  t: {goal: t, retries: 0}\n", write)
    scratch.interlock("run", code=1)
    (failure,) = scratch.facts("PhaseFailed")
    assert failure["reason"]["paths"] == [f"{name}/.gitattributes" for name in "abcd"]


def test_a_link_in_the_place_of_settings_goes_back(scratch: Scratch) -> None:
    """The blob of a link is a name; programs read the file of that name."""
    links = {"package.json": "conf.json", ".claude/agents/a.md": "../../a.md", "pyproject.toml": "x=1"}
    made = "".join(f"mkdir -p $(dirname {name}); ln -s {target} {name}\n" for name, target in links.items())
    write = (
        "echo '{\"husky\": {}}' > conf.json; echo '[tool.interlock]' > x=1\n"
        "printf '%s\\n' --- hooks: > a.md\n"
    )
    scratch.graph("  t: {goal: t, retries: 0}\n", write + made)
    scratch.interlock("run", code=1)
    (failure,) = scratch.facts("PhaseFailed")
    assert sorted(failure["reason"]["paths"]) == sorted(links)


def test_all_links_on_the_way_to_a_reserved_file_are_reserved(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "own.md").touch()
    (tmp_path / "b").symlink_to("c")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "link.md").symlink_to("a/own.md")
    names = set(names_in(tmp_path, ["link.md"]))
    assert {"link.md", "a/own.md", "b/own.md", "c/own.md"} <= names


@pytest.mark.parametrize("name", ["interlock.toml", "pyproject.toml"])
def test_settings_that_lead_to_a_device_are_refused_at_once(scratch: Scratch, name: str) -> None:
    (scratch.root / name).symlink_to("/dev/zero")
    assert "is not a regular file" in scratch.interlock("status", code=2)


def test_other_edits_of_pyproject_land_and_the_table_stays_the_persons(scratch: Scratch) -> None:
    scratch.write(pyproject__toml='[project]\nname = "a"\n[tool.interlock]\nlane_depth = 1\n')
    agent = (
        "case $INTERLOCK_TASK_ID in edit) sed -i 's/= .a./= \"b\"/' pyproject.toml;;"
        " drop) rm pyproject.toml;; esac; echo > $INTERLOCK_TASK_ID.txt"
    )
    scratch.graph("  edit: {goal: e}\n  drop: {goal: d, needs: [edit], retries: 0}\n", agent)
    scratch.interlock("run", code=None)
    assert scratch.states() == {"edit": "done", "drop": "failed"}
    assert 'name = "b"' in scratch.git("show", "main:pyproject.toml")


NONSENSE = ['tool = "x"\n', "tool.interlock = 1\n", "x = " + "[" * 9000, "x = " + "9" * 5000]


@pytest.mark.parametrize("text", rest_at_night(NONSENSE, by_day=NONSENSE[2:3]))
def test_a_pyproject_that_makes_no_sense_stops_no_command(scratch: Scratch, text: str) -> None:
    scratch.graph("  t: {goal: t}\n")
    scratch.write(pyproject__toml=text)
    scratch.interlock("status")
    scratch.interlock("doctor", code=None)
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}


def test_an_agents_ignore_rule_shows_nothing_of_the_persons(scratch: Scratch) -> None:
    """Neither a new rule, nor a negation that is gone, nor a file of rules in a folder."""
    for name in ("private/x", "mixed/a.note", "deep/folder/mine", "build/out", "theirs/made", "kept.md"):
        (scratch.root / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch.root / name).write_text("mine\n")
    scratch.write(private__md="mine\n", __gitignore="*.md\n!private.md\n!private.md\n", note__txt="mine\n")
    scratch.git("add", "-A", ".gitignore")
    rules = (
        "printf '*.md\\nprivate/**\\n*.note\\nbuild/\\n/note.*\\n' > .gitignore;"
        "mkdir -p deep; echo 'folder/' > deep/.gitignore"
    )
    look = "find . -path ./.git -prune -o -print; echo > x"
    agent = f"if test $INTERLOCK_TASK_ID = a; then {rules}; else {look}; fi"
    scratch.write(
        agent__sh=agent,
        **{
            "task-graph__yaml": "version: 1\nagents:\n  shell: {use: command, run: [sh, agent.sh]}\n"
            "defaults: {agent: shell}\ntasks:\n  a: {goal: a}\n  b: {goal: b, needs: [a]}\n"
        },
    )
    scratch.git("add", "agent.sh", "task-graph.yaml")
    scratch.git("commit", "-qm", "work to do")
    scratch.interlock("run", "--only", "a")
    assert scratch.states()["a"] == "done"
    with (scratch.root / ".gitignore").open("a") as rules_now:
        rules_now.write("theirs/\n")
    scratch.interlock("run", "--only", "b")
    found = {line for line in said_by(scratch, "b").splitlines() if line.startswith("./")}
    hidden = {"./private.md", "./private/x", "./mixed/a.note", "./deep/folder/mine", "./note.txt"}
    assert not hidden & found
    assert {"./kept.md", "./build/out", "./theirs/made"} <= found, "the person's own rules, and known kinds"


def test_secrets_of_a_submodule_and_of_a_huge_folder_are_not_shown(scratch: Scratch) -> None:
    other = scratch.root.parent / "other"
    (other / "fixtures").mkdir(parents=True)
    (other / "fixtures" / "server.pem").write_text("tracked\n")
    commands = ("init -q", "add .", "-c user.name=a -c user.email=b commit -qm x")
    for command in commands:
        subprocess.run(["git", *command.split()], cwd=other, check=True)
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other))
    scratch.git(*add, "sub")
    scratch.git("-C", "sub", *add, "inner")
    scratch.git("-C", "sub", "commit", "-qm", "with another inside")
    (scratch.root / "sub" / "inner" / ".env").write_text("secret\n")
    (scratch.root / "sub" / ".env").write_text("secret\n")
    (scratch.root / "sub" / "fixtures" / "local.key").write_text("secret\n")
    deep = scratch.root / "data" / "a" / "b" / "c" / "d"
    deep.mkdir(parents=True)
    for number in range(6000):
        (scratch.root / "data" / f"{number}").touch()
    (deep / ".env").write_text("secret\n")
    scratch.write(__gitignore="data/\n")
    secrets = "data/a/b/c/d/.env sub/.env sub/fixtures/local.key sub/inner/.env"
    agent = f"cat sub/fixtures/server.pem; ls data/a/b/c/d data/1; cat {secrets}; echo > x"
    scratch.graph("  t: {goal: t}\n", agent)
    scratch.interlock("run")
    said = said_by(scratch, "t")
    assert "tracked" in said
    assert "data/1" in said
    assert "secret" not in said


def test_files_of_credentials_do_not_land_in_any_case_or_form(scratch: Scratch) -> None:
    agent = "echo 1 > .ENV; echo 1 > prod.env; echo 1 > Server.P12; echo 1 > example.env; echo 1 > secrets.py"
    scratch.graph("  t: {goal: t}\n", agent)
    scratch.interlock("run")
    landed = scratch.git("diff", "--name-only", "main~1", "main").splitlines()
    assert landed == ["example.env", "secrets.py"]
