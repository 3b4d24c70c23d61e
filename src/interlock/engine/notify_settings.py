"""Settings about notifications. `Settings` has all the others.

Addresses and keys are the user's own: a repository that could name one would get what agents say, and be told
when its user is away.
"""

from dataclasses import dataclass
from typing import Literal

NotifyOn = Literal["needs-you", "failed", "red-main", "done"]


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """Who is told, of what, and when."""

    notify: Literal["auto", "bell", "desktop", "off"] = "auto"
    """Notification when `interlock run` on a terminal ends or an agent waits for you: `bell` rings, `auto`
    also notifies where the desktop or the terminal is known to, `desktop` asks any terminal to."""
    notify_webhook: str = ""
    """The address that a run posts signed notifications to. In your own file only."""
    notify_webhook_key: str = ""
    """The variable with the key that these are signed with. In your own file only."""
    notify_urls: tuple[str, ...] = ()
    """Addresses of mail, chat and other services in the form of Apprise, like `mailto://...`. Needs
    `interlock[notify]`. In your own file only."""
    notify_on: tuple[NotifyOn, ...] = ("needs-you", "failed", "red-main", "done")
    """What the webhook and these services are told of."""
    notify_every_seconds: float = 60.0
    """The least time between two messages to them; what happens meanwhile is told in one. 0: at once."""
    quiet_hours: str = ""
    """The hours of the day without messages to them, like `22:00-07:00`; one message tells the rest after
    it. Work that a used-up quota stopped does not go on in them either."""
    resume_in_quiet_hours: bool = False
    """Go on as soon as a quota is back, in quiet hours too."""
