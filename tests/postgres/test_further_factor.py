"""A factor that the operating system knows is a folder: its levels are in force on a real server,
and read back from the kernel."""

from __future__ import annotations

import pytest

from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from tests.fixtures.campaigns import PATIENCE, Teiten
from tests.fixtures.forked import start

PROGRAM = """
from teiten.cli.main import main
from tests.fixtures.more_factors import more_factors
with more_factors():
    main()
"""
"""Teiten, with the folder of a further factor."""


@pytest.mark.pg(">=18")
def test_its_levels_are_in_force_while_trials_run(
    teiten: Teiten, server_installation: Installation
) -> None:
    study = teiten.study(server_installation, server_installation, workload="reads")
    arguments = ["--workdir", str(teiten.workdir.root), "run", str(study), "--yes"]
    arguments += ["--set", "contrast=niceness", "--set", "factors.server=old"]
    arguments += ["--set", "factors.niceness=0,7"]
    process = start(arguments, drawn=False, program=PROGRAM)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors + output
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        planned = {trial.number: trial.cell.level("niceness") for trial in ledger.plan.trials}
        applied = [
            (planned[trial.number], trial.facts["applied"]) for trial in ledger.trials(series=False)
        ]
    assert {str(pair) for pair in applied} == {
        str(("0", {"niceness": 0})),
        str(("7", {"niceness": 7})),
    }
