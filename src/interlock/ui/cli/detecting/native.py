"""Projects whose own tool builds and tests: Go, Rust, CMake, Meson, and whatever has a Makefile."""

import re
from collections.abc import Iterator

from interlock.ui.cli.detecting.detected import CheckFound, SetupFound
from interlock.ui.cli.detecting.ignoring import ignored_in_recipe
from interlock.ui.cli.detecting.layout import Layout

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
TARGETS = ("test", "check", "tests")
_NEEDS_THE_NETWORK = re.compile(
    r"\b(tox|nox|docker|docker-compose|podman|curl|wget|pip3? install|npm (ci|i|install)|go (get|install)"
    r"|uv sync|poetry install|bundle install)\b"
)
"""Recipes that cannot work in a sandbox."""


_DECLARES_TESTS = re.compile(
    r"^\s*(enable_testing\s*\(|include\s*\(\s*CTest\b)", re.MULTILINE | re.IGNORECASE
)


def make_checks(layout: Layout) -> Iterator[CheckFound]:
    """The targets that test, by the project's own words."""
    name = layout.first(*MAKEFILES)
    text = layout.text(name) if name else ""
    for target in TARGETS:
        recipe = _recipe(text, target)
        if recipe is not None and not _NEEDS_THE_NETWORK.search(recipe):
            ignores = ignored_in_recipe(text, target, recipe)
            yield CheckFound(f"make {target}", f"{name}: {target}", ignores)
    if not name and layout.has("configure.ac", "configure"):
        yield CheckFound("make check", "configure.ac")


def cmake_checks(layout: Layout) -> Iterator[CheckFound]:
    """ctest, where the project declares tests."""
    if _DECLARES_TESTS.search(layout.text("CMakeLists.txt")):
        build = _build_folder(layout)
        made = f"cmake -S . -B {build} && cmake --build {build} -j $(nproc)"
        yield CheckFound(f"{made} && ctest --test-dir {build} --output-on-failure", "CMakeLists.txt")


def meson_checks(layout: Layout) -> Iterator[CheckFound]:
    """`meson setup` leaves a folder alone that is configured already."""
    if re.search(r"^\s*(test|subdir)\s*\(", layout.text("meson.build"), re.MULTILINE):
        build = _build_folder(layout)
        yield CheckFound(f"meson setup {build} && meson test -C {build}", "meson.build")


def _build_folder(layout: Layout) -> str:
    """A folder for what is built that is no folder of the project itself."""
    return "_build" if layout.has("build/CMakeLists.txt", "build/meson.build") else "build"


def autotools_setup(layout: Layout) -> Iterator[SetupFound]:
    """A Makefile that `configure` makes."""
    source = layout.first("configure.ac", "configure.in")
    if source and layout.has("Makefile.am", "Makefile.in"):
        key = [name for name in (source, "Makefile.am") if layout.has(name)]
        yield SetupFound(("autoreconf -fi", "./configure", "make"), tuple(key), ("Makefile",), source)


def go_checks(layout: Layout) -> Iterator[CheckFound]:
    name = layout.first("go.mod", "go.work")
    if name:
        yield CheckFound("go test ./...", name)


def cargo_checks(layout: Layout) -> Iterator[CheckFound]:
    if layout.has("Cargo.toml"):
        whole = " --workspace" if "workspace" in layout.toml("Cargo.toml") else ""
        yield CheckFound(f"cargo test{whole} --offline", "Cargo.toml")


def _recipe(text: str, target: str, depth: int = 2) -> str | None:
    """The commands of a make target and of its prerequisites; None if there is no such target."""
    pattern = rf"^{re.escape(target)}\s*:(?![:=])(?P<needs>[^\n#]*)[^\n]*\n(?P<lines>(?:\t[^\n]*\n?|\s*\n)*)"
    found = re.search(pattern, f"{text}\n", re.MULTILINE)
    if found is None:
        return None
    needs = [_recipe(text, name, depth - 1) or "" for name in found["needs"].split()] if depth else []
    return "\n".join([found["lines"], *needs])
