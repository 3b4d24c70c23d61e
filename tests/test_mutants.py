"""The tool behind `make mutants`: the changes that it makes, and what it counts as killed."""

import subprocess
from pathlib import Path

import pytest

from scripts.mutants import all_mutants, near_tests, run, sample
from scripts.mutations import Mutant, mutants_of

CODE = '''\
"""Never changed: 1 < 2."""

LIMIT = 3


def room(used: int, taken: list[int]) -> bool:
    taken.append(used)
    if not taken:
        return False
    return used < LIMIT and used + 1 > 0
'''


def lines(source: str, path: str = "src/interlock/plan/a.py") -> set[tuple[str, str]]:
    """Each mutant as its kind and the lines it leaves changed."""
    before = source.splitlines()
    return {
        (mutant.kind, line.strip())
        for mutant in mutants_of(path, source)
        for line in mutant.applied_to(source).splitlines()
        if line not in before
    }


def test_each_kind_of_change_is_made_and_no_word_is_touched() -> None:
    assert lines(CODE) == {
        ("constant", "LIMIT = 4"),
        ("dropped call", "pass"),
        ("negated condition", "if (not (not taken)):"),
        ("constant", "return True"),
        ("default returned", "return False"),
        ("and/or", "return (used < LIMIT or used + 1 > 0)"),
        ("comparison", "return used <= LIMIT and used + 1 > 0"),
        ("comparison", "return used < LIMIT and used + 1 >= 0"),
        ("sign", "return used < LIMIT and (used - 1) > 0"),
        ("constant", "return used < LIMIT and used + 2 > 0"),
        ("constant", "return used < LIMIT and used + 1 > 1"),
    }


def test_arguments_are_swapped_and_sql_is_changed_but_not_its_comments() -> None:
    assert ("swapped arguments", "move(b, a)") in lines("move(a, b)\n")
    assert lines("-- 1 <= 2\nSELECT 1 WHERE a <= b;\n", "a.sql") == {
        ("sql", "SELECT 1 WHERE a < b;"),
        ("sql", "SELECT 2 WHERE a <= b;"),
    }


def test_a_sample_has_every_package_and_is_the_same_for_the_same_seed() -> None:
    mutants = [
        Mutant(f"src/interlock/{package}/a.py", line, "constant", 0, 1, "2")
        for package, count in (("git", 50), ("plan", 1), ("store", 1))
        for line in range(count)
    ]
    drawn = sample(mutants, 5, seed=7)
    assert drawn == sample(mutants, 5, seed=7) != sample(mutants, 5, seed=8)
    assert {mutant.path.split("/")[2] for mutant in drawn} == {"git", "plan", "store"}


def test_the_tests_that_import_a_module_come_before_those_of_its_package() -> None:
    mutant = Mutant("src/interlock/plan/a.py", 1, "constant", 0, 1, "2", "room")
    tests = {
        "tests/train/test_b.py": "",
        "tests/plan/test_b.py": "",
        "tests/schedule/test_c.py": "from interlock.plan.a import room",
        "tests/ui/test_d.py": "",
    }
    assert near_tests(mutant, tests) == [
        "tests/schedule/test_c.py",
        "tests/plan/test_b.py",
        "tests/ui/test_d.py",
    ]


def test_a_test_that_shares_a_rare_name_with_the_change_is_near() -> None:
    mutant = Mutant("src/interlock/plan/a.py", 2, "constant", 0, 1, "2", "room")
    tests = {f"tests/acp/test_{number}.py": "UsualName" for number in range(10)}
    tests["tests/acp/test_z.py"] = "UsualName, RareName"
    source = "def room(fact: RareName) -> UsualName:\n    return 1\n"
    assert near_tests(mutant, tests, source) == ["tests/acp/test_z.py"]
    assert near_tests(mutant, tests) == []


def test_a_function_that_returns_nothing_is_not_changed_into_itself() -> None:
    assert lines('def a() -> str:\n    return ""\n\ndef b() -> bytes:\n    return b""\n') == set()


@pytest.mark.slow
@pytest.mark.night
def test_only_a_test_that_passes_on_the_unchanged_code_kills_and_the_tree_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "src/interlock/plan"
    package.mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = src\nmarkers =\n slow:\n")
    (package / "__init__.py").touch()
    (package.parent / "__init__.py").touch()
    (package / "a.py").write_text("HELD = 1\nLOOSE = 5\n")
    (tmp_path / "tests/test_a.py").write_text(
        "from interlock.plan import a\n\n"
        "def test_red():\n    assert a.LOOSE == 0\n\n"
        "def test_held():\n    assert a.HELD == 1\n"
    )
    subprocess.run(("git", "init", "-q", str(tmp_path)), check=True)
    held, loose = run(tmp_path, all_mutants(tmp_path), workers=1, limit_seconds=120)
    assert (held.mutant.line, held.killed_by) == (1, "tests/test_a.py::test_held")
    assert (loose.mutant.line, loose.killed_by) == (2, "")
    assert (package / "a.py").read_text() == "HELD = 1\nLOOSE = 5\n"
    said = capsys.readouterr().out
    assert "SURVIVED  src/interlock/plan/a.py:2 constant" in said
    assert "+LOOSE = 6" in said
