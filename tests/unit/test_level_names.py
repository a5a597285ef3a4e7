"""Levels in words of their factor or their kind, never as a study file has them."""

from __future__ import annotations

import pytest

from teiten.kinds.procedure.model import procedure_of
from teiten.model.text import Language
from teiten.report.names import Names
from teiten.report.texts import texts
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
