"""Which new files do not land, by name, size and content."""

import pytest

from interlock.model.unwanted import LandingRules, NewFile, Unwanted, build_folders, left_out


def why(path: str, size: int = 10, content: bytes = b"") -> Unwanted | None:
    found = left_out(
        [NewFile(path, size, content)], LandingRules(max_file_bytes=100), (), ("dist", "web/build")
    )
    return found[path].why if found else None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".env", Unwanted.ENVIRONMENT),
        ("web/.env.local", Unwanted.ENVIRONMENT),
        (".envrc", Unwanted.ENVIRONMENT),
        (".env.example", None),
        (".env.production.sample", None),
        (".environment.md", None),
        ("ssh/id_ed25519", Unwanted.KEY),
        ("ssh/id_ed25519.pub", None),
        ("web/node_modules/a/b/index.js", Unwanted.DEPENDENCIES),
        ("a/__pycache__/m.cpython-313.pyc", Unwanted.CACHE),
        ("m.pyc", Unwanted.COMPILED),
        ("main.o", Unwanted.COMPILED),
        ("a\nb.pyc", Unwanted.COMPILED),
        ("a\nb.egg-info/PKG-INFO", Unwanted.BUILD),
        ("libdemo.rlib", Unwanted.COMPILED),
        ("libdemo.rmeta", Unwanted.COMPILED),
        ("Main.class", Unwanted.COMPILED),
        ("main.obj", Unwanted.COMPILED),
        ("main.pdb", Unwanted.COMPILED),
        ("lib/libx.so.1.2", Unwanted.COMPILED),
        ("src/demo.egg-info/PKG-INFO", Unwanted.BUILD),
        ("CMakeFiles/x.cmake", Unwanted.BUILD),
        ("dist/app.js", Unwanted.BUILD),
        ("src/dist/app.js", None),
        ("web/build/x", Unwanted.BUILD),
        ("src/env.py", None),
    ],
)
def test_a_new_file_is_judged_by_its_name(path: str, expected: Unwanted | None) -> None:
    assert why(path) is expected


def test_a_new_file_is_judged_by_its_size_and_its_first_bytes() -> None:
    assert why("data.bin", 101) is Unwanted.LARGE
    assert why("data.bin", 100) is None
    assert why("tool", content=b"\x7fELF\x02") is Unwanted.COMPILED
    assert why("pkg/app.wasm", content=b"\0asm\1") is Unwanted.COMPILED
    assert why("libx.a", content=b"!<arch>\n/") is Unwanted.COMPILED
    assert why("meta", content=b"rust\0\0\0\x09") is Unwanted.COMPILED
    assert why("tool", content=b"MZ\x90\0 DOS mode PE\0\0") is Unwanted.COMPILED
    assert why("story.txt", content=b"MZ was a hero of rust") is None


def test_a_folder_is_named_once_with_the_number_of_its_files() -> None:
    files = [NewFile(f"node_modules/{name}.js", 1) for name in "abc"]
    (found,) = set(left_out(files, LandingRules(), (), ()).values())
    assert (found.path, found.files) == ("node_modules/", 3)
    assert found.text == "node_modules/ (3 files, installed dependencies)"


def test_what_a_person_allows_lands_whatever_it_is() -> None:
    rules = LandingRules(("tests/fixtures/**", "*.pyc"), 1)
    files = [NewFile("tests/fixtures/.env", 9), NewFile("a.pyc", 9), NewFile("b/a.pyc", 1)]
    assert [*left_out(files, rules, ("a.pyc",), ())] == ["b/a.pyc"]


def test_only_folders_of_the_usual_names_may_be_build_output() -> None:
    paths = ["dist/a.js", "web/build/b.js", "src/target.py", "node_modules/x/dist/y.js"]
    assert [*build_folders(paths)] == ["dist", "web/build"]
