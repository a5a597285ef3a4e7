"""What the study index-only says, and the checks of numbers that may be zero."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teiten.analysis.claims.checks import check_of, counted, estimated
from teiten.analysis.claims.numbers import share_of_waiting
from teiten.analysis.model.claims import Check, ClaimStanding
from teiten.analysis.model.discussion import WAL_ROW, PerTransaction
from teiten.analysis.model.findings import CampaignAnalysis, SeriesView
from teiten.claims.curves import ClaimCurve, CurveGround
from teiten.claims.predicates.amount import AMOUNT, AmountOfMetric
from teiten.datasets.pgbench.model import pgbench_data
from teiten.errors import TeitenError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.kinds.pgbench.load.trial import lookups_since
from teiten.kinds.pgbench.metrics import HEAP_FETCHES, INDEX_LOOKUPS
from teiten.kinds.pgbench.present.groups import readers_wrote
from teiten.model.units import Share
from teiten.report.claim_words import check_text
from teiten.report.texts import texts
from teiten.report.view.kit import Kit
from teiten.study.load import load_study
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.synthetic_plan import make_installation


def standing(predicate: AmountOfMetric, *values: float) -> ClaimStanding:
    curve = ClaimCurve("a", {4.0: dict(enumerate(values))})
    (asked,) = predicate.asked([curve], CurveGround(2, 0.02))
    return check_of(asked, 0.05, counted(estimated)).standing


def test_an_amount_of_zero_is_below_a_bound_and_not_above() -> None:
    none, some = AmountOfMetric(high=1.0, floor=0.01), AmountOfMetric(low=50.0, floor=0.01)
    assert standing(none, 0.0, 0.0, 0.0) is ClaimStanding.REPRODUCED
    assert standing(none, 0.0, 0.004, 0.02) is ClaimStanding.REPRODUCED
    assert standing(some, 0.0, 0.0, 0.0) is ClaimStanding.CONTRADICTED
    assert standing(some, 4000.0, 4100.0, 4050.0) is ClaimStanding.REPRODUCED
    assert standing(some, 10.0, 4000.0) is ClaimStanding.INCONCLUSIVE
    assert standing(none, 4000.0, 4100.0, 4050.0) is ClaimStanding.CONTRADICTED


def test_visits_are_counted_for_each_lookup() -> None:
    found = lookups_since((1000.0, 500.0), (3000.0, 1500.0))
    assert found == {INDEX_LOOKUPS.name: 2000.0, HEAP_FETCHES.name: 0.5}
    assert lookups_since((3.0, 2.0), (3.0, 2.0)) == {}


def test_each_layout_says_its_share_and_is_a_template_of_its_own() -> None:
    (workload,) = load_study("index-only").workloads
    shares = {layout.name: layout.visible for layout in workload.layouts}
    assert shares == {
        **{f"visible-{share}": share / 100 for share in (100, 75, 50, 25, 0)},
        "vacuumed": 1.0,
    }
    assert [layout.name for layout in workload.layouts if layout.all_visible] == [
        "visible-100",
        "vacuumed",
    ]
    server = make_installation("18.4")
    prints = {
        template_fingerprint(server, False, pgbench_data(1, layout=layout))
        for layout in workload.layouts
    }
    assert len(prints) == len(workload.layouts)
    changed = replace(workload.layout("visible-50"), visible=Share(0.6))
    assert template_fingerprint(server, False, pgbench_data(1, layout=changed)) not in prints


@pytest.mark.parametrize("share", ["150%", "-1%", "half"])
def test_a_share_that_is_none_is_refused(share: str, tmp_path: Path) -> None:
    study = tmp_path / "mine.toml"
    text = (
        '[study]\nname = "mine"\ntitle = "M"\nquestion = "Q?"\ncontrast = "layout"\n'
        '[factors]\nserver = ["18"]\nlayout = ["a", "b"]\nclients = [1]\n'
        '[[workloads]]\nname = "w"\ntitle = "W"\nscript = "select-only"\nscale = 1\n'
        "changes_data = true\n[workloads.data.layouts]\na = []\n"
        'b = {{ scripts = ["SELECT 1;"], all_visible = "{share}" }}\n'
        '[measure]\nduration = "1s"\n'
    )
    study.write_text(text.format(share="40%"), encoding="utf-8")
    assert load_study(str(study)).workloads[0].layout("b").visible == 0.4
    study.write_text(text.format(share=share), encoding="utf-8")
    with pytest.raises(TeitenError, match=r"all_visible"):
        load_study(str(study))


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("wal_bytes_per_transaction", "WAL bytes per transaction, "),
        ("wait_share:wal", "share of waits with “wal” in their names, "),
        ("storage:slow:busy_share", "share of time in which the storage slow was busy, "),
        ("", ""),
    ],
)
def test_an_amount_is_told_by_its_name_however_large(metric: str, said: str) -> None:
    check = Check(
        AMOUNT, ("9.6",), (4.0,), 3741.0, 3700.0, 3783.0, 50.0, None, 6, ClaimStanding.REPRODUCED,
        metric=metric, confidence=Share(0.95),
    )  # fmt: skip
    text = check_text(texts("en"), check, str)
    assert text == f"{said}9.6, 4 clients: 3,741 (95\N{NO-BREAK SPACE}% interval 3,700 to 3,783)"


def test_waits_for_wal_are_told_by_their_word() -> None:
    columns = {
        "CPU": np.array([1.0, np.nan]),
        "LWLock:WALWrite": np.array([2.0, 2.0]),
        "IO:WalSync": np.array([1.0, 1.0]),
    }
    series = SeriesView("waits", np.array([1.0, 2.0]), columns, 1)
    trial = replace(invented_analysis(seconds=2).trials[0], series=(series,))
    assert share_of_waiting(trial, "wal") == pytest.approx(0.75)
    assert np.isnan(share_of_waiting(replace(trial, series=()), "wal"))


@pytest.mark.parametrize(("new", "said"), [(3850.0, "wrote 3.76 KiB of WAL in"), (0.0, "")])
def test_the_answer_says_whether_readers_write_wal(new: float, said: str) -> None:
    """Behind the verdict on lookups: that is what the study asks."""
    invented = invented_analysis(seconds=2)
    tables = tuple(writing(table, new, certain=True) for table in invented.per_transaction)
    looked = replace(looked_up(invented), per_transaction=tables)
    of_lookups = wrote(looked)
    of_others = wrote(replace(looked, trials=invented.trials))
    assert said in of_lookups and bool(of_lookups) is bool(said) and of_others == ""


def test_a_difference_at_one_of_several_levels_is_told_with_its_level() -> None:
    """Not as if it held at all of them."""
    invented = looked_up(invented_analysis(seconds=2))
    at = (("clients", "16"),)
    tables = tuple(
        writing(table, 3850.0, certain=table.context == at) for table in invented.per_transaction
    )
    assert "At 16\u00a0clients, where" in wrote(replace(invented, per_transaction=tables))


def looked_up(analysis: CampaignAnalysis) -> CampaignAnalysis:
    """The campaign as one whose visits to the table were counted."""
    trials = tuple(
        replace(trial, metrics={**trial.metrics, HEAP_FETCHES.name: 1.0})
        for trial in analysis.trials
    )
    return replace(analysis, trials=trials)


def writing(table: PerTransaction, wal: float, *, certain: bool) -> PerTransaction:
    """The WAL of each transaction alone, of which the new side alone writes some."""
    low = 1.0 if certain else -1.0
    rows = (
        replace(row, old=0.0, new=wal, change=replace(row.change, low=low, high=2.0))
        for row in table.rows
        if row.name == WAL_ROW
    )
    return replace(table, rows=tuple(rows))


def wrote(analysis: CampaignAnalysis) -> str:
    kit = Kit(analysis, "en")
    contrast = next(known for known in analysis.contrasts if known.workload == "update")
    return readers_wrote(kit.t, kit.names, analysis, contrast)
