"""Where a program is broken on purpose: a place that its tests speak of, and so that it surely breaks."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.verify.breaking import SAID, break_file, breaks
from interlock.verify.sources import Listed, Selection, is_own_source, is_test, select

SHAPES = '''"""Shapes."""

import math


def unused(x):
    return x


def area(radius):
    """Of a circle."""
    return math.pi * radius**2


class Square:
    def side(self):
        return 1
'''


def places(texts: dict[str, str], most: int = 3) -> list[tuple[str, str]]:
    selection = select(Listed(path, len(text)) for path, text in texts.items())
    return [(one.name, one.text) for one in breaks(selection, texts, most)]


def test_the_function_that_the_tests_name_raises_and_nothing_else_changes() -> None:
    texts = {"src/shapes.py": SHAPES, "tests/test_shapes.py": "from shapes import area\nassert area(1) > 3\n"}
    ((name, text),) = places(texts)
    assert name == "shapes.area"
    ast.parse(text)
    added = [line for line in text.splitlines() if line not in SHAPES.splitlines()]
    assert added == ['    if len("on") == 2: raise RuntimeError("interlock canary: " + "broken on purpose")']
    assert text.index("Of a circle") < text.index("raise") < text.index("return math.pi")


def test_a_property_or_a_word_that_is_never_called_is_no_place() -> None:
    code = (
        "class Key:\n    @property\n    def secret(self):\n        return 1\n\n"
        "    def sign(self):\n        return 2\n"
    )
    tests = "from key import Key\nsecret = secret or Key().secret\nKey().sign()\n"
    assert places({"key.py": code, "test_key.py": tests})[0][0] == "key.Key.sign"


def test_a_method_is_named_with_its_class() -> None:
    texts = {"shapes.py": SHAPES, "test_shapes.py": "from shapes import Square\nSquare().side()\n"}
    assert places(texts)[0][0] == "shapes.Square.side"


def test_places_are_in_different_files_and_what_tests_say_most_comes_first() -> None:
    texts = {
        "a.py": "def alpha():\n    return 1\n",
        "b.py": "def beta():\n    return 1\n",
        "c.py": "VALUE = 1\n",
        "d.py": "",
        "tests/test_all.py": "import a, b\nb.beta()\nb.beta()\na.alpha()\n",
    }
    assert [name for name, _ in places(texts)] == ["b.beta", "a.alpha", "c"]
    assert len(places(texts, 1)) == 1


@pytest.mark.parametrize(
    ("path", "text", "name", "line"),
    [
        (
            "lib/app.js",
            "'use strict'\nfunction greet (name) {\n  return name\n}\n",
            "app.greet",
            '  if ("on".length === 2) { throw new Error("interlock canary: " + "broken on purpose"); }',
        ),
        (
            "greet.go",
            "package g\n\nfunc greet(n string) string {\n\treturn n\n}\n",
            "greet.greet",
            '  if len("on") == 2 { panic("interlock canary: " + "broken on purpose") }',
        ),
        (
            "src/lib.rs",
            "pub fn greet(n: u8) -> u8 {\n    n\n}\n",
            "lib.greet",
            '  if "on".len() == 2 { panic!("{}{}", "interlock canary: ", "broken on purpose"); }',
        ),
        (
            "greet.c",
            "int greet(void) { return 1; }\n",
            "greet.greet",
            "int greet(void) { __attribute__((unused)) int interlock_canary_here = interlock_canary();"
            " return 1; }",
        ),
        ("data.c", "int table[] = {1, 2};\n", "data.c", '#error "interlock canary: broken on purpose"'),
        (
            "Shop.java",
            "class Shop {\n  public static int greet(int n) {\n    return n;\n  }\n}\n",
            "Shop.greet",
            '    if ("on".length() == 2) throw new RuntimeException('
            '"interlock canary: " + "broken on purpose");',
        ),
        ("Greet.java", "class Greet {}\n", "Greet", ")( interlock canary: broken on purpose"),
        (
            "lib/greet.ex",
            "defmodule G do\n  def greet(n) do\n    n\n  end\nend\n",
            "greet.greet",
            '    if String.length("on") == 2, do: raise("interlock canary: " <> "broken on purpose")',
        ),
        (
            "greet.lua",
            "return {}\n",
            "greet",
            'if #"on" == 2 then error("interlock canary: " .. "broken on purpose") end',
        ),
    ],
)
def test_other_languages_are_broken_by_their_own_means(path: str, text: str, name: str, line: str) -> None:
    ((found, broken),) = places({path: text, "test/test_it.js": "greet('x')\n"})
    assert (found, line in broken.splitlines()) == (name, True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
def test_a_broken_function_of_c_compiles_and_says_so_when_it_is_called(tmp_path: Path) -> None:
    """As strictly as C89 can be compiled: declarations come first, and each warning is an error."""
    code = (
        '#include "area.h"\n\n#define PUBLIC(type) type\n'
        "static int twice(const int n)\n{\n    return 2 * n;\n}\n\n"
        "PUBLIC(int) area(int side,\n         int other)\n{\n    int found;\n    if (side > 100) {\n"
        "        return twice(side);\n    }\n    found = side * other;\n    return found;\n}\n"
    )
    test = '#include "area.h"\n\nint main(void)\n{\n    return area(2, 2) != 4;\n}\n'
    ((name, text),) = places({"area.c": code, "tests/test_area.c": test})
    assert name == "area.area"
    header = "int area(int side, int other);\n"
    for file, said in (("area.h", header), ("area.c", text), ("test.c", test)):
        (tmp_path / file).write_text(said)
    strict = ["-std=c89", "-pedantic", "-Wall", "-Wextra", "-Wdeclaration-after-statement", "-Werror"]
    subprocess.run(["gcc", *strict, "-o", "t", "area.c", "test.c"], cwd=tmp_path, check=True)
    done = subprocess.run(["./t"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and done.stderr == "interlock canary: broken on purpose\n"
    assert "interlock canary: broken" not in text  # what a compiler quotes says nothing


PROGRAMS = {
    "py": (sys.executable, "def greet(n):\n    return n\n\n\ngreet(1)\n"),
    "js": ("node", "function greet(n) {\n  return n;\n}\n\ngreet(1);\n"),
    "rb": ("ruby", "def greet(n)\n  n\nend\n\ngreet(1)\n"),
    "php": ("php", "<?php\nfunction greet($n) {\n  return $n;\n}\ngreet(1);\n"),
    "pl": ("perl", "sub greet { return 1 }\ngreet(1);\n"),
    "lua": ("lua", "local function greet(n) return n end\ngreet(1)\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROGRAMS)
def test_only_running_the_break_says_the_words_and_its_calm_twin_breaks_nothing(
    tmp_path: Path, kind: str
) -> None:
    program, code = PROGRAMS[kind]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    path = f"greet.{kind}"
    selection = select(Listed(name, 10) for name in (path, "test_greet.py"))
    (broken,) = breaks(selection, {path: code, "test_greet.py": "greet(1)\n"})
    assert SAID not in broken.text and SAID not in broken.calm
    (tmp_path / path).write_text(broken.text)
    done = subprocess.run([program, path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode and SAID in done.stdout + done.stderr
    (tmp_path / path).write_text(broken.calm)
    subprocess.run([program, path], cwd=tmp_path, check=True)


def test_a_program_is_broken_in_main_only_if_it_has_no_other_function() -> None:
    """A test program that tests nothing has a `main` too."""
    main = "fn main() {\n    other();\n}\n"
    assert places({"src/main.rs": f"fn other() {{\n}}\n\n{main}", "run.sh": "./x"})[0][0] == "main.other"
    assert places({"src/main.rs": main, "run.sh": "./x"})[0][0] == "main.main"


def test_tests_inside_of_a_file_of_rust_are_heard() -> None:
    functions = "pub fn one() -> u8 {\n    1\n}\n\npub fn two() -> u8 {\n    2\n}\n\n"
    code = f"{functions}#[cfg(test)]\nmod tests {{\n    two();\n}}\n"
    assert places({"src/lib.rs": code})[0][0] == "lib.two"


def test_what_must_be_first_in_a_file_stays_first() -> None:
    text = '#!/usr/bin/env python3\n"""Doc."""\nfrom __future__ import annotations\n\nX = 1\n'
    broken = break_file("x.py", text)
    assert broken is not None
    assert broken.text.splitlines()[3].startswith('if len("on") == 2: raise RuntimeError(')
    ast.parse(broken.text)


def test_a_function_on_one_line_and_code_that_cannot_be_read_are_left_alone() -> None:
    texts = {"one.py": "def one(): return 1\n", "bad.py": "def bad(:\n", "test_one.py": "one() bad()\n"}
    assert sorted(name for name, _ in places(texts)) == ["bad", "one"]  # as whole files


def test_a_repository_without_source_has_nothing_to_break() -> None:
    assert places({"README.md": "# hi\n", "agent.sh": "true\n"}) == []
    assert breaks(Selection((), ()), {}) == []


@pytest.mark.parametrize(
    "path",
    [
        *("tests/a.py", "test_a.py", "a_test.go", "src/a.test.ts", "a.spec.js", "conftest.py"),
        *("__tests__/a.js", "test_a\nb.py"),
    ],
)
def test_tests_are_known_by_their_names(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    ["docs/conf.py", "setup.py", "vite.config.ts", "dist/a.js", "a.min.js", ".github/a.py", "types.d.ts"],
)
def test_tools_and_products_are_not_what_tests_are_about(path: str) -> None:
    assert not is_own_source(path)
    assert not is_test("src/contest.py")
