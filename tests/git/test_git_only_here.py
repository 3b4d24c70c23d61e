"""S2: one wrapper starts git, so one place has to be right."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import interlock

SOURCE = Path(interlock.__file__).parent
WRAPPER = SOURCE / "git" / "command.py"
STARTERS = {
    "create_subprocess_exec",
    "Popen",
    "run",
    "call",
    "check_call",
    "check_output",
    "posix_spawn",
    "execvp",
}


def starts_git(tree: ast.AST) -> Iterator[ast.AST]:
    """Lists and tuples whose first word is git, and calls that start a program by that name."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.List(elts=[ast.Constant(value="git"), *_])
                | ast.Tuple(elts=[ast.Constant(value="git"), *_])
            ):
                yield node
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value="git"), *_]) if (
                name in STARTERS
            ):
                yield node


def uses_a_shell(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="shell", value=value) if not (
                isinstance(value, ast.Constant) and value.value is False
            ):
                yield node
            case ast.Call(func=ast.Attribute(attr="create_subprocess_shell" | "system" | "popen")):
                yield node


@pytest.mark.slow
def test_only_the_wrapper_starts_git() -> None:
    found = {path for path in SOURCE.rglob("*.py") if list(starts_git(ast.parse(path.read_text())))}
    assert found == {WRAPPER}


def test_nothing_in_the_git_package_uses_a_shell() -> None:
    found = [
        path for path in (SOURCE / "git").rglob("*.py") if list(uses_a_shell(ast.parse(path.read_text())))
    ]
    assert found == []


def test_the_search_finds_what_it_looks_for() -> None:
    assert list(starts_git(ast.parse("subprocess.run(['git', 'status'])")))
    assert list(starts_git(ast.parse("asyncio.create_subprocess_exec('git', 'status')")))
    assert list(uses_a_shell(ast.parse("subprocess.run('git status', shell=True)")))
