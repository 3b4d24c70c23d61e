"""Settings about the remote, and where a tested change goes. `Settings` has all the others."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LandingSettings:
    """The remote, and where tested changes go."""

    fetch: bool = True
    """Update the branch from its upstream before a run and during it: by fast-forward, or by a merge that
    passes the project's checks."""
    fetch_every_seconds: float = 60.0
    """Interval of these updates during a run."""
    land: Literal["branch", "push", "pull-request"] = "branch"
    """The place where tested changes land. `branch`: your branch, here. `push`: the branch that it follows on
    a remote, and your branch after that. `pull-request`: each is proposed, and lands when that is merged."""
    structural_merge: Literal["auto", "off"] = "auto"
    """Use of mergiraf for files in which a change and main conflict. `auto`: if it is installed."""
    on_red_main: Literal["freeze", "revert", "judge"] = "freeze"
    """The rule while a commit from outside makes checks fail on main. `freeze`: only a fix or a revert lands.
    `revert`: that commit is also reverted. `judge`: changes land that make nothing worse."""
    forge: Literal["auto", "gh", "glab", "none"] = "auto"
    """The program that opens pull requests. `auto`: `glab` for an address with `gitlab`, else
    `gh`, if it is installed. `none`, and without a program: each proposal is a branch and a patch."""
    pull_request_prefix: str = "interlock/"
    """The branch of a pull request is this and the name of its task."""
    pull_request_labels: tuple[str, ...] = ()
    """Labels of new pull requests. The forge must have them."""
    auto_merge: bool = False
    """Let the forge merge a pull request whose change is verified as soon as its own rules allow that."""
    pull_request_poll_seconds: float = 30.0
    """Interval of looks at open pull requests during a run; ten times as long while nothing changes."""
    pull_request_wait_seconds: float = 0.0
    """The time for which a run goes on when only open pull requests are left."""

    @property
    def fetch_seconds(self) -> float:
        """Interval of updates from the remote; 0: none. What is published there needs them."""
        return self.fetch_every_seconds if self.fetch or self.land != "branch" else 0.0
