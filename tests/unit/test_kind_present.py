"""A kind that the report has never heard of is presented by its folder alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from teiten import kinds
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.kinds import registry
from teiten.model.study import Workload, WorkloadOptions
from teiten.model.text import Language
from teiten.report.render.html import html
from teiten.report.render.markdown import markdown_text
from teiten.report.texts import texts
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.shown import part

FILES = {
    "__init__.py": "",
    "plan.py": """
from teiten.kinds.contract import KindPlan
from teiten.model.metrics import Better, Metric


class Plan(KindPlan):
    metrics = (Metric("vacuum_seconds", "s", Better.LOWER, judged=True),)
    contrasted = ("vacuum_seconds",)

    def options_of(self, place, table):
        raise NotImplementedError

    loading = warm_up = measuring = options_of


PLAN = Plan()
""",
    "present.py": """
from teiten.kinds.contract_present import TrialColumn
from teiten.report.view.usual import UsualPresent


class Present(UsualPresent):
    columns = (TrialColumn("vacuum_seconds", 1000.0),)

    def duration(self, kit, workload):
        return kit.t("design.duration.vacuum")

    def procedure(self, kit, workload):
        return kit.t("procedure.vacuum")


PRESENT = Present()
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
""",
}
SAID = {
    "en": ("time of VACUUM", "VACUUM, ms", "one VACUUM", "The table is vacuumed once."),
    "ja": ("VACUUMの時間", "VACUUM、ms", "VACUUM1回", "テーブルを1回VACUUMする。"),
}


def forget() -> None:
    for one in (registry.names, registry.kind, texts):
        one.cache_clear()
    for name in [name for name in sys.modules if name.startswith(f"{kinds.__name__}.third")]:
        del sys.modules[name]


@pytest.fixture
def third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A kind in a folder beside those of Teiten."""
    folder = tmp_path / "third"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    forget()
    yield "third"
    monkeypatch.undo()
    forget()


def of_kind(kind: str) -> CampaignAnalysis:
    """An invented campaign whose loads are of this kind: what were TPS are times of VACUUM."""
    found = invented_analysis(seconds=2)
    (metric,) = registry.kind(kind, registry.Stage.PLAN).PLAN.metrics
    contrasts = tuple(
        replace(one, metric=metric) for one in found.contrasts if one.metric.name == "tps"
    )
    trials = tuple(
        replace(one, metrics={metric.name: 100 / one.metrics["tps"]} if one.metrics else {})
        for one in found.trials
    )
    study = found.plan.study
    workloads: tuple[Workload, ...] = tuple(
        replace(one, kind=kind, options=WorkloadOptions()) for one in study.workloads
    )
    plan = replace(found.plan, study=replace(study, workloads=workloads))
    return replace(found, plan=plan, contrasts=contrasts, trials=trials, results={}, claims=())


@pytest.mark.parametrize("language", ["en", "ja"])
def test_its_folder_is_all_that_the_report_needs(third: str, language: Language) -> None:
    analysis = of_kind(third)
    shown = view(analysis, language)
    page, text = html(shown, "0.1.0"), markdown_text(shown, "0.1.0")
    for said in SAID[language]:
        assert said in page and said in text
    results = part(shown, "results")
    assert len(results.charts) == len(analysis.plan.study.workloads)
    assert len(results.tables) == len(analysis.contrasts)
    assert all(one.chart is not None for one in part(shown, "answer").statements)
