"""Files that decide how checks run, by name: a change that edits one can decide what its checks say."""

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from posixpath import splitext

_NAMES = re.compile(
    r"conftest\.py|(site|user)customize\.py|\.?pytest\.(ini|toml)|tox\.ini|tox\.toml|setup\.cfg|pyproject\.toml|noxfile\.py"
    r"|manage\.py|\.coveragerc|package\.json|\.npmrc|\.mocharc.*|\.taprc|\.babelrc.*|bunfig\.toml|vitest\.workspace\..*"
    r"|(jest|vitest|vite|ava|karma|babel|playwright)\.conf(ig)?\..*|\.rspec|phpunit\.xml.*"
    r"|(gnu)?makefile(\.am|\.in)?|.*\.mk|cmakelists\.txt|.*\.cmake|meson\.build|configure\.ac|build\.rs|cargo\.toml"
    r"|justfile|taskfile\.ya?ml|rakefile|(build|settings)\.gradle(\.kts)?|pom\.xml|\.gitlab-ci\.yml|\.travis\.yml"
    r"|\.yarnrc(\.yml)?|\.?pnpmfile\.[cm]?js|rust-toolchain(\.toml)?|\.tool-versions|\.(nvmrc|(python|node|ruby|go)-version)"
    r"|(flake|shell|default)\.nix|devbox\.json|\.gitattributes"
    r"|tsconfig.*\.json|deno\.jsonc?|go\.(mod|work)|nextest\.toml|\.bazelrc|build\.bazel|build\.sbt|mix\.exs|gemfile"
    r"|spec_helper\.rb|composer\.json|package\.swift|gradle\.properties|sconstruct|build\.xml|turbo\.json|nx\.json"
    r"|\.swcrc|unittest\.cfg|cmakepresets\.json|configure|(jest|vitest)\.setup\..*|cypress\.config\..*|mocha\.opts"
    r"|dune-project|stack\.yaml|build\.zig|makefile\.inc|config\.mak"
    r"|\.?ruff\.toml|\.?mypy\.ini|\.?flake8|\.?pylintrc(\.toml)?|pyrightconfig\.json|\.bandit|\.isort\.cfg|\.pydocstyle(\.ini)?"
    r"|\.importlinter|\.pre-commit-config\.ya?ml|\.yamllint.*|\.markdownlint.*|\.editorconfig|\.prettier(rc.*|ignore)"
    r"|eslint\.config\..*|\.eslint(rc.*|ignore)|\.?biome\.jsonc?|\.stylelint(rc.*|ignore)|\.?oxlintrc\.json|jsconfig\.json"
    r"|\.?golangci\..*|\.?clippy\.toml|\.?rustfmt\.toml|deny\.toml|\.rubocop.*\.yml|\.proverc|\.perlcriticrc|jasmine\.json"
    r"|(build|workspace)(\.bazel)?|module\.bazel|.*\.bzl|.*\.(cs|fs|vb)proj|directory\.build\.(props|targets)|.*\.runsettings"
    r"|phpstan.*\.neon.*|psalm\.xml.*|\.?php-cs-fixer.*\.php|\.?phpcs\.xml.*|\.swiftlint\.yml|\.clang-(tidy|format)|\.shellcheckrc"
    r"|\.hadolint\.ya?ml|checkstyle\.xml|detekt\.yml|lint\.xml",
    re.DOTALL,
)
_FOLDERS = (".github/workflows/", ".circleci/", ".cargo/", ".mvn/", "node_modules/")
_RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "unittest", "doctest", "nose2", "coverage", "trial"})
"""Modules of Python that run tests. One of this name in the repository is found before the real one."""
_USED_BY_RUNNERS = frozenset({"iniconfig", "packaging", "pygments", "exceptiongroup", "tomli", "colorama"})
"""Modules that these import, if the root of the repository has none of this name."""
_INSTALLED = (".dist-info", ".egg-info")
"""Folders of installed packages: a test program loads the plugins that they name."""
_SHELL_SUFFIXES = ("", ".sh", ".bash")
_RUNS_A_SCRIPT = re.compile(
    r"(.*/)?(python[\d.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|(ba|da|k|z)?sh|run)"
)
"""Interpreters, and the `run` of `uv run` and `bun run`."""
_NO_SCRIPT = ("-m", "-c", "-e", "--test")
"""Options of an interpreter that no script of its own follows."""
_TEST = re.compile(r"(.*/)?(test_[^/]*|[^/]*[._-](test|spec))\.\w+", re.DOTALL)
"""A test that a command runs by itself: changes of tests are what tests are for."""
_OPERATORS = ";|&()<>"


def steering(touched: Iterable[str], commands: Sequence[str] = ()) -> tuple[str, ...]:
    named = {word.removeprefix("./") for command in commands for word in _scripts(command)}
    return tuple(path for path in touched if _steers(path, named))


def _scripts(command: str) -> Iterator[str]:
    """The words of a command line that may be scripts: a test file that pytest gets is none."""
    expected = True
    for word in _words(command):
        if _RUNS_A_SCRIPT.fullmatch(word) or not word.strip(_OPERATORS):
            expected = True
        elif word.startswith("-"):
            expected = expected and word not in _NO_SCRIPT
        elif not re.match(r"\w+=", word):
            if (expected and not _TEST.fullmatch(word)) or splitext(word)[1] in _SHELL_SUFFIXES:
                yield word
            expected = False


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote without its end
        return command.split()


def _steers(path: str, named: set[str]) -> bool:
    *folders, name = path.split("/")
    if _NAMES.fullmatch(name.lower()) or path.startswith(_FOLDERS) or path in named:
        return True
    if any(folder.lower().endswith(_INSTALLED) for folder in folders):
        return True
    module, _, kind = name.rpartition(".")
    if kind != "py":
        return False
    first = folders[0] if folders else module
    return first in sys.stdlib_module_names | _USED_BY_RUNNERS or bool(_RUNNERS & {*folders, module})
