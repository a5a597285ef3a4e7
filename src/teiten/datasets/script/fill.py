"""The user's own SQL, in one transaction."""

from __future__ import annotations

from teiten.datasets.contract import Fillable, Say
from teiten.datasets.script.model import script_of
from teiten.datasets.sql import run_script
from teiten.model.study import DataSet


def fill(server: Fillable, data: DataSet, _say: Say) -> None:
    """Run the data set's script. Raises WorkloadError where it fails."""
    run_script(server, script_of(data).script, "data script")
