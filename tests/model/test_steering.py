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
        *("check.sh", "scripts/test"),
    ],
)
def test_what_decides_how_checks_run_is_named(path: str) -> None:
    assert steering([path], ["sh ./check.sh", "scripts/test"]) == (path,)


@pytest.mark.parametrize(
    "path",
    ["src/shop.py", "tests/test_json.py", "shop/json.py", "tests/test_shop.py", "other.sh", "docs/make.md"],
)
def test_ordinary_files_and_tests_are_not(path: str) -> None:
    assert steering([path], ["pytest tests/test_shop.py", "sh check.sh"]) == ()
