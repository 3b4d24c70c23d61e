"""People who review tested changes at moments the dice choose, and an account of what they approved.

Invariant: a change whose review is required lands only with an approval of exactly that change. What was
approved is taken from the repository, and not from what the engine says that an approval is for.
"""

import asyncio
import hashlib
from collections import Counter, defaultdict
from random import Random

from interlock.events import facts as f
from interlock.events.task_parts import Review
from interlock.model.outcome import Landing, Measured
from interlock.model.task import Commit, TaskId
from interlock.store.protocol import Store
from interlock.train.review import NONE, REQUIRED, ReviewRules
from tests.sim.fake_git import FakeRepository, trailers
from tests.sim.invariants import Invariants
from tests.sim.loop import Simulation

REVIEWER = "a reviewer"
MOST_REJECTIONS = 3
"""Of one task: then it is good enough."""
Edits = frozenset[tuple[str, str | None, str | None]]
"""What a change does: each path with its content before and after."""


class Reviewers:
    """They see what the log says, and take their time."""

    def __init__(
        self, simulation: Simulation, store: Store, repository: FakeRepository, invariants: Invariants
    ) -> None:
        self._simulation, self._store = simulation, store
        self._repository, self._invariants = repository, invariants
        word = simulation.dice("reviews").choice(["none", "none", "required", "auto"])
        self.rules = ReviewRules(word=word, lines=2)
        self._approved: dict[TaskId, set[Edits]] = defaultdict(set)
        self._rejected: Counter[TaskId] = Counter()
        self._last = simulation.dice("last reviews")
        repository.on_land = self._landed

    async def measure(self, base: Commit, commit: Commit) -> Measured:
        """Measure a change as `git.measure` does."""
        edits = self._edits(base, commit)
        return Measured(hashlib.sha256(repr(sorted(edits, key=repr)).encode()).hexdigest(), len(edits))

    async def review(self) -> None:
        """Decide about one change after the other, until cancelled."""
        dice = self._simulation.dice("reviewers")
        while True:
            await asyncio.sleep(dice.expovariate(1 / 3.0))
            if found := self._open():
                name, review = dice.choice(found)
                await asyncio.sleep(dice.choice([0.0, dice.uniform(0.0, 20.0)]))  # it may be another one then
                await self._decide(dice, name, review)

    async def decide_all(self) -> bool:
        """Decide about all that waits, after a run that has nothing else to do; False if nothing does."""
        found = self._open()
        for name, review in found:
            await self._decide(self._last, name, review)
        return bool(found)

    def _open(self) -> list[tuple[TaskId, Review]]:
        tasks = sorted(self._invariants.state.tasks.items())
        return [(name, review) for name, task in tasks if (review := task.in_review)]

    async def _decide(self, dice: Random, name: TaskId, review: Review) -> None:
        fact: f.Fact = self._approval(name, review)
        if dice.random() < 0.25 and self._rejected[name] < MOST_REJECTIONS:
            self._rejected[name] += 1
            fact = f.ReviewRejected(name, review.digest, review.work, "not like this", "do it in another way")
        elif dice.random() < 0.2:
            fact = f.ReviewCommented(name, review.digest, review.work, "why?", "readme", 1)
        await self._store.append([fact], REVIEWER)

    def _approval(self, name: TaskId, review: Review) -> f.ReviewApproved:
        self._approved[name].add(self._edits(review.base, review.commit))
        return f.ReviewApproved(name, review.digest, review.work, review.commit)

    def _landed(self, landing: Landing) -> None:
        self._invariants.main_moved(landing)
        name = TaskId(trailers(self._repository.commits[landing.new].message).get("Interlock-Task", ""))
        task = self._invariants.state.tasks.get(name)
        edits = self._edits(landing.old, landing.new)
        if task is None or task.spec.reverts or self.rules.word == NONE:
            return
        if (self.rules.word == REQUIRED or len(edits) > self.rules.lines) and edits not in self._approved[
            name
        ]:
            self._invariants.violate("review", f"{name} landed a change that no person has approved")

    def _edits(self, base: Commit, commit: Commit) -> Edits:
        before, after = self._repository.files(base), self._repository.files(commit)
        paths = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        return frozenset((path, before.get(path), after.get(path)) for path in paths)
