"""A real run with a task in each state, for looking at it in a browser."""

import json

from tests.engine.scratch import WAIT, Scratch

QUESTION = "Round tax per line or per invoice?"
AGENT = r"""
say() { echo "$1"; }
case "$INTERLOCK_TASK_ID" in
  tax) if grep -q "A person answered" "$INTERLOCK_PROMPT_FILE"; then
         grep -A2 "A person answered" "$INTERLOCK_PROMPT_FILE" | tail -1 > tax.txt
       else say "I read the code."; echo; say "QUESTION"; fi ;;
  broken) say "trying"; say "the disk is on fire" >&2; exit 3 ;;
  work-*) for n in 1 2 3 4 5; do say "reading module $n"; done
          printf '\033[31mred\033[0m <b>bold</b> https://example.org/x\n'
          GATE
          echo done > "$INTERLOCK_TASK_ID.txt" ;;
  refunds) mkdir -p api
           printf 'def refund(invoice, cents):\n    left = invoice.paid - invoice.refunded\n' > api/refund.py
           printf '    tax = round(cents * invoice.rate)\n    return left, tax\n' >> api/refund.py
           cp "$INTERLOCK_PROMPT_FILE" prompt.txt ;;
  *) say "writing $INTERLOCK_TASK_ID.txt"; echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt" ;;
esac
"""
TASKS = """\
  store: {goal: Keep notes in SQLite, story: core}
  config: {goal: Read the settings file, story: core}
  dates: {goal: "Parse dates as people write them", story: core, needs: [store]}
  tax: {goal: Compute the tax of an invoice, story: billing}
  refunds: {goal: Refund whole or part of an invoice, story: billing, review: required}
  broken: {goal: Print labels, story: shipping, retries: 0}
  work-search: {goal: Search in notes, story: core, timeout: 1h}
  work-slugs: {goal: Make slugs, story: core, timeout: 1h}
  summary: {goal: Show the summary of a checkout, story: billing, needs: [tax]}
  totals: {goal: Sum up totals, story: billing, needs: [summary]}
  readme: {goal: Describe it, story: core, needs: [work-search]}
  label-return: {goal: Print return labels, story: shipping, needs: [broken]}
"""


def small_run(scratch: Scratch) -> None:
    """Twelve tasks: some landed, two at work until the gate is there, one of each that waits for a person."""
    gate = WAIT.format(gate=scratch.gates / "gate")
    scratch.graph(TASKS, AGENT.replace("GATE", gate).replace("QUESTION", QUESTION), verify="'test -n x'")
    scratch.start("run", "--max-parallel", "3")


def reached(scratch: Scratch) -> bool:
    """True when nothing of it moves any more by itself."""
    found = json.loads(scratch.interlock("status", "--json"))["buckets"]
    return bool(
        found["landed"] == 3 and found["working"] == 2 and found["train"] == 0 and found["ready"] == 0
    )
