"""Small but real projects, each as people set such a project up: its files, its tools, its own test run.

Every project computes areas. One change adds a circle and is good; another one breaks `area` and must not
land; a later one uses a dependency that the person has installed meanwhile.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

PYTEST = ("pytest==9.2.0",)

Files = Mapping[str, str]
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dependency:
    """A dependency that the person adds, and a change that uses it."""

    install: tuple[Words, ...]
    change: Files
    manifest: Files = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of project."""

    name: str
    files: Files
    install: tuple[Words, ...]
    """What the person runs in the fresh clone, once."""
    own_tests: Words
    good: Files
    bad: Files
    dependency: Dependency | None = None
    needs: Words = ()
    """Programs without which the cell is skipped."""
    ignored: str = ""


PYTHON_FILES = {
    "shapes/__init__.py": "",
    "shapes/area.py": "def area(width, height):\n    return width * height\n",
    "tests/test_area.py": (
        "from shapes.area import area\n\n\ndef test_area():\n    assert area(2, 3) == 6\n\n\n"
        "def test_nothing():\n    assert area(0, 3) == 0\n"
    ),
}
PYTHON_GOOD = {
    "shapes/circle.py": "def circle(radius):\n    return 3 * radius * radius\n",
    "tests/test_circle.py": (
        "from shapes.circle import circle\n\n\ndef test_circle():\n    assert circle(2) == 12\n"
    ),
}
PYTHON_BAD = {"shapes/area.py": "def area(width, height):\n    return width + height\n"}
PYTHON_DEPENDENCY = {
    "shapes/words.py": "import inflection\n\n\ndef plural(word):\n    return inflection.pluralize(word)\n",
    "tests/test_words.py": (
        "from shapes.words import plural\n\n\ndef test_plural():\n    assert plural('circle') == 'circles'\n"
    ),
}
INFLECTION = "inflection==0.5.1"
PYTHON_IGNORED = ".venv/\n__pycache__/\n*.egg-info/\n.pytest_cache/\n"


def _below_src(files: Files) -> dict[str, str]:
    return {f"src/{name}" if name.startswith("shapes/") else name: text for name, text in files.items()}


def _project_table(backend: str, build: str, extra: str = "") -> str:
    return (
        f'[build-system]\nrequires = ["{build}"]\nbuild-backend = "{backend}"\n\n'
        f'[project]\nname = "shapes"\nversion = "1"\nrequires-python = ">=3.11"\n{extra}'
    )


SETUPTOOLS = _project_table(
    "setuptools.build_meta", "setuptools>=77", '\n[tool.setuptools]\npackages = ["shapes"]\n'
)
PIP = (".venv/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check")
VENV = (sys.executable, "-m", "venv", ".venv")
UV = (sys.executable, "-m", "uv")

EDITABLE = Cell(
    name="pip-editable",
    files={**PYTHON_FILES, "pyproject.toml": SETUPTOOLS},
    install=(VENV, (*PIP, "-e", ".", *PYTEST)),
    own_tests=(".venv/bin/python", "-m", "pytest", "-q"),
    good=PYTHON_GOOD,
    bad=PYTHON_BAD,
    dependency=Dependency(install=((*PIP, INFLECTION),), change=PYTHON_DEPENDENCY),
    ignored=PYTHON_IGNORED,
)

SRC_LAYOUT = Cell(
    name="src-layout",
    files={
        **_below_src(PYTHON_FILES),
        "pyproject.toml": _project_table(
            "hatchling.build", "hatchling", '\n[tool.hatch.build.targets.wheel]\npackages = ["src/shapes"]\n'
        ),
    },
    install=(VENV, (*PIP, "-e", ".", *PYTEST)),
    own_tests=(".venv/bin/python", "-m", "pytest", "-q"),
    good=_below_src(PYTHON_GOOD),
    bad=_below_src(PYTHON_BAD),
    dependency=Dependency(install=((*PIP, INFLECTION),), change=_below_src(PYTHON_DEPENDENCY)),
    ignored=PYTHON_IGNORED,
)

UV_LOCKED = Cell(
    name="uv",
    files={
        **PYTHON_FILES,
        "pyproject.toml": _project_table(
            "hatchling.build", "hatchling", 'dependencies = []\n\n[dependency-groups]\ndev = ["pytest"]\n'
        ),
    },
    install=((*UV, "sync", "-q"), ("git", "add", "uv.lock")),
    own_tests=(".venv/bin/python", "-m", "pytest", "-q"),
    good=PYTHON_GOOD,
    bad=PYTHON_BAD,
    dependency=Dependency(install=((*UV, "add", "-q", INFLECTION),), change=PYTHON_DEPENDENCY),
    ignored=PYTHON_IGNORED,
)

POETRY = Cell(
    name="poetry",
    files={
        **PYTHON_FILES,
        "pyproject.toml": (
            '[tool.poetry]\nname = "shapes"\nversion = "1"\ndescription = ""\nauthors = []\n\n'
            '[tool.poetry.dependencies]\npython = ">=3.11,<4"\n\n'
            '[tool.poetry.group.dev.dependencies]\npytest = "*"\n\n'
            '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n'
        ),
        "poetry.toml": "[virtualenvs]\nin-project = true\n",
        "poetry.lock": '[metadata]\nlock-version = "2.1"\npython-versions = ">=3.11,<4"\n',
    },
    # What `poetry install` leaves behind: Poetry itself asks an interface that not every mirror has.
    install=(VENV, (*PIP, "-e", ".", *PYTEST)),
    own_tests=(".venv/bin/python", "-m", "pytest", "-q"),
    good=PYTHON_GOOD,
    bad=PYTHON_BAD,
    dependency=Dependency(install=((*PIP, INFLECTION),), change=PYTHON_DEPENDENCY),
    ignored=PYTHON_IGNORED,
)

NPM_INSTALL = ("npm", "install", "--silent", "--no-audit", "--no-fund")
JS_AREA = "function area(width, height) {\n  return width * height\n}\n\nmodule.exports = { area }\n"
JS_IGNORED = "node_modules/\n"


def _package(test: str, packages: str, more: str = "") -> str:
    return (
        '{\n  "name": "shapes",\n  "version": "1.0.0",\n  "private": true,\n'
        f'{more}  "scripts": {{"test": "{test}"}},\n  "devDependencies": {{{packages}}}\n}}\n'
    )


MOCHA = Cell(
    name="npm-mocha",
    files={
        "package.json": _package("mocha", '"mocha": "11.7.5"'),
        "lib/area.js": JS_AREA,
        "test/area.js": (
            "const assert = require('assert')\nconst { area } = require('../lib/area')\n\n"
            "describe('area', () => {\n  it('multiplies', () => assert.equal(area(2, 3), 6))\n})\n"
        ),
    },
    install=(NPM_INSTALL, ("git", "add", "package-lock.json")),
    own_tests=("npm", "test", "--silent"),
    good={
        "lib/circle.js": "exports.circle = (radius) => 3 * radius * radius\n",
        "test/circle.js": (
            "const assert = require('assert')\nconst { circle } = require('../lib/circle')\n\n"
            "it('computes a circle', () => assert.equal(circle(2), 12))\n"
        ),
    },
    bad={"lib/area.js": JS_AREA.replace("*", "+")},
    dependency=Dependency(
        install=((*NPM_INSTALL, "--save", "is-number@7.0.0"),),
        change={
            "test/number.js": (
                "const assert = require('assert')\nconst isNumber = require('is-number')\n\n"
                "it('knows numbers', () => assert(isNumber('5')))\n"
            )
        },
    ),
    needs=("node", "npm"),
    ignored=JS_IGNORED,
)

VITEST = Cell(
    name="npm-vitest",
    files={
        "package.json": _package("vitest run", '"vitest": "3.2.4"', '  "type": "module",\n'),
        "src/area.ts": (
            "export function area(width: number, height: number): number {\n  return width * height\n}\n"
        ),
        "src/area.test.ts": (
            "import { expect, test } from 'vitest'\nimport { area } from './area'\n\n"
            "test('area', () => {\n  expect(area(2, 3)).toBe(6)\n})\n"
        ),
    },
    install=(NPM_INSTALL, ("git", "add", "package-lock.json")),
    own_tests=("npm", "test", "--silent"),
    good={
        "src/circle.ts": "export const circle = (radius: number): number => 3 * radius * radius\n",
        "src/circle.test.ts": (
            "import { expect, test } from 'vitest'\nimport { circle } from './circle'\n\n"
            "test('circle', () => {\n  expect(circle(2)).toBe(12)\n})\n"
        ),
    },
    bad={
        "src/area.ts": (
            "export function area(width: number, height: number): number {\n  return width + height\n}\n"
        )
    },
    dependency=Dependency(
        install=((*NPM_INSTALL, "--save", "is-number@7.0.0"),),
        change={
            "src/number.test.ts": (
                "import { expect, test } from 'vitest'\nimport isNumber from 'is-number'\n\n"
                "test('number', () => {\n  expect(isNumber('5')).toBe(true)\n})\n"
            )
        },
    ),
    needs=("node", "npm"),
    ignored=JS_IGNORED,
)

PNPM = Cell(
    name="pnpm-workspace",
    files={
        "package.json": (
            '{\n  "name": "shapes",\n  "private": true,\n'
            '  "scripts": {"test": "pnpm -r test"},\n  "devDependencies": {"mocha": "11.7.5"}\n}\n'
        ),
        "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
        "packages/core/package.json": (
            '{"name": "@shapes/core", "version": "1.0.0", "main": "area.js", "scripts": {"test": "mocha"},\n'
            ' "devDependencies": {"mocha": "11.7.5"}}\n'
        ),
        "packages/core/area.js": JS_AREA,
        "packages/core/test/area.js": (
            "const assert = require('assert')\nconst { area } = require('../area')\n\n"
            "it('multiplies', () => assert.equal(area(2, 3), 6))\n"
        ),
        "packages/app/package.json": (
            '{"name": "@shapes/app", "version": "1.0.0", "scripts": {"test": "mocha"},\n'
            ' "dependencies": {"@shapes/core": "workspace:*"}, "devDependencies": {"mocha": "11.7.5"}}\n'
        ),
        "packages/app/test/app.js": (
            "const assert = require('assert')\nconst { area } = require('@shapes/core')\n\n"
            "it('uses the core', () => assert.equal(area(4, 5), 20))\n"
        ),
    },
    install=(("pnpm", "install", "--silent"), ("git", "add", "pnpm-lock.yaml")),
    own_tests=("pnpm", "-r", "--silent", "test"),
    good={
        "packages/core/circle.js": "exports.circle = (radius) => 3 * radius * radius\n",
        "packages/core/test/circle.js": (
            "const assert = require('assert')\nconst { circle } = require('../circle')\n\n"
            "it('computes a circle', () => assert.equal(circle(2), 12))\n"
        ),
    },
    bad={"packages/core/area.js": JS_AREA.replace("*", "+")},
    dependency=Dependency(
        install=(("pnpm", "--silent", "--filter", "@shapes/app", "add", "is-number@7.0.0"),),
        change={
            "packages/app/test/number.js": (
                "const assert = require('assert')\nconst isNumber = require('is-number')\n\n"
                "it('knows numbers', () => assert(isNumber('5')))\n"
            )
        },
    ),
    needs=("node", "pnpm"),
    ignored=JS_IGNORED,
)

C_AREA = '#include "area.h"\n\nint area(int width, int height) { return width * height; }\n'
C_MAKE = Cell(
    name="c-make",
    files={
        "area.h": "int area(int width, int height);\n",
        "area.c": C_AREA,
        "test_area.c": (
            '#include <stdio.h>\n#include "area.h"\n\n'
            'int main(void) {\n  if (area(2, 3) != 6) { printf("not ok 1 - area\\n1..1\\n"); return 1; }\n'
            '  printf("ok 1 - area\\n1..1\\n");\n  return 0;\n}\n'
        ),
        "Makefile": (
            "all: test_area\n\ntest_area: test_area.o area.o\n\t$(CC) -o $@ $^\n\n"
            "%.o: %.c area.h\n\t$(CC) -c -o $@ $<\n\ntest: test_area\n\t./test_area\n"
        ),
    },
    install=(("make", "-s"),),
    own_tests=("make", "-s", "test"),
    good={"README.md": "Areas of rectangles.\n"},
    bad={"area.c": C_AREA.replace("*", "+")},
    needs=("make", "cc"),
    ignored="*.o\ntest_area\n",
)

CARGO = Cell(
    name="cargo",
    files={
        "Cargo.toml": '[package]\nname = "shapes"\nversion = "1.0.0"\nedition = "2021"\n',
        "src/lib.rs": (
            "pub fn area(width: u32, height: u32) -> u32 {\n    width * height\n}\n\n"
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn multiplies() {\n"
            "        assert_eq!(super::area(2, 3), 6);\n    }\n}\n"
        ),
    },
    install=(("cargo", "build", "--offline", "-q"), ("git", "add", "Cargo.lock")),
    own_tests=("cargo", "test", "--offline", "-q"),
    good={
        "tests/circle.rs": ("#[test]\nfn area_of_a_square() {\n    assert_eq!(shapes::area(2, 2), 4);\n}\n")
    },
    bad={
        "src/lib.rs": (
            "pub fn area(width: u32, height: u32) -> u32 {\n    width + height\n}\n\n"
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn multiplies() {\n"
            "        assert_eq!(super::area(2, 3), 6);\n    }\n}\n"
        )
    },
    needs=("cargo",),
    ignored="target/\n",
)

GO = Cell(
    name="go",
    files={
        "go.mod": "module example.test/shapes\n\ngo 1.19\n",
        "area.go": "package shapes\n\nfunc Area(width, height int) int { return width * height }\n",
        "area_test.go": (
            'package shapes\n\nimport "testing"\n\nfunc TestArea(t *testing.T) {\n'
            '\tif Area(2, 3) != 6 {\n\t\tt.Fatal("not six")\n\t}\n}\n'
        ),
    },
    install=(("go", "build", "./..."),),
    own_tests=("go", "test", "./..."),
    good={"circle.go": "package shapes\n\nfunc Circle(radius int) int { return 3 * radius * radius }\n"},
    bad={"area.go": "package shapes\n\nfunc Area(width, height int) int { return width + height }\n"},
    needs=("go",),
)

SUBMODULE = Cell(
    name="submodule",
    files={
        **{name: text for name, text in PYTHON_FILES.items() if name.startswith("tests/")},
        "conftest.py": "import sys\n\nsys.path.insert(0, 'libs/shapes')\n",
        "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
        "app.py": "from shapes.area import area\n\n\ndef square(side):\n    return area(side, side)\n",
        "tests/test_app.py": ("from app import square\n\n\ndef test_square():\n    assert square(3) == 9\n"),
    },
    install=(
        ("git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", "../library", "libs/shapes"),
        VENV,
        (*PIP, *PYTEST),
    ),
    own_tests=(".venv/bin/python", "-m", "pytest", "-q"),
    good={"notes.md": "A square has four sides.\n"},
    bad={"app.py": "from shapes.area import area\n\n\ndef square(side):\n    return area(side, 1)\n"},
    ignored=PYTHON_IGNORED,
)
"""Its library is a repository of its own beside the project; see `Checkout.make`."""

CELLS = {
    cell.name: cell
    for cell in (
        EDITABLE,
        SRC_LAYOUT,
        UV_LOCKED,
        POETRY,
        MOCHA,
        VITEST,
        PNPM,
        C_MAKE,
        CARGO,
        GO,
        SUBMODULE,
    )
}
