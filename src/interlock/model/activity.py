"""An agent's last action in words, from the events of its session: "edits src/app.py", "runs `pytest -q`".

1. The same words for every agent program: tools are recognised by name, and their object by its argument.
2. The words are one inert line of bounded length. A tool that is not known is named as it is.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence

from interlock.model.session import Event, EventKind
from interlock.model.shown import shown

OBJECT_CHARACTERS = 120
"""Length of a command, a path or a sentence inside the words."""
THINKS = "thinks"

_TOOLS = {
    "run": "bash shell runshellcommand commandexecution execute execcommand localshell terminal powershell",
    "edit": "edit multiedit write writefile replace strreplace strreplaceeditor patch applypatch filechange "
    "create notebookedit",
    "read": "read readfile readmanyfiles view notebookread",
    "search for": "grep glob grepsearch search searchfilecontent find codesearch",
    "list": "ls list listdirectory listdir",
    "fetch": "fetch webfetch",
    "search the web for": "websearch googlewebsearch",
    "delete": "delete",
    "move": "move",
    "delegate": "task agent",
    "update its plan": "todowrite updateplan todo updatetodos",
    "think": "think",
}
"""Names that agent programs give a tool, by verb, in small letters without marks."""
_VERBS = {name: verb for verb, names in _TOOLS.items() for name in names.split()}
_WITHOUT_OBJECT = ("update its plan", "think")
_NAMES_ITSELF = ("use", "uses", "delegate", "delegates")
"""Verbs that are followed by a title, not by an object."""
_ARGUMENTS = (
    *("command", "pattern", "query", "url", "file_path", "filePath", "path", "absolute_path"),
    *("notebook_path", "dir_path", "description", "prompt"),
)
"""The arguments that say what a tool is used on, best first."""
_SHELL = re.compile(r"(?:\S*/)?(?:ba|da|z)?sh -l?c (.+)", re.DOTALL)
_FOLDER_FIRST = re.compile(r"cd \S+ && ")


def verb_of(tool: str) -> str:
    """Return what a tool is for: `run`, `edit`, `read` ...; empty: it is not known."""
    return _VERBS.get(re.sub(r"[^a-z]", "", tool.lower()), "")


class Activity:
    """The words for a session so far. `roots` are the folders whose files are named without them."""

    def __init__(self, *roots: str) -> None:
        self._roots = tuple(f"{root.rstrip('/')}/" for root in roots if root)
        self._deed = ""
        self.words = ""
        """The last action, and that the model thinks if it was asked since; '' before the first event."""

    def hear(self, event: Event) -> str:
        """Take an event in; what it says in words, '' if it says nothing new."""
        said = shown(self._said(event))
        self._deed = said or self._deed
        if said:
            self.words = said
        elif event.kind in (EventKind.RESULT, EventKind.SESSION):
            self.words = f"{THINKS}; {self._deed}" if self._deed else THINKS
        return said

    def _said(self, event: Event) -> str:  # noqa: PLR0911 - one line for each kind of event
        match event.kind:
            case EventKind.TOOL:
                return _third_person(*self._use(event))
            case EventKind.COMMAND:
                code = "" if event.exit_code is None else f" (exit {event.exit_code})"
                return f"ran `{self._brief(_bare(event.text))}`{code}"
            case EventKind.EDIT:
                return f"edited {self._brief(event.path)}"
            case EventKind.MESSAGE:
                return f'says "{self._brief(event.text)}"' if event.text.strip() else ""
            case EventKind.ASKED if not event.ok:
                return f"waits for permission to {_infinitive(*self._use(event))}"
            case EventKind.DENIED:
                return f"was not allowed to {_infinitive(*self._use(event))}"
            case EventKind.RETRY:
                return f"waits for the model: {self._brief(event.text or (event.error or ''))}"
            case EventKind.ERROR:
                return f"error: {self._brief(event.text)}"
            case EventKind.END:
                return "finished" if event.ok else f"stopped: {self._brief(event.text)}"
            case _:
                return ""

    def _use(self, event: Event) -> tuple[str, str]:
        name = re.sub(r"[^a-z]", "", event.tool.lower())
        verb, given = _VERBS.get(name, ""), _arguments(event.text)
        what = event.text if given is None else _object(given)
        if given is None and re.sub(r"[^a-z]", "", what.partition(" ")[0].lower()) == name:
            what = what.partition(" ")[2]  # a title that says the verb itself: "Edit hello.txt"
        if not verb:
            return f"use {event.tool or 'a tool'}", self._brief(what)
        if verb in _WITHOUT_OBJECT:
            return verb, ""
        if verb == "run":
            command = self._brief(_bare(what))
            return verb, f"`{command}`" if command else "a command"
        return verb, self._brief(what)

    def _brief(self, text: str) -> str:
        """The first line that has words, without the folders that are the same for all."""
        for root in self._roots:
            text = text.replace(root, "")
        lines = [line for line in text.splitlines() if line.strip()]
        first = shown(lines[0], OBJECT_CHARACTERS + 1) if lines else ""
        is_cut = len(first) > OBJECT_CHARACTERS or len(lines) > 1
        return f"{first[:OBJECT_CHARACTERS]}…" if is_cut else first


def _arguments(text: str) -> Mapping[str, object] | None:
    """The arguments of a tool; None where an adapter has put them into words already."""
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}  # cut, because it was long
    return found if isinstance(found, dict) else {}


def _object(given: Mapping[str, object]) -> str:
    for name in _ARGUMENTS:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, Sequence) and value and all(isinstance(word, str) for word in value):
            return shlex.join(value)
    return ""


def _bare(command: str) -> str:
    """A command without the shell and the folder that a program put around it."""
    if wrapped := _SHELL.fullmatch(command.strip()):
        try:
            words = shlex.split(wrapped.group(1))
        except ValueError:
            words = []
        command = words[0] if len(words) == 1 else command
    return _FOLDER_FIRST.sub("", command.strip(), count=1)


def _infinitive(verb: str, what: str) -> str:
    between = ": " if what and verb.partition(" ")[0] in _NAMES_ITSELF else " "
    return f"{verb}{between}{what}".strip()


def _third_person(verb: str, what: str) -> str:
    first, _, rest = verb.partition(" ")
    ending = "es" if first.endswith("ch") else "s"
    return _infinitive(f"{first}{ending} {rest}".strip(), what)
