"""Statements that take turns between servers that are up for all statements of a block."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from teiten.analysis.across.fingerprint import conditions_fingerprint
from teiten.analysis.claims.outcomes import standing_of
from teiten.analysis.model.claims import ClaimStanding
from teiten.cli.plan.text import loaded_text
from teiten.datasets.plan import data_bytes
from teiten.errors import WayError
from teiten.kinds.contract import plan_of
from teiten.model.plan import Plan, of_each_kind
from teiten.model.starts import last_of_their_start, start_of, started_before
from teiten.plan.cells import data_sets
from teiten.plan.durations import block_seconds
from teiten.plan.estimate import (
    END_SECONDS,
    START_SECONDS,
    STATEMENT_SECONDS,
    estimate,
    load_seconds,
    prewarm_seconds,
)
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
    assert plan.pairs_of_a_start == 1, "blocks are the numbers that stand for themselves"


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


WORKERS = "max_parallel_workers_per_gather"
BY_STATEMENTS = ("way=statements", "blocks=2")


def parallel(*overrides: str, **flags: object) -> Plan:
    given = (*BY_STATEMENTS, *overrides)
    return planned(*given, study="parallel", **flags)  # type: ignore[arg-type]


def test_levels_that_a_session_sets_share_a_server_in_each_block() -> None:
    plan = parallel(by_session=[WORKERS, "jit"])
    measure = plan.study.measure
    assert measure.by_session == (WORKERS,)
    for trial in plan.trials:
        pair = plan.pair_of(trial)
        assert len(pair) == (2 if trial.cell.workload == "ssb" else 5)
        assert {one.copy for one in pair} == {1}, "no second copy of the data"
        assert len({measure.of_server(one.settings) for one in pair}) == 1
        assert measure.of_session(trial.settings) == (
            (WORKERS, trial.cell.level(f"guc:{WORKERS}")),
        )
        assert plan.starter_of(trial) is pair[0]
    starts = {start_of(trial) for trial in plan.trials}
    assert len(starts) == 2 * 2, "one of each workload in a block"
    ending = last_of_their_start(plan)
    assert len(ending) == len(starts)
    assert all(plan.starter_of(trial) is trial for trial in plan.trials if trial.number in ending)
    assert len(of_each_kind(measure, plan.trials)) == 2, "a rehearsal for each server"


def test_one_server_takes_the_memory_the_disk_and_the_starts_of_one() -> None:
    apart, together = parallel(), parallel(by_session=[WORKERS])
    assert apart.study.measure.by_session == ()
    assert {trial.copy for trial in apart.trials} == {1, 2, 3, 4, 5}
    assert together.needs.memory < apart.needs.memory / 2
    assert together.needs.disk < apart.needs.disk
    assert together.needs.seconds < apart.needs.seconds
    most = max(
        (trial for trial in together.trials), key=lambda one: plan_of("queries").processes(one)
    )
    serial = [trial for trial in together.trials if trial.cell.level(f"guc:{WORKERS}") == "0"]
    of_most, of_serial = (
        estimate(together.study, trials, together.templates).memory for trials in ([most], serial)
    )
    assert together.needs.memory == of_most > of_serial, "the level with the most workers"
    assert conditions_fingerprint(apart) != conditions_fingerprint(together)


@pytest.mark.parametrize(
    ("contrast", "levels", "by_session", "shared"),
    [
        ("guc:work_mem", "4MB,64MB", ["work_mem"], True),
        ("guc:work_mem", "4MB,64MB", [], False),
        ("guc:DateStyle", "ISO,German", ["datestyle"], True),
        ("guc:session_preload_libraries", "a,b", ["session_preload_libraries"], False),
        ("server", "17,18", ["work_mem"], False),
    ],
)
def test_a_server_is_shared_where_sessions_set_all_that_differs(
    contrast: str, levels: str, by_session: list[str], shared: bool
) -> None:
    of_contrast = (f"contrast={contrast}", f"{contrast}={levels}", f"guc:{WORKERS}=2")
    plan = parallel(*of_contrast, "workloads=ssb", by_session=by_session)
    assert bool(plan.study.measure.by_session) == shared
    text = loaded_text(plan)
    if shared:
        assert "one server, whose sessions SET" in text
    elif contrast != "server":
        assert "a server for each level, because a session cannot set it" in text
    else:
        assert "SET" not in text and "a server for each level" not in text


def test_a_mixed_set_of_parameters_has_a_server_for_each_level() -> None:
    scans = {"enable_seqscan", "enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"}
    given = ("way=statements", "contrast=parameters", "layout=one-table")
    plan = planned(*given, study="log-searches", by_session=scans)
    assert set(plan.study.measure.by_session) <= scans
    fewer = planned(*given, study="log-searches", by_session=scans - {"enable_seqscan"})
    assert plan.study.measure.by_session and not fewer.study.measure.by_session
    assert "all of these" in loaded_text(fewer)


def test_other_ways_have_a_server_for_each_level() -> None:
    plan = planned("way=classic", study="parallel", by_session=[WORKERS])
    assert plan.study.measure.by_session == ()
    assert "a server for each level" not in loaded_text(plan)


def test_a_block_is_estimated_by_the_starts_that_it_has() -> None:
    """So that a budget permits the blocks that fit into it."""
    study = olap().study
    size = max(map(data_bytes, data_sets(study, study.workloads[0])))
    load = load_seconds(study, study.workloads[0])
    starts = 2 * (START_SECONDS + prewarm_seconds(size) + END_SECONDS + load)
    assert block_seconds(study) == pytest.approx(starts + 2 * 12 * (STATEMENT_SECONDS + load))
