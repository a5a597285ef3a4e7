"""The user's own SQL, in one transaction."""

from __future__ import annotations

from teiten.datasets.contract import Fillable, Say
from teiten.datasets.sql import run_script
from teiten.model.study import DataSet


def fill(server: Fillable, data: DataSet, _say: Say) -> None:
    """Run the data set's script. Raises WorkloadError where it fails."""
    if data.script is None:
        raise ValueError("a data set of the kind script has a script")
    run_script(server, data.script, "data script")
