"""What a report says of placements, in both languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.model.findings import CampaignAnalysis, TrialView
from teiten.kinds.pgbench.model import NAME
from teiten.kinds.pgbench.placements import placements as found_in
from teiten.kinds.pgbench.present.placements import placements
from teiten.kinds.pgbench.results import PgbenchFound, pgbench_found
from teiten.model.storage import COLUMNS, Emulation, StorageClass, storage_metric
from teiten.model.study import Factor
from teiten.model.text import Language
from teiten.model.trial import Event
from teiten.model.units import GIB, Bytes
from teiten.report.blocks import Gallery, Items
from teiten.report.tables import Table
from teiten.report.view.kit import Kit
from tests.fixtures.invented_analysis import invented_analysis

SPEED = {"sequential_read": 8e6, "sequential_write": 7e6, "random_reads": 400.0,
         "random_writes": 390.0, "fsyncs": 120.0, "tool": "teiten"}  # fmt: skip
PLACE = {"folder": "/mnt/x", "device": "/dev/x", "devices": ["x", "y"], "file_system": "ext4",
         "kind": "virtual"}  # fmt: skip


def placed(one: TrialView, contrast: str) -> TrialView:
    """Sides become placements; the slow storage is at its limit where the old side ran."""
    old = dict(one.levels)[contrast] == "17"
    busy = {"slow": 395.0 if old else 1.0, "fast": 1.0 if old else 50.0}
    numbers = {
        storage_metric(name, column): reads if column == "reads_per_second" else 0.01
        for name, reads in busy.items()
        for column in COLUMNS
    }
    others = tuple(pair for pair in one.levels if pair[0] != contrast)
    level = ("placement", "all-slow" if old else "all-fast")
    return replace(one, levels=(level, *others), metrics={**one.metrics, **numbers})


LIMITED = Emulation(Bytes(GIB), read_iops=400.0)


def analysis(emulation: Emulation = LIMITED) -> CampaignAnalysis:
    plain = invented_analysis()
    study = replace(
        plain.plan.study,
        contrast="placement",
        factors=(
            Factor("placement", ("all-slow", "all-fast")),
            *(factor for factor in plain.plan.study.factors if factor.name != "server"),
        ),
        storage=(
            StorageClass("fast", "/mnt/fast"),
            StorageClass("slow", "", emulation),
        ),
    )
    plan = replace(plain.plan, study=study)
    trials = tuple(placed(trial, plain.plan.study.contrast) for trial in plain.trials)
    names = [workload.name for workload in study.workloads]
    found = PgbenchFound(placements=found_in(plan, trials, names))
    both = {name: {**PLACE, **SPEED} for name in ("fast", "slow")}
    event = Event(at=0.0, kind="storage", trial=None, attempt=None, detail={"storages": both})
    return replace(plain, plan=plan, trials=trials, results={NAME: found}, events=(event,))


@pytest.mark.parametrize(
    ("language", "emulated", "limited"),
    [
        ("en", "slow (emulated)", "consistent with a limit by the storage slow (emulated)"),
        ("ja", "slow（エミュレート）", "ストレージslow（エミュレート）による制限と矛盾しない"),
    ],
)
def test_the_limit_is_named_and_what_is_emulated_is_called_so(
    language: Language, emulated: str, limited: str
) -> None:
    kit = Kit(analysis(), language)
    workload = kit.study.workloads[0].name
    blocks = list(placements(kit, "x", workload))
    sentences = [text for block in blocks if isinstance(block, Items) for text in block.items]
    slow, fast = map(kit.names.any_level, ("all-slow", "all-fast"))
    assert any(text.startswith(f"{slow}: {limited}") for text in sentences)
    assert not any(text.startswith(f"{fast}: ") and limited in text for text in sentences)
    tables = [block for block in blocks if isinstance(block, Table)]
    assert tables[0].name == "storage-speeds"
    shown = [cell.text for table in tables for row in table.rows for cell in row]
    heads = [column.title for table in tables for column in table.columns]
    assert emulated in shown
    assert any(f"x{kit.t('list.separator')}y" in text for text in shown)
    assert not [text for text in (*shown, *heads) if text == "slow"]
    gallery = next(block for block in blocks if isinstance(block, Gallery))
    (chart,) = gallery.charts
    assert set(chart.rows["level"]) == {slow, fast}
    assert "mulat" in chart.note or "エミュレート" in chart.note
    assert kit.names.factor("placement") != kit.t("factor.placement")
    assert emulated.removeprefix("slow") in kit.names.factor("placement")


def test_a_storage_without_a_limit_is_at_no_share_of_one() -> None:
    """An emulated one too: its size alone may be given."""
    kit = Kit(analysis(Emulation(Bytes(GIB))), "en")
    blocks = list(placements(kit, "x", kit.study.workloads[0].name))
    sentences = [text for block in blocks if isinstance(block, Items) for text in block.items]
    assert any("slow busy 1" in text for text in sentences)
    assert not any("of its limit" in text for text in sentences)
    *_, devices = (block for block in blocks if isinstance(block, Table))
    assert {row[-1].text for row in devices.rows} == {""}


def transfers(analysis: CampaignAnalysis, placed: PgbenchFound) -> list[list[str]]:
    """The rows of the first table of transfers."""
    kit = Kit(replace(analysis, results={NAME: placed}), "en")
    blocks = placements(kit, "x", kit.study.workloads[0].name)
    tables = (block for block in blocks if isinstance(block, Table))
    table = next(table for table in tables if table.name.endswith("-transfers"))
    assert {len(row) for row in table.rows} == {len(table.columns)}
    return [[cell.text for cell in row] for row in table.rows]


def test_what_is_not_known_of_a_storage_leaves_its_columns_empty() -> None:
    """And does not shift the others there; nor has it a total."""
    whole = analysis()
    results = pgbench_found(whole)
    slow, fast = results.placements[0].rows
    rows = (replace(slow, storages=slow.storages[1:]), fast)
    partly = replace(results, placements=(replace(results.placements[0], rows=rows),))
    (_, _, *of_slow), (_, _, *of_fast) = transfers(whole, partly)
    assert of_slow == ["—", "—", "0", "0", "—", "—"]
    assert of_fast[-1] == "0", "without a ratio"
    assert transfers(whole, results)[1][-1] == "0 (1.00)"


def test_ratios_are_to_the_first_placement_or_to_none() -> None:
    """Of which no trial counted: another is not taken for it."""
    whole = analysis()
    results = pgbench_found(whole)
    fast = replace(results.placements[0].rows[1], relative=None)
    alone = replace(results.placements[0], rows=(fast,))
    (row,) = transfers(whole, replace(results, placements=(alone,)))
    assert row[-2:] == ["0", "0"]


def test_a_study_without_placements_shows_none() -> None:
    kit = Kit(invented_analysis(), "en")
    assert list(placements(kit, "x", kit.study.workloads[0].name)) == []
