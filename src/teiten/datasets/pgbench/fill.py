"""``pgbench -i``, or the rows of one node of those that it makes."""

from __future__ import annotations

from teiten.datasets.contract import Fillable, Say
from teiten.datasets.pgbench.model import fillfactor_of, tables_of
from teiten.datasets.pgbench.parts import fill_part
from teiten.model.study import DataSet


def fill(server: Fillable, data: DataSet, _say: Say) -> None:
    """pgbench's own tables, without its VACUUM."""
    part = tables_of(data).part
    if part is not None:
        fill_part(server, data, part)
        return
    server.run_pgbench(
        "--initialize",
        "--no-vacuum",
        "--quiet",
        f"--scale={data.scale}",
        f"--fillfactor={fillfactor_of(data)}",
        what=f"pgbench --initialize with scale {data.scale} on {server.name}",
    )
