"""Settings about the remote, and where a tested change goes. `Settings` has all the others."""

from dataclasses import dataclass, field
from typing import Literal

from interlock.engine.money_settings import MoneySettings


@dataclass(frozen=True, slots=True)
class LandingSettings(MoneySettings):
    """The remote, and where tested changes go."""

    fetch: bool = True
    """Update the branch from its upstream before a run and during it: by fast-forward, or by a merge that
    passes the project's checks."""
    fetch_every_seconds: float = 60.0
    """Interval of these updates during a run."""
    land: Literal["branch", "push", "pull-request"] = "branch"
    """The place where tested changes land. `branch`: your branch, here. `push`: the branch that it follows on
    a remote, and your branch after that. `pull-request`: each is proposed, and lands when that is merged."""
    land_together: bool = True
    """Let changes that passed as one tree land as one merge, with a commit of each below it. If not, each
    lands as one commit. With pull requests, and where `review` asks for a person, each always lands alone."""
    structural_merge: Literal["auto", "off"] = "auto"
    """Use of mergiraf for files in which a change and main conflict. `auto`: if it is installed."""
    on_red_main: Literal["freeze", "revert", "judge"] = "freeze"
    """The rule while a commit from outside makes checks fail on main. `freeze`: only a fix or a revert lands.
    `revert`: that commit is also reverted. `judge`: changes land that make nothing worse."""
    review: Literal["none", "required", "auto"] = "none"
    """Review of tested changes before they land. `required`: a person approves each. `auto`: a person
    approves those that are not verified, too large, or change reserved files or how checks run."""
    review_by_category: dict[str, Literal["none", "required", "auto"]] = field(default_factory=dict)
    """The same for kinds of work, by the `category` that the task graph gives a task: a table."""
    review_lines: int = 50
    """The most lines that a change adds and removes and still lands without a person, with `auto`."""
    review_files: tuple[str, ...] = ()
    """Globs of files whose changes a person approves, with `auto`."""
    forge: Literal["auto", "gh", "glab", "none"] = "auto"
    """The program that opens pull requests. `auto`: `glab` for an address with `gitlab`, else
    `gh`, if it is installed. `none`, and without a program: each proposal is a branch and a patch."""
    pull_request_prefix: str = "interlock/"
    """The branch of a pull request is this and the name of its task."""
    pull_request_labels: tuple[str, ...] = ()
    """Labels of new pull requests. The forge must have them."""
    statements: Literal["auto", "signed", "unsigned", "off"] = "auto"
    """The statement about each landed commit, in git notes. `auto`: signed if your git signs commits.
    `signed`: with your git's key in any case. In your own file only."""
    auto_merge: bool = False
    """Let the forge merge a pull request whose change is verified as soon as its own rules allow that."""
    pull_request_poll_seconds: float = 30.0
    """Interval of looks at open pull requests during a run; ten times as long while nothing changes."""
    pull_request_wait_seconds: float = 0.0
    """The time for which a run goes on when only open pull requests are left."""

    @property
    def lands_together(self) -> bool:
        """True if several changes may land as one merge."""
        reviews = {self.review, *self.review_by_category.values()}
        return self.land_together and self.land != "pull-request" and reviews == {"none"}

    @property
    def fetch_seconds(self) -> float:
        """Interval of updates from the remote; 0: none. What is published there needs them."""
        return self.fetch_every_seconds if self.fetch or self.land != "branch" else 0.0
