"""`--max-parallel`: a number of agents, or `auto`."""

import click

DIGITS = 10
"""No machine has room for so many agents, and Python refuses to read numbers of thousands of digits."""


class Number(click.ParamType[int | str]):
    """A number of at least 1, or `auto`."""

    name = "integer or auto"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """The number, or the word."""
        text = str(value).strip().lower()
        if text != "auto" and not (text.isdecimal() and len(text) < DIGITS and int(text) >= 1):
            self.fail(f"{value!r} is neither a positive number nor `auto`", param, ctx)
        return text if text == "auto" else int(text)


max_parallel_option = click.option(
    "--max-parallel",
    type=Number(),
    metavar="N|auto",
    help="Agents that may work at once; auto: the clutch decides for each kind of work "
    "(default: 3, and auto once a run has landed a change).",
)
