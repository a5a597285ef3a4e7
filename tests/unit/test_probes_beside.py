"""A workload beside the probes: its place in the study, and on whose ground it stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.errors import UsageError
from teiten.kinds.probes.model import NAME
from teiten.kinds.probes.present.beside import Footing, beside_of
from teiten.kinds.probes.results import probes_found
from teiten.model.study import Study
from teiten.model.text import Language
from teiten.report.render.markdown import markdown_text
from teiten.report.view.kit import Kit
from teiten.report.view.report import view
from teiten.study.load import load_study
from tests.fixtures.invented_probes import Invented, Truth, invented_probes

PAGE = 8192
USES = {"25%": (200.0, 20.0), "50%": (200.0, 120.0), "75%": (10.0, 1.0)}
"""Of 1000 pages asked for in 100 transactions: from outside the buffers, and from the disk."""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "mine.sql"
    path.write_text("SELECT 1;\n")
    return path


def metrics(outside: float, disk: float) -> dict[str, float]:
    return {
        "blocks_hit": 1000 - outside,
        "blocks_read": outside,
        "disk_read_bytes": disk * PAGE,
        "transactions": 100.0,
        "tps": 1000.0,
        "latency_mean": 4e-3,
    }


def campaign(script: Path, **changes: float) -> CampaignAnalysis:
    used = {side: metrics(*uses) | changes for side, uses in USES.items()}
    like = Invented(
        Truth(), blocks=2, workload=str(script), metrics_of_workload=used, statements=0.2
    )
    return invented_probes(like)


def planned(script: Path, *overrides: str) -> Study:
    return load_study("buffers", profile="quick", overrides=overrides, workload=str(script))


def test_a_script_stands_beside_the_probes_in_the_same_memory(script: Path) -> None:
    study = planned(script)
    assert [workload.name for workload in study.workloads] == ["reads", "writes", "own"]
    assert study.workload("own").options.source == "mine.sql"
    assert study.factor("clients") is not None
    alone = load_study("buffers", profile="quick")
    assert [workload.name for workload in alone.workloads] == ["reads", "writes"]
    assert alone.factor("clients") is None
    chosen = planned(script, "workloads=writes")
    assert [workload.name for workload in chosen.workloads] == ["writes", "own"]


def test_tables_that_are_named_are_those_of_the_script(script: Path, tmp_path: Path) -> None:
    tables = tmp_path / "tables.sql"
    tables.write_text("CREATE TABLE mine (id bigint);\n")
    study = planned(script, f"data.script={tables}", "data.size=1GB")
    assert study.workload("own").data.kind == "script"
    assert study.workload("reads").data.kind == study.workload("writes").data.kind == "probes"


def test_a_study_without_a_place_refuses_it_with_what_can_be_done(script: Path) -> None:
    with pytest.raises(UsageError, match="no place for a workload") as caught:
        load_study("observe", workload=str(script))
    assert "--set script=" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="--script: there is no script"):
        planned(script.with_name("other.sql"))


def test_each_size_stands_on_the_ground_of_a_probe(script: Path) -> None:
    found = {one.side: one for one in beside_of(Kit(campaign(script), "en"))}
    assert {side: one.ground for side, one in found.items()} == {
        "25%": Footing.OS_CACHE,
        "50%": Footing.DISK,
        "75%": Footing.BUFFERS,
    }
    assert found["50%"].from_buffers == pytest.approx(0.8)
    assert found["50%"].outside == pytest.approx(2.0)
    assert found["50%"].from_disk == pytest.approx(1.2)
    assert found["50%"].turnaround == pytest.approx(4e-3)
    truth = Truth()
    costs = 1.2 * truth.from_disk + 0.8 * truth.from_os_cache
    assert found["50%"].reading == pytest.approx(costs, rel=0.1)
    assert all(one.fits is not None for one in found.values())


def test_more_than_was_asked_for_is_never_of_its_pages(script: Path) -> None:
    """Others read the disk too."""
    found = beside_of(Kit(campaign(script, disk_read_bytes=1e9), "en"))
    assert all(one.from_disk == one.outside for one in found)


def test_a_probe_at_a_level_that_the_workload_has_not_explains_nothing(script: Path) -> None:
    analysis = campaign(script)
    probes = probes_found(analysis)
    apart = tuple(
        replace(result, context=(*result.context, ("guc:io_method", "sync")))
        for result in probes.results
    )
    results = {**analysis.results, NAME: replace(probes, results=apart)}
    found = beside_of(Kit(replace(analysis, results=results), "en"))
    assert len(found) == 3
    assert {(one.reading, one.fits) for one in found} == {(None, None)}


def test_what_is_not_known_is_not_guessed(script: Path) -> None:
    used = {side: metrics(*uses) for side, uses in USES.items()}
    for one in used.values():
        del one["disk_read_bytes"], one["transactions"]
    like = Invented(Truth(), blocks=2, workload=str(script), metrics_of_workload=used)
    found = {one.side: one for one in beside_of(Kit(invented_probes(like), "en"))}
    assert {one.ground for one in found.values()} == {Footing.OUTSIDE, Footing.BUFFERS}
    assert {(one.outside, one.from_disk, one.reading) for one in found.values()} == {
        (None, None, None)
    }


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("en", ["past the cliff, which “A page that is kept twice” has", "Your workload and the"]),
        (
            "ja",
            ["「ページ重複による無駄」では、ワーキングセットが", "利用者の負荷と検証項目"],
        ),
    ],
)
def test_the_report_says_on_whose_ground(script: Path, language: Language, says: list[str]) -> None:
    text = markdown_text(view(campaign(script), language), "0.1.0")
    assert all(say in text for say in says)


def test_probes_alone_have_no_such_section() -> None:
    text = markdown_text(view(invented_probes(Invented(blocks=2)), "en"), "0.1.0")
    assert "Your workload and the probes" not in text
