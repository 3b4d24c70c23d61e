"""The guide that `interlock --skill` prints for a person's own agent."""

SKILL = """\
# Interlock, for an agent

Interlock runs many coding agents on one git repository. It merges each result with main, runs the project's
checks on the merged tree, and moves main only to a tree that passed. You steer it for a person: by these
commands, or by the tools of the MCP server `interlock mcp`. `--json` gives data.

## Describe work

`interlock init` writes `task-graph.yaml`; `interlock plan` names each mistake in it with line and column.

```yaml
version: 1
defaults: {agent: coder, verify: "make test"}
agents:
  coder: {use: claude-code}
tasks:
  user-model:
    goal: Add a User class with a name and an e-mail address
    touches: [src/users/**]
  login:
    goal: Add a login form
    needs: [user-model]
    done_when: ["pytest -q tests/login"]
```

- One task, one change. State the result, not the steps.
- `needs` orders tasks; without it they may run at the same time. `touches` names the files, as a forecast.
- `done_when` are commands that must pass on the merged tree. A task without a check lands as observed.
- Commit the graph: agents see committed files only. `interlock add ID "GOAL"` adds a task during a run.

## Run

```sh
interlock doctor      # what is missing on this machine, with the command that fixes it
interlock run         # until every task has landed or failed; Ctrl-C is safe
interlock wait        # in another process: until the run is over
```

Exit codes: 0 all landed, 1 a task failed, 2 wrong usage or graph, 6 a person must answer, 7 the environment.

## Look

- `interlock status`: each task with its state, the reason and the next command.
- `interlock explain TASK`: the chain of causes. Read it before you retry.
- `interlock inbox`: what waits for a person.
- `interlock show TASK`, `interlock diff TASK`, `interlock logs TASK`: attempts, change, output.

## Act, as your person says

- `interlock answer TASK "TEXT"`: a question of an agent. Do not invent an answer.
- `interlock accept TASK/ID`: a task that an agent proposed; `--decline` refuses it.
- `interlock retry TASK -m "NOTE"`: a new attempt, with the failure and your note as feedback.
- `interlock say TASK "TEXT"`: a message to an agent at work.
- `interlock cancel TASK`, `interlock pause`, `interlock undo TASK`.

## If you are an agent of a run

Then `$INTERLOCK_TASK_ID` is set. Do your task in the current directory and end. The server `interlock` gives
you `my_task`, `report`, `ask_person`, `propose_task` and `request_scope`, for your own attempt only. Without
it, end with a line `::interlock ask QUESTION` to ask a person. Do not call the commands above.
"""
