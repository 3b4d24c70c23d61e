"""How set-up and check are found: the layouts are those of public projects, cut down to what counts."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from interlock.ui.cli.detecting import detect


@dataclass(frozen=True)
class Kind:
    """One project as its people have it, and what is to be found."""

    name: str
    files: dict[str, str]
    check: str
    source: str
    setup: str = ""
    programs: tuple[str, ...] = ("python",)
    """On the PATH."""
    others: tuple[str, ...] = field(default=())
    """Checks that come after the first."""


VENV = {".venv/pyvenv.cfg": "home = /usr/bin\n"}
CI_BUILDS = """\
jobs:
  test:
    steps:
      - uses: actions/checkout@v7
      - run: pnpm build
      - run: pnpm test
"""

CTEST = "cmake -S . -B build && cmake --build build -j $(nproc) && ctest --test-dir build --output-on-failure"

KINDS = (
    Kind(
        "pluggy: uv.lock and tox with a command from the environment",
        {
            "uv.lock": "",
            "pyproject.toml": '[dependency-groups]\ntesting = ["pytest"]\n',
            "tox.ini": "[testenv]\ncommands=\n  {env:_PLUGGY_TOX_CMD:pytest} {posargs}\n"
            "  coverage: coverage combine\n",
            "src/pluggy/__init__.py": "",
        },
        ".venv/bin/python -m pytest",
        "tox.ini: testenv",
        "uv sync --frozen --group testing",
    ),
    Kind(
        "flask: tox in TOML",
        {
            "uv.lock": "",
            "pyproject.toml": '[dependency-groups]\ntests = ["pytest"]\n'
            '[tool.tox.env_run_base]\ncommands = [["pytest",'
            ' "-v", "--basetemp={env_tmp_dir}", {replace = "posargs", default = [], extend = true}]]\n',
        },
        ".venv/bin/python -m pytest -v",
        "pyproject.toml: testenv",
        "uv sync --frozen --group tests",
    ),
    Kind(
        "attrs: a command for one factor",
        {
            "tox.ini": "[testenv]\ncommands =\n    tests: pytest {posargs:-n auto}\n    mypy: mypy src\n",
            **VENV,
        },
        ".venv/bin/python -m pytest -n auto",
        "tox.ini: testenv",
    ),
    Kind(
        "requests: setuptools, Makefile and tox",
        {
            "pyproject.toml": '[dependency-groups]\ntest = ["pytest"]\n[tool.pytest.ini_options]\n',
            "tox.ini": "[testenv]\ncommands =\n    pytest {posargs:tests}\n",
            "Makefile": "test:\n\tpython -m pytest tests\n\nci:\n\tpytest\n",
            "src/requests/__init__.py": "",
            ".venv/lib/python3.12/site-packages/__editable__.requests.pth": "ROOT/src\n",
            **VENV,
        },
        ".venv/bin/python -m pytest tests",
        "tox.ini: testenv",
        "python3 -m venv .venv && .venv/bin/python -m pip install -e . --group test",
        others=(". .venv/bin/activate && make test", ".venv/bin/python -m pytest -q"),
    ),
    Kind(
        "marshmallow: a copy is installed, so the path says where the changes are",
        {
            "tox.ini": "[testenv]\ncommands = pytest {posargs}\n",
            "src/marshmallow/__init__.py": "",
            ".venv/lib/python3.12/site-packages/marshmallow/__init__.py": "",
            **VENV,
        },
        "PYTHONPATH=src .venv/bin/python -m pytest",
        "tox.ini: testenv",
    ),
    Kind(
        "httpx: scripts/",
        {
            "scripts/test": "#!/bin/sh\ncoverage run -m pytest\n",
            "requirements.txt": "-e .\n",
            "venv/pyvenv.cfg": "",
        },
        ". venv/bin/activate && ./scripts/test",
        "scripts/test",
        "python3 -m venv venv && venv/bin/python -m pip install -r requirements.txt",
    ),
    Kind(
        "tqdm: tox inside of pyproject.toml, coverage measured",
        {
            "pyproject.toml": '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ncommands=\n    pytest --cov=tqdm'
            ' --cov-report term-missing {posargs:-k "not perf"}\n"""\n',
        },
        "python -m pytest -k 'not perf'",
        "pyproject.toml: testenv",
    ),
    Kind(
        "rich: poetry, with an environment in its cache",
        {
            "poetry.lock": "",
            "pyproject.toml": "[tool.poetry]\n",
            "tox.ini": "[testenv]\ncommands =\n    poetry install\n"
            "    pytest --cov-report term-missing --cov=rich tests/ {posargs}\n",
        },
        "poetry run python -m pytest tests/",
        "tox.ini: testenv",
        "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",
        programs=("poetry",),
    ),
    Kind(
        "poetry-core: nothing but tests",
        {"pyproject.toml": "[tool.pytest.ini_options]\n", "tests/test_core.py": ""},
        "python -m pytest -q",
        "pyproject.toml: pytest",
    ),
    Kind(
        "koa: npm",
        {
            "package.json": '{"scripts": {"test": "node --test"}, "devDependencies": {"c8": "1"}}',
            "package-lock.json": "{}",
        },
        "npm test",
        "package.json: scripts.test",
        "npm ci",
    ),
    Kind(
        "vitest alone: told to name what passed",
        {"package.json": '{"scripts": {"test": "vitest run --coverage"}}'},
        "npm test -- --reporter=verbose",
        "package.json: scripts.test",
    ),
    Kind(
        "rehype: a test of several steps",
        {
            "package.json": '{"scripts": {"test": "npm run format && npm run test-coverage",'
            ' "test-api": "node test/index.js", "test-coverage": "c8 npm run test-api"}}'
        },
        "npm test",
        "package.json: scripts.test",
        others=("npm run test-api", "npm run test-coverage"),
    ),
    Kind(
        "jest that says itself what it prints",
        {"package.json": '{"scripts": {"test": "jest --silent"}}'},
        "npm test",
        "package.json: scripts.test",
    ),
    Kind(
        "chokidar: tests are compiled",
        {
            "package.json": '{"scripts": {"test": "node index.test.js", "build": "tsc"}}',
            "package-lock.json": "{}",
            "src/index.test.ts": "",
        },
        "npm run build && npm test",
        "package.json: scripts.test, scripts.build",
        "npm ci",
        others=("npm test",),
    ),
    Kind(
        "zod: a workspace of pnpm whose CI builds first",
        {
            "package.json": '{"packageManager": "pnpm@10.12.1", "scripts": {"test": "vitest'
            ' run", "build": "zshy"}}',
            "pnpm-lock.yaml": "",
            ".github/workflows/test.yml": CI_BUILDS,
        },
        "pnpm run build && pnpm test",
        "package.json: scripts.test, .github/workflows/test.yml",
        "pnpm install --frozen-lockfile",
        programs=("pnpm",),
        others=("pnpm test", "pnpm build && pnpm test"),
    ),
    Kind(
        "pnpm by way of corepack, tests that would watch",
        {
            "package.json": '{"packageManager": "pnpm@10.12.1", "scripts": {"test": "vitest"}}',
            "pnpm-lock.yaml": "",
        },
        "CI=true corepack pnpm test",
        "package.json: scripts.test",
        "corepack pnpm install --frozen-lockfile",
        programs=("corepack",),
    ),
    Kind(
        "hiredis: a Makefile in C",
        {
            "Makefile": "test.o: test.c\n\ntest: hiredis-test\n\t./hiredis-test\n\n"
            "check: hiredis-test\n\t./test.sh\n"
        },
        "make test",
        "Makefile: test",
        others=("make check",),
    ),
    Kind(
        "cJSON: CI builds with CMake, and the Makefile runs a demo",
        {
            "Makefile": "test: tests\n\t./demo\n\ntests: demo\n",
            "CMakeLists.txt": "project(cJSON)\nif(ENABLE_TEST)\n    enable_testing()\nendif()\n",
            ".github/workflows/CI.yml": "jobs:\n  linux:\n    steps:\n      - run: |\n"
            "          mkdir -p build\n          cd build\n          cmake .. $OPTIONS\n"
            "          make\n          make test\n",
        },
        CTEST,
        "CMakeLists.txt",
        others=("make test", "make tests"),
    ),
    Kind(
        "a Makefile that the CI tests with stays first",
        {
            "Makefile": "test:\n\t./all\n",
            "CMakeLists.txt": "include(CTest)\n",
            ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: make -j4 test\n",
        },
        "make test",
        "Makefile: test",
        others=(CTEST, "make -j4 test"),
    ),
    Kind(
        "a project of Meson",
        {"meson.build": "project('x', 'c')\ntest('a', a)\n"},
        "meson setup build && meson test -C build",
        "meson.build",
    ),
    Kind(
        "a Makefile that lints, and a CI that tests in a folder of its own",
        {
            "Makefile": "test:\n\truff check\n",
            "api/main.go": "",
            ".github/workflows/ci.yml": "jobs:\n  a:\n    defaults: {run: {working-directory: api}}\n"
            "    steps:\n      - run: go test ./...\n",
        },
        "cd api && go test ./...",
        ".github/workflows/ci.yml",
        others=("make test",),
    ),
    Kind(
        "inih: the last line of the CI's step decides, and its scripts always exit 0",
        {
            "tests/unittest.sh": "./a > out.txt\nrm -f a\n",
            "examples/cpptest.sh": "./b > out.txt\n",
            ".github/workflows/tests.yml": "jobs:\n  a:\n    steps:\n      - run: |\n          cd tests\n"
            "          ./unittest.sh\n          cd ../examples\n          ./cpptest.sh\n"
            "          git diff --exit-code\n",
        },
        "cd tests && ./unittest.sh && cd ../examples && ./cpptest.sh && git diff --exit-code",
        ".github/workflows/tests.yml",
    ),
    Kind(
        "npm with a test that lints only",
        {
            "package.json": '{"scripts": {"test": "eslint .", "unit": "mocha test", "watch": "mocha --watch",'
            ' "lint": "eslint ."}}'
        },
        "npm test",
        "package.json: scripts.test",
        others=("npm run unit",),
    ),
    Kind(
        "jq: autotools",
        {"configure.ac": "", "Makefile.am": ""},
        "make check",
        "configure.ac",
        "autoreconf -fi && ./configure && make",
    ),
    Kind(
        "cobra: Go, and a Makefile that downloads",
        {
            "go.mod": "module m\n",
            "Makefile": "test: deps\n\tgo test -v ./...\n\ndeps:\n\tgo get -t -v ./...\n",
        },
        "go test ./...",
        "go.mod",
    ),
    Kind("scopeguard: Rust", {"Cargo.toml": "[package]\n"}, "cargo test --offline", "Cargo.toml"),
    Kind(
        "a workspace of cargo",
        {"Cargo.toml": "[workspace]\nmembers = ['a']\n"},
        "cargo test --workspace --offline",
        "Cargo.toml",
    ),
    Kind(
        "only the CI says how",
        {
            ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: ./configure\n"
            "      - run: |\n          make\n          make check\n"
        },
        "./configure && make && make check",
        ".github/workflows/ci.yml",
    ),
)


def lay_out(root: Path, kind: Kind) -> dict[str, str]:
    """Write the files, and programs onto a PATH of their own; the environment."""
    for name, text in kind.files.items():
        path = root / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("ROOT", str(root / "project")))
        path.chmod(0o755)
    (root / "bin").mkdir()
    for name in kind.programs:
        (root / "bin" / name).touch(0o755)
    return {"PATH": str(root / "bin")}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_set_up_and_check_are_found(tmp_path: Path, kind: Kind) -> None:
    environ = lay_out(tmp_path, kind)
    found = detect(tmp_path / "project", environ)
    assert found.check
    assert (found.check.command, found.check.source) == (kind.check, kind.source)
    if kind.setup:
        assert found.setups[0].command == kind.setup
    if kind.others:
        assert tuple(check.command for check in found.checks[1:]) == kind.others


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        *(
            ("Makefile", f"test:\n\t{recipe}\n", "")
            for recipe in (
                *("-python -m pytest", "@-pytest -q", "-@pytest", "rm -f x\n\t-pytest", "- pytest"),
                *("pytest || true", "pytest ; true", "pytest || :", "pytest; exit 0", "pytest || echo red"),
                *("pytest | tee log", "pytest \\\n\t  || true", "pytest || exit 0"),
            )
        ),
        ("Makefile", ".IGNORE:\ntest:\n\tpytest\n", ""),
        ("Makefile", ".IGNORE: lint test\ntest:\n\tpytest\n", ""),
        ("Makefile", "MAKEFLAGS += -i\ntest:\n\tpytest\n", ""),
        ("Makefile", "MAKEFLAGS += --silent\ntest:\n\tpytest\n", "make test"),
        ("Makefile", ".IGNORE: lint\ntest:\n\tpytest\n", "make test"),
        ("Makefile", "test:\n\t-rm -f x\n\tpytest -k 'a || true'\n\t-@rm y\n", "make test"),
        ("Makefile", "test:\n\ttest -d b || mkdir b; cd b; pytest\n", "make test"),
        ("Makefile", "test:\n\tset -o pipefail; pytest | tee log\n", "make test"),
        ("Makefile", "test:\n\t@which pytest || echo install it\n\tpytest\n", "make test"),
        ("Makefile", "test:\n\t./configure || true\n\tpytest\n", "make test"),
        ("package.json", '{"scripts": {"test": "mocha || true"}}', ""),
        ("package.json", '{"scripts": {"test": "mocha; exit 0"}}', ""),
        ("package.json", '{"scripts": {"test": "echo a && mocha"}}', "npm test"),
        ("scripts/test.sh", "pytest\necho done\n", ""),
        ("scripts/test.sh", "set -eu\npytest\necho done\n", "sh scripts/test.sh"),
        ("scripts/test.sh", "pytest || true\n", ""),
        (".github/workflows/ci.yml", "jobs: {a: {steps: [{run: make -i test}]}}", ""),
        (".github/workflows/ci.yml", "jobs: {a: {steps: [{run: pytest, continue-on-error: true}]}}", ""),
        ("Makefile", "tests-all:\n\ttrue\n", ""),
        ("GNUmakefile", "test :\n\ttrue\n", "make test"),
        ("Makefile", "test := x\n", ""),
        ("Makefile", "test:\n\ttox -p\n", ""),
        ("test_shop.py", "", "python -m pytest -q"),
        ("package.json", '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}', ""),
        ("package.json", "{broken", ""),
        ("package.json", "[]", ""),
        ("pyproject.toml", "not = [toml", ""),
        (".github/workflows/ci.yml", "jobs: [", ""),
        ("tox.ini", "[testenv]\ncommands = pytest {unknown}\n", ""),
        ("tox.ini", "[testenv]\ncommands = pytest 'open\n", "pytest 'open"),
    ],
)
def test_what_makes_no_sense_is_no_check(tmp_path: Path, name: str, text: str, command: str) -> None:
    (tmp_path / "python").touch(0o755)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text)
    check = detect(tmp_path, {"PATH": str(tmp_path)}).check
    assert (check.command if check else "") == command


@pytest.mark.parametrize(
    ("line", "command"),
    [
        *(
            (f"pytest -q {green}", "")
            for green in ("|| true", "; true", "| tee log", "&", "|| echo red; exit 0")
        ),
        *(
            (f"{other} pytest", "")
            for other in ("python -m pip install", "uv pip install", "echo", "grep -rn")
        ),
        *((f"pytest {look}", "") for look in ("--version", "--collect-only -q", "'open")),
        ("pip install -e . && pytest", ""),
        ("pytest -q -k 'a;b | c' tests", ".venv/bin/python -m pytest -q -k 'a;b | c' tests"),
        ("pytest a && pytest b 2>&1", ". .venv/bin/activate && pytest a && pytest b 2>&1"),
        ("pytest $MORE tests/*.py > log", ". .venv/bin/activate && pytest $MORE tests/*.py > log"),
        ('pytest "$MORE;" # all', '. .venv/bin/activate && pytest "$MORE;" # all'),
        ("uv run pytest tests/*.py", ". .venv/bin/activate && pytest tests/*.py"),
    ],
)
def test_a_line_of_the_ci_is_used_as_its_shell_reads_it_or_not_at_all(
    tmp_path: Path, line: str, command: str
) -> None:
    """What another command can turn green, or what only installs or prints, is no check."""
    steps = json.dumps({"jobs": {"a": {"steps": [{"run": line}]}}})
    lay_out(tmp_path, Kind("", {".github/workflows/ci.yml": steps, **VENV}, "", ""))
    found = detect(tmp_path / "project", {"PATH": str(tmp_path / "bin")})
    assert [check.command for check in found.checks] == ([command] if command else [])


@pytest.mark.parametrize(
    ("run", "command"),
    [
        ("make\nmake test # fast\nmake clean", "make && . .venv/bin/activate && make test # fast"),
        ("if true\nthen pytest a\nfi\npytest b", ".venv/bin/python -m pytest b"),
        ("A=1\nset -e\npytest b", ". .venv/bin/activate && A=1 && set -e && pytest b"),
        ("pip install x\npytest", ".venv/bin/python -m pytest"),
        ("uv run --locked --group dev -- pytest -q", ".venv/bin/python -m pytest -q"),
    ],
)
def test_a_step_is_used_as_a_whole_or_by_its_test_alone(tmp_path: Path, run: str, command: str) -> None:
    steps = json.dumps({"jobs": {"a": {"steps": [{"run": run}]}}})
    lay_out(tmp_path, Kind("", {".github/workflows/ci.yml": steps, **VENV}, "", ""))
    found = detect(tmp_path / "project", {"PATH": str(tmp_path / "bin")})
    assert [check.command for check in found.checks] == [command]


def test_jobs_for_another_repository_are_left_out_and_linters_of_the_ci_are_named(tmp_path: Path) -> None:
    """koa's CI lints, click's tests Flask: neither is what a change here is checked by."""
    foreign = {"steps": [{"uses": "actions/checkout@v4", "with": {"repository": "x/y"}}, {"run": "pytest"}]}
    lines = ("npm ci", "npm run lint", "npm run test:types", "npm run test:coverage", "pip install mypy")
    mine = {"uses": "actions/checkout@v4", "with": {"repository": "${{ github.repository }}"}}
    other = {"uses": "codecov/codecov-action@v4", "with": {"repository": "x/y"}}
    own = {"steps": [mine, *({"run": line} for line in lines), other]}
    steps = json.dumps({"jobs": {"foreign": foreign, "own": own}})
    package = json.dumps({"scripts": {"test": "npm run test:types && jest", "lint": "eslint ."}})
    lay_out(tmp_path, Kind("", {".github/workflows/ci.yml": steps, "package.json": package}, "", ""))
    found = detect(tmp_path / "project", {"PATH": str(tmp_path / "bin")})
    assert [check.command for check in found.unchecked] == ["npm run lint"]
    assert "pytest" not in {check.command for check in found.checks}


def test_a_lock_file_without_its_folder_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").touch()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "package-lock.json").write_text("{}")
    (tmp_path / "node_modules").mkdir()
    assert [(setup.source, setup.absent) for setup in detect(tmp_path).absent] == [("uv.lock", (".venv",))]


def test_a_set_up_whose_program_is_not_here_is_told_and_not_written(tmp_path: Path) -> None:
    project = tmp_path / "project"
    environ = lay_out(tmp_path, Kind("", {"uv.lock": "", "pyproject.toml": "", "pnpm-lock.yaml": ""}, "", ""))
    found = detect(project, environ)
    assert [(setup.command, setup.needs) for setup in found.setups] == [
        ("uv sync --frozen", "uv"),
        ("pnpm install --frozen-lockfile", "pnpm"),
    ]
    assert found.setup is None
    (tmp_path / "bin" / "corepack").touch(0o755)
    there = detect(project, environ).setup
    assert there and there.run == ("corepack pnpm install --frozen-lockfile",)
