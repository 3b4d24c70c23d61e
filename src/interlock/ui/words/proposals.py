"""Sentences about tasks that agents propose."""

from interlock.events.asked import Proposal


def proposal_text(made: Proposal) -> str:
    """Everything that a person accepts, one thing a line."""
    lists = {"needs": made.needs, "touches": made.touches, "done when": made.done_when}
    lines = [f"{name}: {', '.join(words)}" for name, words in lists.items() if words]
    return "\n".join([f"{made.id}: {made.goal}", *lines])
