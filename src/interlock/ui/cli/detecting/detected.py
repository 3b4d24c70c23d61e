"""Values: what was found out about a checkout."""

from dataclasses import dataclass, field

from interlock.model.setup import Setup


@dataclass(frozen=True, slots=True)
class CheckFound:
    """A command that probably runs the project's tests."""

    command: str
    source: str
    """The file that says it, and where in it."""
    ignores: str = ""
    """The words because of which it is green whatever its tests say; empty: none were found."""


@dataclass(frozen=True, slots=True)
class SetupFound:
    """Commands that install what the project needs."""

    run: tuple[str, ...]
    key: tuple[str, ...]
    """The files that say what is installed: with the same content the result is the same."""
    makes: tuple[str, ...]
    source: str
    locked: bool = False
    """True if the key files alone decide what is installed."""
    absent: tuple[str, ...] = ()
    needs: str = ""
    """Its program, if that is not installed here."""

    @property
    def command(self) -> str:
        return " && ".join(self.run)


@dataclass(frozen=True, slots=True)
class Detected:
    """The set-up and the checks of a project, read from its files."""

    setups: tuple[SetupFound, ...] = ()
    """One for each ecosystem."""
    checks: tuple[CheckFound, ...] = field(default=())
    """Best first."""
    always_green: tuple[CheckFound, ...] = ()
    """Commands that ignore that tests fail."""
    unchecked: tuple[CheckFound, ...] = ()
    """Linters and type checkers of its CI, which no test command runs."""

    @property
    def check(self) -> CheckFound | None:
        return self.checks[0] if self.checks else None

    @property
    def setup(self) -> Setup | None:
        """The set-ups to write into a graph: of those that have a lock file, the ones in use.

        One whose program is not installed would hold back each check.
        """
        locked = [setup for setup in self.setups if setup.locked and not setup.needs]
        used = [setup for setup in locked if not setup.absent] or locked[:1]
        if not used:
            return None
        run = tuple(command for setup in used for command in setup.run)
        key = tuple(dict.fromkeys(name for setup in used for name in setup.key))
        makes = tuple(dict.fromkeys(name for setup in used for name in setup.makes))
        return Setup(run, key, makes if Setup(run).folders != makes else ())

    @property
    def absent(self) -> tuple[SetupFound, ...]:
        return tuple(setup for setup in self.setups if setup.absent)
