"""The study of the live proof: a server against itself, with a known amount of extra work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from benchmarks.pairs.servers import BASE_ROWS, RANGE_READ

# A server waits whole milliseconds only: chance makes their mean follow every microsecond.
WAIT = """\
SELECT pg_sleep(floor(current_setting('teiten.rows')::int / 1000.0 + 2 * random()) / 1000);"""

SCRIPTS = {"count": RANGE_READ, "wait": WAIT}
"""What a transaction does so many rows of: counts them, or waits a microsecond for each, which a
restless processor hardly disturbs."""

TEXT = """\
[study]
name = "known-effect"
title = "A known effect"
question = "Is it seen that {rows} rows are more work than {base}?"
contrast = "server"

[factors]
server = ["old", "new"]
clients = [{clients}]

[servers]
old = {{ server = "{server}", "guc:teiten.rows" = "{base}", "guc:teiten.side" = "old" }}
new = {{ server = "{server}", "guc:teiten.rows" = "{rows}", "guc:teiten.side" = "new" }}

[[workloads]]
name = "{work}"
title = "Known work"
description = "Counts rows from a random start, or waits a microsecond for each."
scale = {scale}
changes_data = false
script = '''
{script}
'''

[settings]
shared_buffers = "256MB"
autovacuum = false

[measure]
settle = "0s"
{measure}
"""


@dataclass(frozen=True)
class Size:
    """Of every comparison."""

    server: str
    clients: int
    scale: int
    work: str
    """One of SCRIPTS."""


def study_text(size: Size, rows: int, measure: Mapping[str, object]) -> str:
    """TOML. ``rows``: what the new side counts; the old one counts BASE_ROWS. ``measure``: keys."""
    lines = "\n".join(f"{key} = {_value(value)}" for key, value in measure.items())
    return TEXT.format(
        **asdict(size), rows=rows, base=BASE_ROWS, script=SCRIPTS[size.work], measure=lines
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f'"{value}"'
