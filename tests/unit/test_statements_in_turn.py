"""Statements that take turns between servers that are up for all statements of a block."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from teiten.analysis.claims.outcomes import standing_of
from teiten.analysis.model.claims import ClaimStanding
from teiten.errors import WayError
from teiten.model.plan import Plan
from teiten.model.starts import last_of_their_start, pairs_of_a_start, started_before
from tests.fixtures.planned import planned


def olap(*overrides: str, **flags: object) -> Plan:
    return planned(*overrides, study="partition-olap", **flags)  # type: ignore[arg-type]


def test_every_block_is_a_start_of_all_servers_and_every_query_runs_on_both() -> None:
    plan = olap()
    starts = defaultdict(set)
    for trial in plan.trials:
        starts[trial.restart].add(trial.block)
    assert list(starts) == [1, 2, 3, 4, 5, 6]
    assert all(len(blocks) == 1 for blocks in starts.values())
    for first, second in zip(plan.trials[::2], plan.trials[1::2], strict=True):
        assert plan.pair_of(first) == (first, second)
        assert first.copy != second.copy and sorted(first.turns + second.turns) == [1, 2]
    assert len(started_before(plan)) == 6 * 2 * 12
    assert len(last_of_their_start(plan)) == 6 * 2
    assert pairs_of_a_start(plan) == 1, "blocks are the numbers that stand for themselves"


def test_another_context_is_another_start() -> None:
    """Servers that are up have the settings of one level."""
    plan = olap(servers=["17,18"])
    assert {trial.cell.level("server") for trial in plan.trials} == {"17", "18"}
    assert len({trial.restart for trial in plan.trials}) == 6 * 2, "one of each in a block"
    for trial in plan.trials:
        same = [one for one in plan.trials if one.restart == trial.restart]
        assert len({one.cell.level("server") for one in same}) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (("changes_data=yes",), "changes its data"),
        (("caches=drop",), "cold caches"),
    ],
)
def test_what_needs_servers_of_its_own_is_refused(changes: tuple[str, ...], said: str) -> None:
    with pytest.raises(WayError, match=said) as caught:
        olap(*changes)
    assert "classic" in (caught.value.hint or "")


def test_transactions_are_no_statements() -> None:
    with pytest.raises(WayError, match="statements can take turns, and read is a load of pgbench"):
        planned("way=statements", "workloads=read", "clients=1")


def test_a_quick_look_has_verdicts_and_judges_no_published_finding() -> None:
    study = olap().study
    assert study.conclusive
    standing, reason = standing_of((), withheld=study.withholds_findings)
    assert standing is ClaimStanding.INCONCLUSIVE and reason is not None
    assert reason.code == "quick-look", "it supports conclusions"
    assert replace(study, conclusive=False).withholds_findings == "profile"
    assert not replace(study, replicates=True).withholds_findings
