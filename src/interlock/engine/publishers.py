"""Chooses what publishes tested changes, by the setting `land`, and tries it out before agents work."""

from collections.abc import Mapping

from interlock.engine.landing_settings import LandingSettings
from interlock.engine.publish import LocalOnly, Publisher, PushFirst
from interlock.engine.pull_requests import PullRequests
from interlock.engine.reviews import rules_of
from interlock.git.forge import Patches, forge_of
from interlock.git.place import Place
from interlock.git.push import refuse_unready
from interlock.git.repository import GitRepository
from interlock.model.errors import UsageError


def publisher_of(
    place: Place, repository: GitRepository, settings: LandingSettings, origins: Mapping[str, str]
) -> Publisher:
    """The publisher that the settings ask for."""
    match settings.land:
        case "push":
            return PushFirst(repository)
        case "pull-request":
            remote = place.settings.get(f"branch.{place.branch}.remote", "")
            forge, rules = forge_of(place, settings.forge, remote), rules_of(settings, origins)
            return PullRequests(place, repository, forge, settings, rules)
    return LocalOnly()


async def try_publisher(place: Place, publisher: Publisher) -> str:
    """Find out if changes can be published; how they are, as a sentence, or nothing where they stay here."""
    if isinstance(publisher, PushFirst):
        return f"tested changes are pushed to {(await refuse_unready(place)).name} first"
    if not isinstance(publisher, PullRequests):
        return ""
    branch = publisher.branch("x")
    if (await place.git.run("check-ref-format", f"refs/heads/{branch}", ok=(0, 1))).code:
        raise UsageError(f"pull_request_prefix: {branch!r} cannot be a branch", 'for example: "interlock/"')
    if not isinstance(publisher.forge, Patches):
        await refuse_unready(place)
    return f"tested changes are proposed {await publisher.forge.try_out()}"
