"""The study of the live proof: a server against itself, with a known amount of extra work."""

from __future__ import annotations

BASE_ROWS = 10_000

TEXT = """\
[study]
name = "known-effect"
title = "A known effect"
question = "Is counting {rows} rows slower than counting {base}?"
contrast = "server"

[factors]
server = ["old", "new"]
clients = [4]

[servers]
old = {{ server = "{server}", "guc:teiten.rows" = "{base}", "guc:teiten.side" = "old" }}
new = {{ server = "{server}", "guc:teiten.rows" = "{rows}", "guc:teiten.side" = "new" }}

[[workloads]]
name = "count"
title = "Counting rows"
description = "Counts consecutive accounts from a random start."
scale = 10
changes_data = false
script = '''
\\set first random(1, 900000)
SELECT count(abalance) FROM pgbench_accounts
 WHERE aid BETWEEN :first AND :first + current_setting('teiten.rows')::int - 1;
'''

[settings]
shared_buffers = "256MB"
autovacuum = false

[measure]
settle = "0s"
warmup = "1s"
{measure}
"""


def study_text(server: str, rows: int, measure: dict[str, object]) -> str:
    """TOML. ``rows``: what the new side counts; the old one counts BASE_ROWS. ``measure``: keys."""
    lines = "\n".join(f"{key} = {_value(value)}" for key, value in measure.items())
    return TEXT.format(server=server, rows=rows, base=BASE_ROWS, measure=lines)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f'"{value}"'
