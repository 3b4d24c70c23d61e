"""No sandbox at all, because a person said so."""

from collections.abc import Mapping

from interlock.model.process import Command
from interlock.model.sandbox import Grant, Sandbox
from interlock.sandbox.confinement import Confined, network_words
from interlock.sandbox.toolchains import NO_TOOLCHAINS


class Unconfined:
    """Programs can do whatever the user can. They find their forwarded ports on the host's own loopback."""

    kind = Sandbox.NONE
    alone = False
    toolchains = NO_TOOLCHAINS
    missing = "everything: programs can do whatever you can"

    def confine(self, command: Command, grant: Grant, mark: Mapping[str, str]) -> Confined:
        home = {"HOME": grant.home} if grant.home else {}
        return Confined(
            command.argv,
            {**command.env, **home, **mark},
            command.directory,
            network_words(grant, alone=False),
        )
