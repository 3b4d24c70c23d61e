"""Projects with a package.json: the lock file says which package manager, `scripts` says the rest."""

import re
from collections.abc import Iterator

from interlock.ui.cli.detecting.detected import CheckFound, SetupFound
from interlock.ui.cli.detecting.ignoring import ignoring_part
from interlock.ui.cli.detecting.layout import Layout, table

LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_WATCHES = re.compile(r"react-scripts test|\bvitest(?! run| --run)\b|--watch\b|\bkarma start\b")
"""Runners that would wait for changes of files, unless they are told that no person is there."""

_RUNS_TESTS = re.compile(
    r"(?:^|[\s/;&])(?:jest|vitest|mocha|ava|tap|tape|uvu|jasmine|qunit|node (?:\S+ )*--test)(?![\w:-])"
)

_NOT_FOR_CHECKS = re.compile(r"watch|debug|inspect|update|bench|browser|e2e")
_PART = re.compile(r"(test|unit)[:_-]\w")
"""Name of a script that is one of several steps of `test`."""
_LONE = re.compile(r"(?:npx )?(jest|vitest run)(?: [^&|;<>`$()]*)?")
_REPORTS = re.compile(r"--(?:verbose|silent|reporters?|json|outputFile|watch\w*)\b| -- ")


def node_checks(layout: Layout) -> Iterator[CheckFound]:
    """`scripts.test`, with the project's own package manager; any that is here can run a script.

    Then the scripts that start a test program and that `test` does not run: it may be the linter alone. Then
    its parts: `test` may fail on main for what it does before or after them.
    """
    scripts = {name: text for name, text in table(layout.package, "scripts").items() if isinstance(text, str)}
    script = scripts.get("test", "")
    if script and "no test specified" not in script:
        command = f"{_alone(script)}{_runner(layout)} test{_naming(layout, script)}"
        yield CheckFound(command, "package.json: scripts.test", ignoring_part(script))
    if _RUNS_TESTS.search(script):
        return
    for name, text in scripts.items():
        runs_it = re.search(rf"\b{re.escape(name)}(?![\w:-])", script)
        if _RUNS_TESTS.search(text) and not runs_it and not _NOT_FOR_CHECKS.search(f"{name} {text}"):
            command = f"{_alone(text)}{_runner(layout)} run {name}{_naming(layout, text)}"
            yield CheckFound(command, f"package.json: scripts.{name}", ignoring_part(text))
    for name, text in scripts.items():
        is_run = re.search(rf"\brun {re.escape(name)}(?![\w:-])", " ".join(scripts.values()))
        if _PART.match(name) and is_run and not _NOT_FOR_CHECKS.search(f"{name} {text}"):
            yield CheckFound(
                f"{_runner(layout)} run {name}", f"package.json: scripts.{name}", ignoring_part(text)
            )


def _alone(script: str) -> str:
    return "CI=true " if _WATCHES.search(script) else ""


def _naming(layout: Layout, script: str) -> str:
    """Options with which a script that is a lone jest or vitest also names the tests that passed.

    Only for npm: the other package managers differ in which words they hand on.
    """
    found = _LONE.fullmatch(script.strip())
    if not found or _REPORTS.search(script) or _runner(layout) != "npm":
        return ""
    return " -- --verbose" if found[1] == "jest" else " -- --reporter=verbose"


def build_command(layout: Layout) -> str:
    return f"{_runner(layout)} run build" if "build" in table(layout.package, "scripts") else ""


def tests_what_is_built(layout: Layout) -> bool:
    """True if the script runs a file that is compiled from another one."""
    script = str(table(layout.package, "scripts").get("test", ""))
    compiled = (name for name in script.split() if re.search(r"\.[mc]?js$", name))
    sources = (re.sub(r"js$", "ts", name) for name in compiled)
    return any(layout.has(name, f"src/{name}") for name in sources)


def node_setup(layout: Layout) -> Iterator[SetupFound]:
    package = layout.package
    if not (set(package) & {"dependencies", "devDependencies", "workspaces"} or layout.has(*LOCKS)):
        return
    manager, lock = package_manager(layout), layout.first(*LOCKS)
    run = _INSTALL[manager] if lock else f"{manager} install"
    if manager == "yarn" and "__metadata" in layout.text("yarn.lock"):
        run = "yarn install --immutable"
    if not layout.is_on_path(manager) and manager in ("pnpm", "yarn") and layout.is_on_path("corepack"):
        run = f"corepack {run}"
    source = lock or "package.json"
    yield SetupFound((run,), (source,), ("node_modules",), source, locked=bool(lock))


def package_manager(layout: Layout) -> str:
    """The project's own: `packageManager` before the lock file."""
    named = str(layout.package.get("packageManager", "")).partition("@")[0]
    if named in _INSTALL:
        return named
    return LOCKS.get(layout.first(*LOCKS), "npm")


def _runner(layout: Layout) -> str:
    """The package manager as it can be started here: itself, through corepack, or npm in its place."""
    manager = package_manager(layout)
    if manager == "npm" or layout.is_on_path(manager):
        return "bun run" if manager == "bun" else manager
    if manager != "bun" and layout.is_on_path("corepack"):
        return f"corepack {manager}"
    return "npm"


_INSTALL = {
    "npm": "npm ci",
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install --frozen-lockfile",
    "bun": "bun install --frozen-lockfile",
}
