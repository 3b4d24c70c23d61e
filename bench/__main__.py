"""`python -m bench [--short] [--instances FOLDER] [NAME...]`: measure, and print ratios."""

import argparse
import importlib

from bench.table import show

NAMES = (
    "schedule",
    "train",
    "graph",
    "log",
    "state",
    "store",
    "start",
    "sandbox",
    "workspaces",
    "radar",
    "sleepers",
    "pool",
    "brake",
    "clutch",
    "forecast",
    "lessons",
    "errors",
    "serve",
    "reviews",
)


def main() -> None:
    """Run the named measurements, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(NAMES)}")
    parser.add_argument("--short", action="store_true", help="small sizes; under two minutes in all")
    parser.add_argument("--instances", default="", help="a folder of PSPLIB .sm or WfFormat .json files")
    parser.add_argument(
        "--plot", default="", help="where to draw the ratios of `schedule` or `train`, as an SVG file"
    )
    parser.add_argument("--projects", default="", help="which of them `forecast` is to try, as 0:20")
    parser.add_argument("--part", default="", choices=("", "order", "optimum", "theta"), help="of `schedule`")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    extras = {
        "schedule": {"instances": options.instances, "plot": options.plot, "part": options.part},
        "train": {"plot": options.plot},
        "forecast": {"projects": options.projects},
    }
    for name in options.names or NAMES:
        # Only what is asked for is imported: the size of this process is one of the things measured.
        module = importlib.import_module(f"bench.{name}")
        show(module.TITLE, module.measure(short=options.short, **extras.get(name, {})))


if __name__ == "__main__":
    main()
