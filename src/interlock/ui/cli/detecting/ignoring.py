"""Commands that are green whatever their tests say: they ignore that a command fails."""

import re

_TURNED_GREEN = re.compile(r"(\|\||;)\s*(true|:|/bin/true|exit 0|echo\b[^;&|]*|printf\b[^;&|]*)\s*$")
_PIPED = re.compile(r"(?<![|>])\|(?![|&])\s*(tee|cat|grep|tail|head|less|sed|awk|tr|ts)\b[^&;|]*$")
"""The last program of a pipe decides, unless the shell is told otherwise."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_HELPERS = re.compile(
    r"(rm|mkdir|rmdir|mv|cp|ln|kill|pkill|killall|echo|printf|touch|find|docker|git|which|command|type|test|\[)\s"
)
"""Programs before or after the tests, of which a failure may well be ignored."""
_TESTS = re.compile(r"test|jest|mocha|vitest|\bava\b|tox|nox|spec|check|smoke", re.IGNORECASE)
_STOPS_ON_ERROR = re.compile(r"^\s*set -\w*e|^\s*set -o errexit|^#!.*sh -\w*e", re.MULTILINE)
_IGNORES_ALL = re.compile(
    r"^\s*(override\s+)?MAKEFLAGS\s*[+:?]*=.*(--ignore-errors|(^|\s|=)-?\w*i\w*(\s|$))", re.MULTILINE
)


def ignoring_part(line: str) -> str:
    """The end of a shell line that makes it green in any case; '' if there is none."""
    bare = _QUOTED.sub(lambda found: "_" * len(found[0]), line.strip())
    patterns = (_TURNED_GREEN,) if "pipefail" in line else (_TURNED_GREEN, _PIPED)
    found = next((match for pattern in patterns if (match := pattern.search(bare))), None)
    return line.strip()[found.start() :] if found else ""


def ignored_in_recipe(makefile: str, target: str, recipe: str) -> str:
    """The words by which make or the shell goes on after a failing test; '' if there are none."""
    if special := re.search(rf"^\.IGNORE\s*:\s*(?:$|.*\b{re.escape(target)}\b)", makefile, re.MULTILINE):
        return special[0].strip()
    if flags := _IGNORES_ALL.search(makefile):
        return flags[0].strip()
    real = [line for line in recipe.replace("\\\n", " ").splitlines() if _is_real(line)]
    found = {line: words for line in real if (words := _ignored(line, makefile))}
    tests = (words for line, words in found.items() if len(found) == len(real) or _TESTS.search(line))
    return next(tests, "")


def _is_real(line: str) -> bool:
    command = line.strip().lstrip("@+- ")
    return bool(command) and not _HELPERS.match(f"{command} ")


def _ignored(line: str, makefile: str) -> str:
    signs, command = re.match(r"\s*[@+ -]*", line), line.strip().lstrip("@+- ")
    if signs and "-" in signs[0]:
        return line.strip()
    return ignoring_part(command if "pipefail" not in makefile else f"{command} # pipefail")


def ignored_in_script(text: str) -> str:
    """The last line of a script that makes it green in any case; '' if there is none."""
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    said = [line for line in lines if line and not line.startswith("#")]
    if not said:
        return ""
    if _STOPS_ON_ERROR.search(text):
        part = ignoring_part(said[-1])
        return part if part.startswith("|") else ""
    always = re.fullmatch(r"(exit 0|true|:|echo\b.*|printf\b.*)", said[-1])
    return said[-1] if always else ignoring_part(said[-1])
