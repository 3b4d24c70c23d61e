"""Which sandbox programs get on this machine."""

import os

from interlock.model.errors import EnvironmentProblem
from interlock.run.sandbox.bubblewrap import find_bubblewrap
from interlock.run.sandbox.confinement import Confinement
from interlock.run.sandbox.toolchains import find_toolchains


def choose_confinement() -> Confinement:
    found = find_bubblewrap(find_toolchains(["auto"], os.environ))
    if found is None:
        raise EnvironmentProblem("no sandbox")
    return found
