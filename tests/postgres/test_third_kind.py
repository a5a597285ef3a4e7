"""A third kind of workload is a folder: planned, run on a real server, analysed, told in both
languages, and claimed, with no other line written."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.claims import ClaimStanding
from teiten.claims.catalogue import read_claims
from teiten.cli.campaign.analyse import analyse_campaign
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from tests.fixtures.campaigns import PATIENCE, Teiten
from tests.fixtures.more_kinds import with_kind

KIND = {
    "plan.py": """
from dataclasses import dataclass
from teiten.kinds.contract import KindPlan, Step
from teiten.model.metrics import Better, Metric
from teiten.model.study import WorkloadOptions
from teiten.model.units import Seconds
from teiten.study.schema import WorkloadTable

SECONDS = Metric("vacuum_seconds", "s", Better.LOWER, judged=True)

@dataclass(frozen=True)
class Options(WorkloadOptions):
    vacuum: str

class Table(WorkloadTable):
    vacuum: str

class Vacuum(KindPlan):
    does, metrics, contrasted = "times VACUUM", (SECONDS,), (SECONDS.name,)
    options, table, told_by = Options, Table, "vacuum"
    def options_of(self, place, table):
        return Options(table.vacuum)
    def measured_seconds(self, measure, workload):
        return Seconds(1.0)
    def loading(self, version, where):
        return "time VACUUM"
    def warm_up(self, study, workload):
        return Step("warm-up", "nothing")
    def measuring(self, study, workload):
        return Step("vacuum", f"VACUUM {workload.options.vacuum}")

PLAN = Vacuum()
""",
    "run.py": """
import time
from teiten.execute.load import PlainLoad

class VacuumLoad(PlainLoad):
    def __init__(self, bench, trial, site, folder):
        super().__init__(trial, site, folder)
        self.table = bench.plan.study.workload(trial.cell.workload).options.vacuum
    def warm_up(self):
        return {}
    def measure(self, turn):
        with self.site.connect() as connection:
            begun = time.perf_counter()
            connection.execute(f"VACUUM (VERBOSE FALSE) {self.table}")
        self.gathered.metrics["vacuum_seconds"] = time.perf_counter() - begun
        return dict(self.gathered.metrics)

def loads(bench):
    return lambda trial, site, folder: VacuumLoad(bench, trial, site, folder)
""",
    "analyse.py": """
from teiten.kinds.contract import KindAnalysis

class VacuumAnalysis(KindAnalysis):
    def results(self, measured):
        return max(one.metrics["vacuum_seconds"] for one in measured.views if one.metrics)

ANALYSIS = VacuumAnalysis()
""",
    "present.py": """
from teiten.kinds.contract_present import TrialColumn
from teiten.report.blocks import Text
from teiten.report.view.usual import UsualPresent

class VacuumPresent(UsualPresent):
    columns = (TrialColumn("vacuum_seconds", 1000.0),)
    def duration(self, kit, workload):
        return kit.t("design.duration.vacuum")
    def procedure(self, kit, workload):
        return kit.t("procedure.vacuum")
    def results(self, kit, prefix, workload):
        yield Text(kit.t("vacuum.longest", value=f"{kit.analysis.results['vacuum']:.3f}"))
        yield from super().results(kit, prefix, workload)

PRESENT = VacuumPresent()
""",
    "claims.py": """
import math
from typing import Literal
from pydantic.dataclasses import dataclass
from teiten.analysis.claims.checks import ClaimQuestion, check_of, estimator_of
from teiten.analysis.model.claims import CheckKind
from teiten.analysis.model.predicate import Predicate
from teiten.claims.forms import FORM, Ratio

APART = CheckKind("vacuums", lambda check, words: "VACUUM")

@dataclass(frozen=True, config=FORM)
class WithinTimes(Predicate):
    times: Ratio
    kind: Literal["vacuum-within"] = "vacuum-within"

    def checks(self, claim, ground):
        sides = [
            {one.block: one.metrics[claim.metric] for one in ground.observations if one.side == at}
            for at in ("old", "new")
        ]
        values = tuple(math.log(sides[1][at] / sides[0][at]) for at in sorted(sides[0]))
        most = math.log(self.times)
        asked = ClaimQuestion(APART, ("old", "new"), (), values, -most, most)
        measure = ground.plan.study.measure
        return (check_of(asked, measure.alpha, estimator_of(measure)),)

PREDICATES = (WithinTimes,)
""",
    "words.en.toml": """
[metric]
vacuum_seconds = "time of VACUUM"
[column]
vacuum_seconds = "VACUUM, ms"
[design.duration]
vacuum = "one VACUUM"
[procedure]
vacuum = "The table is vacuumed once."
[vacuum]
longest = "The longest VACUUM took {value} s."
""",
    "words.ja.toml": """
[metric]
vacuum_seconds = "VACUUMの時間"
[column]
vacuum_seconds = "VACUUM、ms"
[design.duration]
vacuum = "VACUUM1回"
[procedure]
vacuum = "テーブルを1回VACUUMする。"
[vacuum]
longest = "最も長いVACUUMは{value}秒であった。"
""",
}
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

[[workloads]]
name = "accounts"
title = "Accounts"
vacuum = "pgbench_accounts"
scale = 1
changes_data = true

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
PROGRAM = (
    "import sys; from teiten import kinds; kinds.__path__.append(sys.argv.pop(1));"
    " from teiten.cli.main import main; main()"
)
"""Teiten, with the folder of a further kind."""
SAID = {
    "en": ("time of VACUUM", "VACUUM, ms", "The table is vacuumed once.", "The longest VACUUM"),
    "ja": ("VACUUMの時間", "VACUUM、ms", "テーブルを1回VACUUMする。", "最も長いVACUUM"),
}


def run(kinds: Path, teiten: Teiten, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, kinds, "--workdir", teiten.workdir.root, *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.pg(">=18")
def test_a_third_kind_is_a_folder(
    teiten: Teiten, server_installation: Installation, tmp_path: Path
) -> None:
    study = tmp_path / "vacuum.toml"
    place = json.dumps(str(server_installation.bin_directory))
    study.write_text(STUDY.format(place=place), encoding="utf-8")
    with with_kind(tmp_path / "kinds", "vacuum", KIND):
        kinds = tmp_path / "kinds"
        assert "time VACUUM" in run(kinds, teiten, "plan", str(study))
        run(kinds, teiten, "run", str(study), "--yes")
        for language, said in SAID.items():
            for form in ("html", "markdown"):
                written = run(kinds, teiten, "report", "last", "--lang", language, "--format", form)
                text = Path(written.splitlines()[0]).read_text(encoding="utf-8")
                assert [one for one in said if one not in text] == []
        with Ledger.open(teiten.campaign(), read_only=True) as ledger:
            analysis = analyse_campaign(ledger)
            attempts = list(ledger.attempts("vacuum_seconds"))
        (contrast,) = analysis.contrasts
        assert contrast.metric.name == "vacuum_seconds" and contrast.overall.pairs == 3
        longest = analysis.results["vacuum"]
        assert isinstance(longest, float) and longest > 0
        for times, standing in (
            (1e6, ClaimStanding.REPRODUCED),
            (1 + 1e-9, ClaimStanding.INCONCLUSIVE),
        ):
            path = tmp_path / "claims.toml"
            path.write_text(CLAIMS.format(times=times), encoding="utf-8")
            (claim,) = read_claims(path)  # of the catalogue's studies; here it is asked of ours
            claim = replace(claim, study="vacuum", workload="accounts", work=())
            (found,) = assess([claim], analysis.plan, analysis.facts, attempts)
            assert found.standing is standing
