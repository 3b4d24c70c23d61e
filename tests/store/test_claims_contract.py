"""What every Store promises about claims and fences, checked on all of them (D4, I2, I3)."""

from collections.abc import Sequence

import pytest

from interlock.events.facts import Fact
from interlock.model.claim import CONTROLLER, Claim
from interlock.model.errors import EnvironmentProblem, StaleEpoch
from interlock.store import Store
from tests.store.logs import LONG, SHORT, Log, names, nothing, reset, take, whole_log

pytestmark = pytest.mark.contract


# Claims


@pytest.mark.parametrize("epoch", [10**11, 2**63 - 1])
def test_an_epoch_at_the_limit_is_refused_in_words(disk_log: Log, epoch: int) -> None:
    """The next one overflowed the column, and the command failed with exit code 70."""

    async def story(one: Store, two: Store) -> None:
        assert await one.raise_epoch("r", epoch)
        with pytest.raises(EnvironmentProblem, match=r"r has epoch \d+"):
            await two.claim("r", "h", LONG, nothing)
        await one.revoke("r", [], "a person")

    disk_log.play(story)


def test_each_claim_raises_the_epoch_by_one_and_writes_its_facts(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        for epoch, store in enumerate((one, two, one), start=1):
            got = await store.claim("r", f"h{epoch}", LONG, lambda epoch: [reset(f"epoch-{epoch}")])
            assert got is not None
            claim, rows = got
            assert claim == Claim("r", epoch, f"h{epoch}", 0)
            assert names(rows) == [f"epoch-{epoch}"]
            assert rows[0].actor == f"h{epoch}"
            await store.release(claim)
        assert names(await whole_log(two)) == ["epoch-1", "epoch-2", "epoch-3"]

    log.play(story)


def test_what_is_held_cannot_be_claimed_and_nothing_is_written(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await take(one, "r")
        assert await two.claim("r", "bert", LONG, lambda _: [reset("no")]) is None
        assert await one.claim("r", "anna", LONG, lambda _: [reset("no")]) is None
        assert await two.head() == 0
        assert await take(two, "another") == Claim("another", 1, "anna")

    log.play(story)


def test_a_claim_whose_facts_cannot_be_made_leaves_nothing(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        def broken(_: int) -> Sequence[Fact]:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await one.claim("r", "anna", LONG, broken)
        assert await two.held() == []
        assert await two.head() == 0
        assert (await take(two, "r")).epoch == 1

    log.play(story)


def test_a_claim_is_free_once_its_lease_is_over_by_the_databases_clock(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await take(one, "r", seconds=SHORT)
        await log.pass_time(two, SHORT)
        assert await take(two, "r", "bert") == Claim("r", 2, "bert")

    log.play(story)


def test_a_lease_is_not_over_a_second_early(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        before = await two.now()
        await take(one, "r", seconds=0.9)
        got = await two.claim("r", "bert", LONG, nothing)
        assert got is None or await two.now() >= before + 0.9  # a machine that stood still meanwhile

    log.play(story)


def test_a_renewed_claim_stays_held_and_carries_its_note(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        claim = await take(one, "r", seconds=SHORT)
        assert await one.renew(claim, LONG, "still here") is True
        await log.pass_time(two, SHORT)
        assert await two.claim("r", "bert", LONG, nothing) is None
        (held,) = await two.held()
        assert (held.claim, held.note) == (claim, "still here")
        assert 0 < held.expires_in_seconds <= LONG
        assert 0 < held.renewed_seconds_ago < LONG

    log.play(story)


def test_a_claim_that_somebody_else_has_taken_cannot_be_renewed(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        old = await take(one, "r", seconds=SHORT)
        await log.pass_time(two, SHORT)
        new = await take(two, "r", "bert")
        assert await one.renew(old, 2 * LONG, "mine!") is False
        (held,) = await two.held()
        assert held.claim == new
        assert held.note == ""
        assert held.expires_in_seconds <= LONG

    log.play(story)


def test_a_renewal_must_name_the_holder_and_not_only_the_epoch(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        claim = await take(one, "r")
        assert await two.renew(Claim("r", claim.epoch, "bert"), LONG) is False
        assert await two.renew(Claim("unknown", 1, "anna"), LONG) is False

    log.play(story)


def test_a_released_claim_is_gone_for_its_holder(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        claim = await take(one, "r")
        rows = await one.release(claim, [reset("done")])
        assert (names(rows), rows[0].actor) == (["done"], "anna")
        assert await two.held() == []
        assert await one.renew(claim, LONG) is False
        with pytest.raises(StaleEpoch):
            await one.release(claim, [reset("twice")])
        assert await one.head() == 1

    log.play(story)


def test_only_who_holds_it_can_release_it(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        claim = await take(one, "r")
        with pytest.raises(StaleEpoch):
            await two.release(Claim("r", claim.epoch, "bert"), [reset("no")], "bert")
        assert [held.claim for held in await two.held()] == [claim]
        assert await two.head() == 0

    log.play(story)


def test_a_release_under_a_stale_fence_changes_nothing(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        controller = await take(one, CONTROLLER)
        claim = await take(one, "r")
        await two.revoke(CONTROLLER, [], "person")
        with pytest.raises(StaleEpoch):
            await one.release(claim, [reset("no")], fences=[controller])
        assert [held.claim for held in await two.held()] == [claim]
        assert await two.head() == 0

    log.play(story)


def test_a_revoked_claim_fences_its_holder(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        old = await take(one, "r")
        assert names(await two.revoke("r", [reset("revoked")], "person")) == ["revoked"]
        assert await two.held() == []
        with pytest.raises(StaleEpoch):
            await one.append([reset("late")], "anna", [old])
        assert await one.renew(old, LONG) is False
        assert (await take(two, "r", "bert")).epoch == old.epoch + 2

    log.play(story)


def test_what_was_never_claimed_can_be_revoked_too(log: Log) -> None:
    async def story(one: Store, _: Store) -> None:
        await one.revoke("r", [reset("revoked")], "person")
        assert await one.held() == []
        assert (await take(one, "r")).epoch == 2

    log.play(story)


def test_held_lists_what_is_not_released_also_when_the_lease_is_over(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await take(one, "b", seconds=SHORT)
        await take(one, "a")
        await one.release(await take(one, "c"))
        await log.pass_time(two, 2 * SHORT)
        first, second = await two.held()
        assert (first.claim.resource, second.claim.resource) == ("a", "b")
        assert second.expires_in_seconds < 0 < first.expires_in_seconds

    log.play(story)


# Fences


def test_a_write_under_a_standing_fence_is_written(log: Log) -> None:
    async def story(one: Store, _: Store) -> None:
        fences = [await take(one, "r"), await take(one, "s")]
        assert names(await one.append([reset("yes")], "anna", fences)) == ["yes"]

    log.play(story)


def test_a_write_under_a_stale_fence_is_refused_and_leaves_nothing(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        good, old = await take(one, "good"), await take(one, "r")
        await one.release(old)
        await take(two, "r", "bert")
        for fence in (old, Claim("r", 2, "anna"), Claim("r", 3, "bert"), Claim("unknown", 1, "anna")):
            with pytest.raises(StaleEpoch):
                await one.append([reset("no")], "anna", [good, fence])
        assert await two.head() == 0

    log.play(story)


def test_a_write_under_a_fence_that_was_given_back_is_refused(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        claim = await take(one, "r")
        await one.release(claim)
        with pytest.raises(StaleEpoch):
            await one.append([reset("no")], "anna", [claim])
        with pytest.raises(StaleEpoch):
            await one.claim("s", "anna", LONG, nothing, fence=claim)
        assert await two.head() == 0

    log.play(story)


def test_a_fence_holds_after_its_lease_until_somebody_takes_it(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        claim = await take(one, "r", seconds=SHORT)
        await log.pass_time(one, SHORT)
        assert names(await one.append([reset("late")], "anna", [claim])) == ["late"]
        await take(two, "r", "bert")
        with pytest.raises(StaleEpoch):
            await one.append([reset("too late")], "anna", [claim])

    log.play(story)


def test_a_claim_under_a_stale_fence_is_refused_and_leaves_nothing(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        old = await take(one, CONTROLLER)
        await two.revoke(CONTROLLER, [], "person")
        with pytest.raises(StaleEpoch):
            await one.claim("r", "anna", LONG, lambda _: [reset("no")], fence=old)
        assert await two.held() == []
        assert await two.head() == 0

    log.play(story)


def test_a_newer_controller_takes_over_what_an_older_one_claimed(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        first = await take(one, CONTROLLER)
        got = await one.claim("r", "anna", LONG, nothing, fence=first)
        assert got is not None
        assert got[0] == Claim("r", 1, "anna", generation=first.epoch)
        assert await one.claim("r", "anna", LONG, nothing, fence=first) is None

        await one.release(first)
        second = await take(two, CONTROLLER, "bert")
        taken = await two.claim("r", "bert", LONG, nothing, fence=second)
        assert taken is not None
        assert taken[0] == Claim("r", 2, "bert", generation=second.epoch)
        assert await one.renew(got[0], LONG) is False

    log.play(story)


def test_a_dead_holders_claim_is_taken_over_by_naming_its_epoch(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        await one.release(await take(one, "r"))
        dead = await take(one, "r")
        for wrong in (0, dead.epoch - 1, dead.epoch + 1):
            assert await two.claim("r", "bert", LONG, nothing, takeover=wrong) is None
        got = await two.claim("r", "bert", LONG, nothing, takeover=dead.epoch)
        assert got is not None
        assert got[0] == Claim("r", dead.epoch + 1, "bert")
        assert await two.claim("r", "carl", LONG, nothing, takeover=dead.epoch) is None

    log.play(story)


def test_a_raised_epoch_is_below_the_next_claim_and_makes_older_ones_fall(log: Log) -> None:
    async def story(one: Store, two: Store) -> None:
        old = await take(one, "r")
        assert await two.raise_epoch("r", 6)
        assert not await two.raise_epoch("r", 6)
        assert not await two.raise_epoch("r", 3)
        with pytest.raises(StaleEpoch):
            await one.append([reset("late")], "anna", [old])
        assert (await take(two, "r")).epoch == 7
        assert await one.raise_epoch("never claimed", 2)
        assert (await take(two, "never claimed")).epoch == 3

    log.play(story)
