"""Levels in words of their factor or their kind, never as a study file has them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.model.claims import Check, CheckKind, ClaimStanding
from teiten.claims.predicates.levels import PER_SIZE, RATIO_OF, SHARE, VALUE
from teiten.kinds.probes.claims import GROWTH, RISE
from teiten.kinds.procedure.model import procedure_of
from teiten.model.text import Language
from teiten.report.claim_words import what_is_checked
from teiten.report.names import Names
from teiten.report.texts import texts
from teiten.study.document import catalogue_names, read_document
from tests.fixtures.invented_partitions import insert_plan


@pytest.mark.parametrize("language", ["en", "ja"])
def test_methods_are_called_by_their_titles(language: Language) -> None:
    plan, t = insert_plan(), texts(language)
    names = Names(plan, t)
    for workload in plan.study.workloads:
        for method in procedure_of(workload).methods:
            title = t.of(method.title)
            assert names.level("method", method.name) == title
            assert names.context((("method", method.name),)) == title
            assert names.side(method.name).long in (title, method.name)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_levels_below_their_factor_are_words_too(language: Language) -> None:
    t = texts(language)
    names = Names(insert_plan(), t)
    assert names.level("scenario", "throughput") == t("level.scenario.throughput")
    assert names.level("guc:work_mem", "4MB") == "4MB"


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("study", catalogue_names())
def test_steps_of_built_in_studies_have_words(study: str, language: Language) -> None:
    workloads = read_document(study).data["workloads"]
    methods = (method for workload in workloads for method in workload.get("methods", ()))
    steps = (step for method in methods for step in method["steps"] if step.get("timed", True))
    keys = {f"step.{step['name']}" for step in steps}
    assert not {key for key in keys if key not in texts(language)}


@pytest.mark.parametrize(
    ("language", "finding"),
    [
        ("en", "declarative partitions at 180 days, s"),
        ("ja", "宣言的パーティション（180日分）（秒）"),
    ],
)
@pytest.mark.parametrize("contrast", ["method", "server"])
def test_a_finding_names_methods_and_layouts_as_the_report_does(
    language: Language, finding: str, contrast: str
) -> None:
    plan, t = insert_plan(), texts(language)
    names = Names(replace(plan, study=replace(plan.study, contrast=contrast)), t)
    assert names.context((("layout", "days-180"),)) == names.any_level("days-180")
    assert names.any_level("18") == names.server("18").short
    assert names.any_level("no level of any factor") == "no level of any factor"
    check = Check(
        VALUE,
        ("declarative",),
        (),
        *(None,) * 5,
        0,
        ClaimStanding.INCONCLUSIVE,
        classes=(("days-180",),),
    )
    assert what_is_checked(t, check, names.any_level) == finding


@pytest.mark.parametrize("kind", [RATIO_OF, PER_SIZE, SHARE, GROWTH, RISE])
def test_a_finding_names_probes_by_their_titles(kind: CheckKind) -> None:
    check = Check(
        kind,
        ("a", "b"),
        (1.0, 2.0),
        *(None,) * 5,
        0,
        ClaimStanding.INCONCLUSIVE,
        classes=(("clock-sweep",),),
        metric="server_cpu_share",
    )
    titles = {"clock-sweep": "sweep of the buffers"}
    named = what_is_checked(texts("en"), check, lambda level: titles.get(level, level))
    assert "sweep of the buffers" in named and "clock-sweep" not in named
