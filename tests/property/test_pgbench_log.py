"""The transaction log's reader against logs of which everything is known."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.log_folder import LogFile
from teiten.execute.client.pgbench_log import parse_times, recording

TIME = st.one_of(
    st.integers(0, 10**7).map(str),
    st.sampled_from(["skipped", "failed", "serialization", "deadlock"]),
)


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[str], str]:
    """The times, and the text of the log; with and without the columns of -R and --max-tries."""
    times = draw(st.lists(TIME, max_size=60))
    further = draw(st.sampled_from(["", " 103", " 103 0"]))
    lines = [
        f"{at % 4} {at} {time} 0 1795265030 {at * 37 % 1000000}{further}\n"
        for at, time in enumerate(times)
    ]
    return times, "".join(lines)


@given(logs(), st.lists(st.integers(0, 3000), max_size=6))
@settings(deadline=None)
def test_every_line_is_read_once_wherever_writes_end(
    log: tuple[list[str], str], cuts: list[int]
) -> None:
    times, text = log
    data = text.encode()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    histogram = LatencyHistogram()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "transactions.1"
        path.touch()
        tail = LogFile(path, recording(histogram))
        with path.open("ab", buffering=0) as writer:
            for start, end in itertools.pairwise(edges):
                writer.write(data[start:end])
                tail.read()
        tail.close(delete=True)
        assert not path.exists()
    numbers = [int(time) for time in times if time.isdecimal()]
    assert tail.position == len(data)
    assert histogram.count == len(numbers)
    assert histogram.maximum == max(numbers, default=0)


@given(logs().filter(lambda log: bool(log[0])))
@settings(deadline=None)
def test_the_times_are_parsed_in_order(log: tuple[list[str], str]) -> None:
    times, text = log
    expected = [int(time) if time.isdecimal() else None for time in times]
    assert parse_times(text.encode()).to_pylist() == expected
