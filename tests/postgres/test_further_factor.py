"""A factor that the operating system knows is a folder: its levels are in force on a real server,
and read back from the kernel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from tests.fixtures.campaigns import PATIENCE, Teiten
from tests.fixtures.forked import start

PROGRAM = """
from teiten.cli.main import main
from tests.fixtures.more_rooms import more_factors
with more_factors():
    main()
"""
"""Teiten, with the folder of a further factor."""
WORDS = {"en": "a server of niceness {level}", "ja": "nice値{level}のサーバ"}


def run(teiten: Teiten, *words: str) -> str:
    arguments = ["--workdir", str(teiten.workdir.root), *words]
    process = start(arguments, drawn=False, program=PROGRAM)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors + output
    return output


@pytest.mark.pg(">=18")
def test_its_levels_are_in_force_while_trials_run(
    teiten: Teiten, server_installation: Installation
) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    if not 0 <= own < 19:
        pytest.skip("a server cannot be made nicer than these tests are")
    study = teiten.study(server_installation, server_installation, workload="reads")
    levels = f"factors.niceness={own},{own + 1}"
    changes = ("contrast=niceness", "factors.server=old", levels)
    run(teiten, "run", str(study), "--yes", *(f"--set={change}" for change in changes))
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        planned = {trial.number: trial.cell.level("niceness") for trial in ledger.plan.trials}
        applied = [
            (planned[trial.number], trial.facts["applied"]) for trial in ledger.trials(series=False)
        ]
    assert {str(pair) for pair in applied} == {
        str((str(level), {"niceness": level})) for level in (own, own + 1)
    }
    for language, words in WORDS.items():
        report = run(teiten, "report", "last", "--format", "markdown", "--lang", language)
        text = Path(report.strip()).read_text(encoding="utf-8")
        assert words.format(level=own + 1) in text
