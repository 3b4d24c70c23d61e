"""Output on its way: whole in the log, line by line to the listener, bounded in memory (T6)."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.process.output import LINE_BYTES, TAIL_BYTES, TAIL_LINES, ProgramOutput


def collect(folder: Path, chunks: list[bytes], limit: int = 10**9) -> tuple[list[str], ProgramOutput]:
    lines: list[str] = []
    with ProgramOutput(str(folder / "log"), limit, lines.append) as output:
        for chunk in chunks:
            output.add(chunk)
        output.finish()
    return lines, output


def test_a_line_is_handed_on_when_it_is_whole_and_the_last_one_at_the_end(tmp_path: Path) -> None:
    lines, _ = collect(tmp_path, [b"one\ntw", b"o\nthree"])
    assert lines == ["one", "two", "three"]


def test_a_progress_bar_is_seen_moving_and_its_last_state_is_kept(tmp_path: Path) -> None:
    lines, output = collect(tmp_path, [b"10%\r", b"50%\r100%\r", b"\ndone\r\n"])
    assert lines == ["10%", "50%", "100%", "done"]
    assert output.tail == "100%\ndone"


def test_a_line_without_end_is_handed_on_in_pieces(tmp_path: Path) -> None:
    lines, _ = collect(tmp_path, [b"x" * 50_000] * 50 + [b"\nshort\n"])
    assert [len(line) for line in lines] == [LINE_BYTES, LINE_BYTES, 2_500_000 - 2 * LINE_BYTES, 5]


def test_binary_junk_is_readable_in_the_tail_and_untouched_in_the_log(tmp_path: Path) -> None:
    junk = bytes(range(256)) * 4 + b"\n"
    _, output = collect(tmp_path, [junk])
    assert (tmp_path / "log").read_bytes() == junk
    assert "\N{REPLACEMENT CHARACTER}" in output.tail


def test_the_tail_is_short_in_bytes_and_in_lines(tmp_path: Path) -> None:
    _, output = collect(tmp_path, [b"%d\n" % number for number in range(10_000)])
    assert output.tail.splitlines()[-1] == "9999"
    assert len(output.tail) <= TAIL_BYTES
    assert len(output.tail.splitlines()) <= TAIL_LINES


def test_beyond_the_limit_nothing_is_kept(tmp_path: Path) -> None:
    _, output = collect(tmp_path, [b"12345", b"67890"], limit=7)
    assert output.is_full
    assert (tmp_path / "log").read_bytes() == b"1234567"


@pytest.mark.property
@given(text=st.binary(max_size=400), cuts=st.lists(st.integers(0, 400), max_size=8))
def test_where_chunks_are_cut_makes_no_difference(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, cuts: list[int]
) -> None:
    edges = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    chunks = [text[start:stop] for start, stop in pairwise(edges)]
    folder = tmp_path_factory.mktemp("cut")
    lines, _ = collect(folder, chunks)
    assert [line.encode() for line in lines] == [
        line.decode(errors="replace").encode() for line in text.splitlines()
    ]
    assert (folder / "log").read_bytes() == text


def test_secrets_are_in_neither_the_log_nor_the_tail_wherever_the_output_was_cut(tmp_path: Path) -> None:
    """D11: output comes in pieces, and a secret may be in two of them."""
    log = tmp_path / "log"
    with ProgramOutput(str(log), 1000, None, lambda text: text.replace("hush-hush", "***")) as output:
        for piece in (b"one\nmy key is hush", b"-hush\n\xff\xfe bytes\nand hush-", b"hush"):
            output.add(piece)
        assert log.read_bytes() == b"one\nmy key is ***\n\xff\xfe bytes\n"
        output.finish()
    assert log.read_bytes() == b"one\nmy key is ***\n\xff\xfe bytes\nand ***"
    assert output.tail.splitlines()[-1] == "and ***"
