"""The study of the live proof: a server against itself, with a known amount of extra work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BASE_ROWS = 10_000

TEXT = """\
[study]
name = "known-effect"
title = "A known effect"
question = "Is counting {rows} rows slower than counting {base}?"
contrast = "server"

[factors]
server = ["old", "new"]
clients = [{clients}]

[servers]
old = {{ server = "{server}", "guc:teiten.rows" = "{base}", "guc:teiten.side" = "old" }}
new = {{ server = "{server}", "guc:teiten.rows" = "{rows}", "guc:teiten.side" = "new" }}

[[workloads]]
name = "count"
title = "Counting rows"
description = "Counts consecutive accounts from a random start."
scale = {scale}
changes_data = false
script = '''
\\set first random(1, 100000 * :scale - 20000)
SELECT count(abalance) FROM pgbench_accounts
 WHERE aid BETWEEN :first AND :first + current_setting('teiten.rows')::int - 1;
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


def study_text(size: Size, rows: int, measure: Mapping[str, object]) -> str:
    """TOML. ``rows``: what the new side counts; the old one counts BASE_ROWS. ``measure``: keys."""
    lines = "\n".join(f"{key} = {_value(value)}" for key, value in measure.items())
    return TEXT.format(
        server=size.server,
        clients=size.clients,
        scale=size.scale,
        rows=rows,
        base=BASE_ROWS,
        measure=lines,
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f'"{value}"'
