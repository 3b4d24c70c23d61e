"""All commands, with the module each lives in, so that `--help` imports none of them."""

from typing import NamedTuple


class Entry(NamedTuple):
    """One command, as `--help` shows it."""

    section: str
    module: str
    summary: str


_HERE = "interlock.ui.cli"

COMMANDS: dict[str, Entry] = {
    "demo": Entry("Begin", f"{_HERE}.demo", "Watch scripted agents work in a scratch repository."),
    "init": Entry("Begin", f"{_HERE}.init", "Write a first task-graph.yaml for this repository."),
    "doctor": Entry(
        "Begin", f"{_HERE}.doctor", "Check this machine and repository, with a fix for each problem."
    ),
    "plan": Entry("Work", f"{_HERE}.plan", "Check the task graph; show order, conflicts and expected time."),
    "run": Entry("Work", f"{_HERE}.run", "Run agents until every task has landed or failed."),
    "wait": Entry("Work", f"{_HERE}.wait", "Wait until the run or some tasks are over."),
    "status": Entry(
        "Look", f"{_HERE}.status", "Show every task with its state, the reason and the next command."
    ),
    "inbox": Entry("Look", f"{_HERE}.inbox", "Show what waits for you: questions, permissions, failures."),
    "slots": Entry("Look", f"{_HERE}.slots", "Show the slots for agents: in use, free, and the queue."),
    "clutch": Entry("Look", f"{_HERE}.clutch", "Show how many agents each kind of work may have, and why."),
    "agents": Entry("Look", f"{_HERE}.agents", "Show the running agents and their last actions."),
    "metrics": Entry("Look", f"{_HERE}.metrics", "Print the project's figures for Prometheus."),
    "logs": Entry("Look", f"{_HERE}.logs", "Show the output of an agent."),
    "attach": Entry("Look", f"{_HERE}.attach", "Follow an agent live; continue its session yourself."),
    "events": Entry("Look", f"{_HERE}.events", "Show, follow, verify, export or import the log of facts."),
    "explain": Entry(
        "Look",
        f"{_HERE}.explain",
        "Explain why a task waits, runs, failed or landed; or which attempt made a commit.",
    ),
    "errors": Entry("Look", f"{_HERE}.errors", "Show each failure once: its tasks, and what fixed it."),
    "lessons": Entry("Look", f"{_HERE}.lessons", "Show lessons from past attempts, and if they help."),
    "show": Entry("Look", f"{_HERE}.show", "Show a task with its attempts, evidence and commits."),
    "footprints": Entry(
        "Look", f"{_HERE}.footprints", "Show the files each task is expected to edit, and those it edited."
    ),
    "diff": Entry("Look", f"{_HERE}.diff", "Show what a task changed."),
    "prompt": Entry("Look", f"{_HERE}.prompt", "Show the prompt of an agent."),
    "replay": Entry("Look", f"{_HERE}.replay", "List past runs; replay one, or show any moment of it."),
    "what-if": Entry("Look", f"{_HERE}.what_if", "Simulate a past run with different settings."),
    "add": Entry("Act", f"{_HERE}.add", "Add a task beside the graph file."),
    "retry": Entry("Act", f"{_HERE}.acts", "Give a failed or cancelled task new attempts."),
    "reset": Entry("Act", f"{_HERE}.acts", "Release a stuck task and start it again."),
    "cancel": Entry("Act", f"{_HERE}.acts", "Stop a task, or the whole run with --all."),
    "answer": Entry("Act", f"{_HERE}.answer", "Answer a question or a permission request of an agent."),
    "say": Entry("Act", f"{_HERE}.say", "Send a message to an agent."),
    "pause": Entry("Act", f"{_HERE}.pauses", "Pause the project, or one task."),
    "unpause": Entry("Act", f"{_HERE}.pauses", "Unpause the project, or one task."),
    "workspace": Entry("Act", f"{_HERE}.workspace", "Make, list and remove workspaces for you."),
    "gc": Entry("Act", f"{_HERE}.gc", "Remove files that are no longer needed, never unmerged work."),
    "config": Entry("Set up", f"{_HERE}.config", "Show or change settings, and the source of each."),
    "trust": Entry("Set up", f"{_HERE}.trust", "Agree to values of a repository that widen the sandbox."),
    "hooks": Entry("Set up", f"{_HERE}.hooks", "Show your hooks, and which agents they can block."),
    "schema": Entry("Set up", f"{_HERE}.schema", "Print the JSON schema of task-graph.yaml."),
    "completion": Entry("Set up", f"{_HERE}.completion", "Set up tab completion for bash, fish or zsh."),
}
"""A command is the attribute `<name>_command` of its module, with `_` for `-`."""
