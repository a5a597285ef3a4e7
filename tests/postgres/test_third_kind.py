"""A third kind of workload is a folder: planned, run on a real server, analysed, told in both
languages, and claimed, with no other line written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.claims import ClaimStanding
from teiten.claims.catalogue import read_claims
from teiten.cli.campaign.read import analyse_campaign
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from tests.fixtures.campaigns import PATIENCE, Teiten
from tests.fixtures.forked import start
from tests.fixtures.more_rooms import SAID, VACUUM_WORKLOAD, more_kinds

STUDY = """
[study]
name = "vacuum"
title = "VACUUM"
question = "Does VACUUM differ?"
contrast = "server"

[factors]
server = ["old", "new"]

[servers]
old = {place}
new = {place}

{workload}
[settings.shared_buffers]
value = "64MB"

[measure]
settle = "0s"
blocks = 3
disturbed_share = "100%"
"""
CLAIMS = """
study = "observe"
report = "Nobody 2026"

[[claims]]
id = "vacuum-is-vacuum"
section = "1"
statement = {{ en = "A server is as fast as itself.", ja = "同じサーバの速さは同じである。" }}
workload = "read"
metric = "vacuum_seconds"
predicate = {{ kind = "vacuum-within", times = {times} }}
"""
PROGRAM = """
from teiten.cli.main import main
from tests.fixtures.more_rooms import more_kinds
with more_kinds():
    main()
"""
"""Teiten, with the folder of a further kind."""
LONGEST = {"en": "The longest VACUUM", "ja": "最も長いVACUUM"}


def run(teiten: Teiten, *words: str) -> str:
    arguments = ["--workdir", str(teiten.workdir.root), *words]
    process = start(arguments, drawn=False, program=PROGRAM)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return output


@pytest.mark.pg(">=18")
def test_a_third_kind_is_a_folder(
    teiten: Teiten, server_installation: Installation, tmp_path: Path
) -> None:
    study = tmp_path / "vacuum.toml"
    place = json.dumps(str(server_installation.bin_directory))
    study.write_text(STUDY.format(place=place, workload=VACUUM_WORKLOAD), encoding="utf-8")
    with more_kinds():
        assert "time VACUUM" in run(teiten, "plan", str(study))
        run(teiten, "run", str(study), "--yes")
        for language, said in SAID.items():
            for form in ("html", "markdown"):
                written = run(teiten, "report", "last", "--lang", language, "--format", form)
                text = Path(written.splitlines()[0]).read_text(encoding="utf-8")
                assert [one for one in (*said, LONGEST[language]) if one not in text] == []
        with Ledger.open(teiten.campaign(), read_only=True) as ledger:
            analysis = analyse_campaign(ledger)
            attempts = list(ledger.attempts("vacuum_seconds"))
        (contrast,) = analysis.contrasts
        assert contrast.metric.name == "vacuum_seconds" and contrast.overall.pairs == 3
        longest = analysis.results["vacuum"]
        assert isinstance(longest, float) and longest > 0
        for times, standings in (
            (1e6, {ClaimStanding.REPRODUCED}),
            # by three blocks of one server twice; one campaign in twenty is apart by chance
            (1 + 1e-9, {ClaimStanding.INCONCLUSIVE, ClaimStanding.CONTRADICTED}),
        ):
            path = tmp_path / "claims.toml"
            path.write_text(CLAIMS.format(times=times), encoding="utf-8")
            (claim,) = read_claims(path)  # of the catalogue's studies; here it is asked of ours
            claim = replace(claim, study="vacuum", workload="accounts", work=())
            (found,) = assess([claim], analysis.plan, analysis.facts, attempts)
            assert found.standing in standings
