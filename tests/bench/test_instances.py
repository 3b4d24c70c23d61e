"""The yardstick itself: published instances are read as they are meant (DESIGN 11's first row)."""

from pathlib import Path

import pytest

from bench.drive import Drive
from bench.instances import read_instances, read_psplib, read_wfformat
from bench.schedule import measure

PSPLIB = """\
************************************************************************
jobs (incl. supersource/sink ):  4
************************************************************************
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          2           2   3
   2        1          1           4
   3        1          1           4
   4        1          0
************************************************************************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1
------------------------------------------------------------------------
  1      1     0       0
  2      1     5       1
  3      1     3       1
  4      1     0       0
************************************************************************
"""
WFFORMAT = """{"workflow": {
  "specification": {"tasks": [{"id": "b", "parents": ["a"]}, {"id": "a", "parents": []}]},
  "execution": {"tasks": [{"id": "a", "runtimeInSeconds": 2.5}, {"id": "b", "runtimeInSeconds": 1}]}}}"""


def test_a_psplib_file_gives_jobs_with_their_needs_and_minutes() -> None:
    tasks = read_psplib(PSPLIB)
    assert [(task.id, task.needs) for task in tasks] == [
        ("t0", ()), ("t1", ("t0",)), ("t2", ("t0",)), ("t3", ("t1", "t2"))
    ]  # fmt: skip
    assert [round(task.estimate_seconds) for task in tasks] == [0, 300, 180, 0]


def test_a_recorded_workflow_gives_tasks_with_their_run_times_needs_first() -> None:
    assert [(task.id, task.needs, task.estimate_seconds) for task in read_wfformat(WFFORMAT)] == [
        ("t0", (), 2.5),
        ("t1", ("t0",), 1.0),
    ]


def test_a_simulated_run_takes_as_long_as_its_longest_chain_when_there_are_enough_workers() -> None:
    tasks = read_psplib(PSPLIB)
    assert round(Drive(tasks, 2).run()) == 300
    assert round(Drive(tasks, 1).run()) == 480


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.sm").write_text(PSPLIB)
    (tmp_path / "two.json").write_text(WFFORMAT)
    return tmp_path


def test_a_folder_of_instances_is_read_by_kind(folder: Path) -> None:
    assert sorted(read_instances(folder)) == [f"{folder.name} .json", f"{folder.name} .sm"]


@pytest.mark.night
def test_a_folder_of_instances_is_measured_by_kind(folder: Path, tmp_path: Path) -> None:
    rows = measure(short=True, instances=str(folder), plot=str(tmp_path / "plot.svg"))
    families = [row for row in rows if row.what.startswith(("PSPLIB j2, ", "workflow traces, "))]
    assert len(families) == 36
    assert all(row.value >= 0.999 for row in families if "lower bound" in row.what)
    assert (tmp_path / "plot.svg").read_text().count("<rect") == 4 + 6 * 4
