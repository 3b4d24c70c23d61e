"""Python projects: which environment they run in, how it is made, and how a command is run in it.

1. The checkout's own environment comes first: `.venv/bin/python` works without a network and without a tool.
2. Tests are started as `python -m pytest`: the folder they start in comes first on the path then, so that a
   copy of the project that is installed beside it is not what is tested.
3. In a src layout the project must be installed so that changes count, else PYTHONPATH says where it is.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile

from interlock.ui.cli.detecting.detected import CheckFound, SetupFound
from interlock.ui.cli.detecting.layout import Layout, table, text_of, words

ENVIRONMENTS = (".venv", "venv", "env")
_MODULES = ("pytest", "py.test", "coverage", "unittest", "stestr", "trial", "nose2")
_TEST_NAMES = re.compile(r"^(tests?|testing)([-_.]|$)", re.IGNORECASE)
_WITH_VALUE = ("--cov", "--cov-report", "--cov-config", "--cov-fail-under", "--basetemp")
"""Options whose value may be the next word."""
_DEV_NAMES = ("dev", "develop", "development")


def is_python(layout: Layout) -> bool:
    named = layout.has("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini")
    return named or bool(_has_tests(layout))


def pytest_checks(layout: Layout) -> Iterator[CheckFound]:
    """The last resort: pytest, or unittest where the tests need no more."""
    configured = layout.has("pytest.ini", ".pytest.ini") or bool(table(layout.pyproject, "tool", "pytest"))
    tests = _has_tests(layout)
    if configured or tests:
        source = "pyproject.toml: pytest" if configured and not layout.has("pytest.ini") else "pytest.ini"
        yield CheckFound(in_environment(layout, "pytest -q"), source if configured else f"{tests}")
    if tests and not configured:
        start = "tests" if (layout.root / "tests").is_dir() else "."
        yield CheckFound(in_environment(layout, f"python -m unittest discover -s {start} -t ."), tests)


def in_environment(layout: Layout, command: str) -> str:
    """The command as it has to be typed so that the project's own Python runs it."""
    command = _without_wrapper(command)
    try:
        rest = _module_words(shlex.split(command))
    except ValueError:  # a quote without its end
        rest = None
    if rest is None:
        return activated(layout, command)
    environment = environment_of(layout)
    return f"{_path_prefix(layout, environment)}{_python(layout, environment)} {shlex.join(rest)}"


def activated(layout: Layout, line: str) -> str:
    """The line of a shell as it is, with the project's environment before it."""
    environment = environment_of(layout)
    line = _without_wrapper(line)
    return f". {environment}/bin/activate && {line}" if environment else line


def environment_of(layout: Layout) -> str:
    """The environment in the checkout: one that is there, or the one that set-up will make."""
    there = (name for name in ENVIRONMENTS if (layout.root / name / "pyvenv.cfg").is_file())
    return next(there, ".venv" if layout.has("uv.lock", "pdm.lock") else "")


def python_setup(layout: Layout) -> Iterator[SetupFound]:
    """The commands that make the environment. A lock file is installed exactly."""
    if not is_python(layout) and not layout.first("requirements.txt"):
        return
    environment = next((name for name in ENVIRONMENTS if layout.has(f"{name}/pyvenv.cfg")), ".venv")
    for lock, run in _LOCKED.items():
        if layout.has(lock):
            more = "".join(f" {flag}" for flag in _uv_flags(layout)) if lock == "uv.lock" else ""
            yield SetupFound((f"{run}{more}",), (lock,), (".venv",), lock, locked=True)
            return
    if install := _pip_words(layout):
        named = requirements(layout)
        key = named or [name for name in ("pyproject.toml", "setup.py", "setup.cfg") if layout.has(name)]
        make = f"python3 -m venv {environment}"
        fill = f"{environment}/bin/python -m pip install {install}"
        yield SetupFound((make, fill), tuple(key), (environment,), key[0], locked=bool(named))


def requirements(layout: Layout) -> list[str]:
    """The files that name what tests need."""
    names = ("requirements.txt", "requirements-dev.txt", "requirements-test.txt", "dev-requirements.txt")
    more = ("requirements/test.txt", "requirements/tests.txt", "requirements/dev.txt")
    return [name for name in (*names, *more) if (layout.root / name).is_file()]


def _pip_words(layout: Layout) -> str:
    said = []
    if layout.has("pyproject.toml", "setup.py", "setup.cfg"):
        extras = _test_names(table(layout.pyproject, "project", "optional-dependencies"))
        said.append(shlex.join(("-e", f".[{','.join(extras)}]" if extras else ".")))
    said += [f"--group {group}" for group in _test_names(table(layout.pyproject, "dependency-groups"))]
    said += [f"-r {name}" for name in requirements(layout)]
    return " ".join(said)


def _uv_flags(layout: Layout) -> Iterator[str]:
    """The groups and extras that tests need; `dev` comes by itself."""
    for group in _test_names(table(layout.pyproject, "dependency-groups"), dev=False):
        yield f"--group {group}"
    for extra in _test_names(table(layout.pyproject, "project", "optional-dependencies")):
        yield f"--extra {extra}"


def _test_names(named: dict[str, object], *, dev: bool = True) -> list[str]:
    """Return the groups or extras for tests; if there is none, the one for developers."""
    tests = [name for name in named if _TEST_NAMES.match(name)]
    return tests or [name for name in named if dev and name in _DEV_NAMES][:1]


def _python(layout: Layout, environment: str) -> str:
    if environment:
        return f"{environment}/bin/python"
    if layout.has("poetry.lock") and layout.is_on_path("poetry"):
        return "poetry run python"
    if layout.has("Pipfile.lock") and layout.is_on_path("pipenv"):
        return "pipenv run python"
    return "python" if layout.is_on_path("python") else "python3"


def _path_prefix(layout: Layout, environment: str) -> str:
    """PYTHONPATH where the project is not installed from its own files."""
    options = table(layout.pyproject, "tool", "pytest", "ini_options")
    if not _is_src_layout(layout) or "src" in words(options.get("pythonpath")):
        return ""
    if environment:
        made = (layout.root / environment).is_dir()
        return "PYTHONPATH=src " if made and not _is_editable(layout, environment) else ""
    by_a_tool = layout.has("poetry.lock", "Pipfile.lock")
    return "" if by_a_tool or layout.environ.get("VIRTUAL_ENV") else "PYTHONPATH=src "


def _is_src_layout(layout: Layout) -> bool:
    source = layout.root / "src"
    return source.is_dir() and any(
        path.is_file() for path in (*source.glob("*.py"), *source.glob("*/__init__.py"))
    )


def _is_editable(layout: Layout, environment: str) -> bool:
    installed = layout.root / environment
    for packages in installed.glob("lib/python3*/site-packages"):
        links = (*packages.glob("*.pth"), *packages.glob("*.egg-link"), *packages.glob("__editable__*"))
        urls = packages.glob("*.dist-info/direct_url.json")
        if any(str(layout.root) in text_of(file) for file in links):
            return True
        if any('"editable": true' in (said := text_of(url)) and str(layout.root) in said for url in urls):
            return True
    return False


def _has_tests(layout: Layout) -> str:
    """The path of the first test, or an empty text."""
    for pattern in ("tests/test_*.py", "test/test_*.py", "test_*.py", "tests/*/test_*.py", "tests/*_test.py"):
        for path in layout.root.glob(pattern):
            return str(path.relative_to(layout.root))
    return ""


_WRAPPER = re.compile(
    r"^(uv|poetry|pdm|pipenv|rye) run "
    r"(?:(?:--(?:with(?:-\w+)?|(?:only-|no-)?group|extra|python|package|env-file)|-[pE]) \S+ "
    r"|--?[\w-]+(?:=\S+)? )*(?:-- )?"
)


def _without_wrapper(command: str) -> str:
    """Remove the tool that would find the environment: we name the environment ourselves."""
    return _WRAPPER.sub("", command.strip())


def _module_words(said: list[str]) -> list[str] | None:
    """The words after `python`, if the command runs Python, without coverage measurement."""
    if said[:1] in (["python"], ["python3"]):
        said = said[1:]
        if said[:2] == ["-m", "coverage"]:
            said = said[1:]
    elif said and said[0] in _MODULES:
        said = ["-m", "pytest" if said[0] == "py.test" else said[0], *said[1:]]
        said = said[1:] if said[1] == "coverage" else said
    else:
        return None
    if said[:2] == ["coverage", "run"]:
        said = _after_coverage(said[2:])
    elif said[:1] == ["coverage"]:
        said = ["-m", *said]
    return _without_coverage(said) if said[:2] == ["-m", "pytest"] else said


def _after_coverage(said: list[str]) -> list[str]:
    if "-m" in said:
        return said[said.index("-m") :]
    return list(dropwhile(lambda word: word.startswith("-"), said))


def _without_coverage(said: list[str]) -> list[str]:
    """Remove pytest-cov, as a threshold is no test, and folders of tox's own."""
    kept: list[str] = []
    has_value = False
    for word in said:
        if has_value and not word.startswith("-"):
            has_value = False
            continue
        has_value = word in _WITH_VALUE
        if not word.startswith(("--cov", "--no-cov", "--basetemp")):
            kept.append(word)
    return kept


_LOCKED = {
    "uv.lock": "uv sync --frozen",
    "poetry.lock": "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",
    "pdm.lock": "pdm sync",
    "Pipfile.lock": "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev",
}
