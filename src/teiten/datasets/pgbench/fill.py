"""``pgbench -i``."""

from __future__ import annotations

from teiten.datasets.contract import Fillable, Say
from teiten.datasets.pgbench.model import fillfactor_of
from teiten.model.study import DataSet


def fill(server: Fillable, data: DataSet, _say: Say) -> None:
    """pgbench's own tables, without its VACUUM."""
    server.run_pgbench(
        "--initialize",
        "--no-vacuum",
        "--quiet",
        f"--scale={data.scale}",
        f"--fillfactor={fillfactor_of(data)}",
        what=f"pgbench --initialize with scale {data.scale} on {server.name}",
    )
