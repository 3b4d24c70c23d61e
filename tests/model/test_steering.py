"""Files that decide how checks run."""

import pytest

from interlock.model.steering import steering


@pytest.mark.parametrize(
    "path",
    [
        *(
            "tests/conftest.py",
            "pytest.ini",
            "Makefile",
            "package.json",
            ".github/workflows/ci.yml",
            "a/vitest.config.ts",
        ),
        *(
            "unittest.py",
            "unittest/__init__.py",
            "tests/pytest.py",
            "json.py",
            "sitecustomize.py",
            "CMakeLists.txt",
        ),
        *("check.sh", "scripts/test", "iniconfig.py", "x/Y.Dist-Info/entry_points.txt", "a/.gitattributes"),
    ],
)
def test_what_decides_how_checks_run_is_named(path: str) -> None:
    assert steering([path], ["sh ./check.sh", "scripts/test"]) == (path,)


@pytest.mark.parametrize(
    "path",
    [
        *("pytest.toml", ".pytest.toml", "vitest.workspace.ts", "e2e/playwright.config.ts", ".babelrc"),
        *(".mvn/jvm.config", ".rspec", "phpunit.xml.dist", "bunfig.toml"),
        *("rust-toolchain.toml", ".tool-versions", ".python-version", "flake.nix", ".yarnrc.yml"),
        *(
            "tsconfig.json",
            "go.mod",
            "mix.exs",
            "spec/spec_helper.rb",
            "jest.setup.js",
            "a\nb.mk",
            "Gemfile",
            "configure",
        ),
    ],
)
def test_settings_of_test_programs_are_known_by_name(path: str) -> None:
    assert steering([path]) == (path,)


LINTERS = """
ruff.toml .ruff.toml lib/mypy.ini .mypy.ini .flake8 .pylintrc pylintrc pyrightconfig.json eslint.config.mjs
.eslintrc .eslintrc.cjs .eslintignore tsconfig.build.json biome.json biome.jsonc .golangci.yml clippy.toml
.clippy.toml rustfmt.toml .rubocop.yml .proverc spec/support/jasmine.json BUILD src/BUILD.bazel WORKSPACE
WORKSPACE.bazel MODULE.bazel defs.bzl App.csproj ci.runsettings .pre-commit-config.yaml .bandit .yamllint
.yamllint.yaml .markdownlint.json .stylelintrc.json phpunit.xml phpstan.neon phpstan.neon.dist setup.cfg
pyproject.toml package.json .importlinter .isort.cfg Directory.Build.props .clang-tidy .shellcheckrc
"""


def test_settings_of_linters_type_checkers_and_builders_are_known_by_name() -> None:
    paths = tuple(LINTERS.split())
    assert steering(paths) == paths
    assert steering(["ruff.py", "docs/eslint.md", "builder.py", "workspace/app.py"]) == ()


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python run_checks.py", "run_checks.py"),
        ("cd . && .venv/bin/python -B tools/check.py -q", "tools/check.py"),
        ("node scripts/test.mjs", "scripts/test.mjs"),
        ("CI=1 uv run tools/check.py", "tools/check.py"),
        ("./check.rb --all", "check.rb"),
        ('sh "ci/run.sh"', "ci/run.sh"),
        ("(sh ci/run.sh); true", "ci/run.sh"),
        ("sh 'my ci/run it'", "my ci/run it"),
        ("sh ci/run.sh 'open", "ci/run.sh"),
    ],
)
def test_a_script_that_a_command_names_steers_it(command: str, path: str) -> None:
    assert steering([path], [command]) == (path,)


@pytest.mark.parametrize(
    "command",
    [
        "python -m pytest tests/test_shop.py",
        "uv run pytest -q tests/test_shop.py",
        "node --test tests/test_shop.py",
        "python3 tests/test_shop.py",
        "CI=1 pytest tests/test_shop.py && python run.py tests/test_shop.py",
    ],
)
def test_a_test_that_a_command_names_does_not(command: str) -> None:
    assert steering(["tests/test_shop.py"], [command]) == ()


@pytest.mark.parametrize(
    "path",
    ["src/shop.py", "tests/test_json.py", "shop/json.py", "tests/test_shop.py", "other.sh", "docs/make.md"],
)
def test_ordinary_files_and_tests_are_not(path: str) -> None:
    assert steering([path], ["pytest tests/test_shop.py", "sh check.sh"]) == ()
