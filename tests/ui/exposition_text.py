"""A strict reader of Prometheus' text format: what it does not understand is an error."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_HELP = re.compile(rf"# HELP ({NAME}) (\S.*)")
_TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge)")
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
_SAMPLE = re.compile(rf"({NAME})(?:\{{({_LABEL}(?:,{_LABEL})*)\}})? (-?[0-9.]+(?:e[+-]?[0-9]+)?)")

Samples = dict[str, dict[str, float]]


def read(text: str) -> Samples:
    """By metric, then by its labels as they are written."""
    assert text.endswith("\n")
    found: Samples = {}
    lines = text.splitlines()
    kind = current = ""
    for number, line in enumerate(lines):
        if help_line := _HELP.fullmatch(line):
            assert help_line[1] not in found, f"{help_line[1]} comes twice"
            described = _TYPE.fullmatch(lines[number + 1])
            assert described and described[1] == help_line[1], f"HELP without its TYPE: {line}"
            current, kind = described[1], described[2]
            found[current] = {}
        elif not _TYPE.fullmatch(line):
            sample = _SAMPLE.fullmatch(line)
            assert sample and sample[1] == current, f"not a sample of {current}: {line!r}"
            assert kind != "counter" or current.endswith("_total"), current
            labels = sample[2] or ""
            assert labels not in found[current], f"the same labels twice: {line}"
            found[current][labels] = float(sample[3])
    assert all(found.values()), "a metric without samples"
    return found
