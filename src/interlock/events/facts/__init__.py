"""Everything that can have happened. Names are past tense; a result names what it is a result of.

Rules:
1. A fact is never edited. A new meaning is a new fact.
2. New fields get a default. Any other change raises the kind's version and adds an upcaster (`versions`).
3. Facts about a phase carry the epoch under which they were made; the fold ignores the rest.
"""

from interlock.events.facts import base
from interlock.events.facts.base import *  # noqa: F403 - these modules hold facts and nothing else
from interlock.events.facts.builds import *  # noqa: F403 - see above
from interlock.events.facts.learned import *  # noqa: F403 - see above
from interlock.events.facts.loop import *  # noqa: F403 - see above
from interlock.events.facts.people import *  # noqa: F403 - see above
from interlock.events.facts.phases import *  # noqa: F403 - see above
from interlock.events.facts.pull_requests import *  # noqa: F403 - see above
from interlock.events.facts.radar import *  # noqa: F403 - see above
from interlock.events.facts.red_main import *  # noqa: F403 - see above
from interlock.events.facts.reviews import *  # noqa: F403 - see above
from interlock.events.facts.undoing import *  # noqa: F403 - see above


def kinds() -> dict[str, type[base.Fact]]:
    """Every concrete fact by its name in the log."""
    abstract = (base.Fact, base.PhaseFact, base.PhasePassed)
    types = [kind for kind in globals().values() if isinstance(kind, type) and issubclass(kind, base.Fact)]
    ordered = sorted(types, key=lambda kind: (kind.__module__, kind.__name__))
    return {kind.__name__: kind for kind in ordered if kind not in abstract}
