"""A study to a plan: cells, templates, settings, needs and shortfalls."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from teiten.errors import MachineError, UsageError
from teiten.kinds.pgbench.model import clients_of
from teiten.model.settings import size_setting
from teiten.model.study import CachePolicy, QueryMode
from teiten.model.units import GIB, MIB, Bytes
from teiten.plan.checks import check
from teiten.plan.dry import actions
from teiten.plan.estimate import estimate
from teiten.plan.expand import expand
from teiten.plan.sizing import size
from teiten.study.load import load_study
from tests.fixtures.planned import FOLDER, PGBENCH, fingerprint, planned
from tests.fixtures.synthetic_plan import HOST, make_installation


def test_quick_has_60_trials_of_12_cells() -> None:
    plan = planned()
    assert len(plan.trials) == 60
    assert [trial.number for trial in plan.trials] == list(range(1, 61))
    assert Counter(Counter(trial.cell for trial in plan.trials).values()) == {5: 12}
    assert {template.fingerprint for template in plan.templates} == {
        "17.4-plain-10-100",
        "17.4-plain-10-80",
        "18.4-plain-10-100",
        "18.4-plain-10-80",
    }
    assert [one.threads for one in map(clients_of, plan.trials) if one.clients == 4] == [2] * 20
    assert {one.threads for one in map(clients_of, plan.trials) if one.clients == 1} == {1}


def test_published_has_more_clients_for_update() -> None:
    plan = planned(profile="published")
    counts = Counter(trial.cell.workload for trial in plan.trials)
    assert counts == {"read": 2 * 8 * 6, "update": 2 * 10 * 6}
    assert (
        max(clients_of(trial).clients for trial in plan.trials if trial.cell.workload == "read")
        == 192
    )


def test_old_and_new_run_next_to_each_other_with_one_seed() -> None:
    trials = planned().trials
    for first, second in zip(trials[::2], trials[1::2], strict=True):
        assert first.cell.context("server") == second.cell.context("server")
        assert first.cell.workload == second.cell.workload
        assert {first.cell.level("server"), second.cell.level("server")} == {"17", "18"}
        assert first.seed == second.seed
        assert first.block == second.block


def test_a_seed_gives_the_same_plan_again_and_another_seed_another_order() -> None:
    assert planned(seed=5) == planned(seed=5)
    assert [trial.cell for trial in planned(seed=5).trials] != [
        trial.cell for trial in planned(seed=6).trials
    ]


def test_every_factor_reaches_the_trial() -> None:
    plan = planned(
        "checksums=off,on", "query_mode=simple,prepared", "guc:work_mem=4MB,64MB", "workloads=read"
    )
    assert len(plan.trials) == 2 * 3 * 2 * 2 * 2 * 5
    for trial in plan.trials:
        assert trial.template.checksums is (trial.cell.level("checksums") == "on")
        assert clients_of(trial).query_mode is QueryMode(trial.cell.level("query_mode") or "")
        assert dict(trial.settings)["work_mem"] == trial.cell.level("guc:work_mem")
        assert trial.template.installation.version.major == trial.cell.level("server")
    assert len(plan.templates) == 4


def test_a_contrast_of_settings_shares_the_template() -> None:
    plan = planned(
        "contrast=guc:work_mem", "guc:work_mem=4MB,64MB", "workloads=read", servers=["18"]
    )
    assert len(plan.templates) == 1
    first, second = plan.trials[:2]
    assert first.cell.context("guc:work_mem") == second.cell.context("guc:work_mem")


def test_two_names_of_one_installation_are_refused_unless_both_are_aliases() -> None:
    study = size(load_study("observe", profile="quick", servers=["18", "18.4"]), HOST)
    same = make_installation("18.4")
    with pytest.raises(UsageError) as caught:
        expand(study, [("18", same), ("18.4", same)], PGBENCH, seed=1, fingerprint=fingerprint)
    assert caught.value.message == "the servers 18 and 18.4 are the same installation, 18.4"
    aliased = size(
        load_study(
            "observe",
            profile="quick",
            servers=["a", "b"],
            overrides=["servers.a=18", "servers.b=18"],
        ),
        HOST,
    )
    plan = expand(aliased, [("a", same), ("b", same)], PGBENCH, seed=1, fingerprint=fingerprint)
    assert len(plan.templates) == 2, "one for each fillfactor"


def test_quick_takes_less_than_five_minutes() -> None:
    assert planned("way=pairs").needs.seconds < 240, "the demo builds the native part as well"
    assert planned().needs.seconds < 330, "where pairs cannot be had"


@pytest.mark.parametrize("cores", [2, 4, 8, 32])
@pytest.mark.parametrize("memory", [4, 16, 128])
def test_standard_takes_about_an_hour(cores: int, memory: int) -> None:
    facts = replace(
        HOST,
        cpu=replace(HOST.cpu, logical=cores),
        memory=replace(HOST.memory, total=Bytes(memory * GIB), available=Bytes(memory * GIB)),
    )
    plan = planned(profile="standard", facts=facts)
    assert 45 * 60 < plan.needs.seconds < 75 * 60
    check(plan, facts, FOLDER)


def test_templates_that_exist_cost_nothing() -> None:
    plan = planned("scale=100")
    ready = {template.fingerprint for template in plan.templates}
    needs = estimate(plan.study, plan.trials, plan.templates, ready)
    built = sum(template.expected_bytes for template in plan.templates)
    assert plan.needs.disk - needs.disk == pytest.approx(built * 1.05, rel=1e-6)
    assert plan.needs.seconds - needs.seconds > 4 * 20
    assert needs.measured_seconds == plan.needs.measured_seconds


def test_a_second_node_costs_what_the_first_does() -> None:
    """A cluster of its own, shared buffers, a start; its template is there once."""
    plan = planned("scale=100", "workloads=read")
    twice = [replace(trial, templates=trial.templates * 2) for trial in plan.trials]
    needs = estimate(plan.study, twice, plan.templates)
    cluster = plan.templates[0].expected_bytes
    assert needs.disk - plan.needs.disk == pytest.approx(2 * cluster * 1.05, rel=0.01), "two sides"
    assert needs.memory > plan.needs.memory + size_setting(
        dict(plan.trials[0].settings), "shared_buffers"
    )
    assert needs.seconds > plan.needs.seconds + 0.6 * len(twice)
    assert needs.measured_seconds == plan.needs.measured_seconds


def test_clusters_are_told_apart_by_which_of_their_template_they_are() -> None:
    plan = planned()
    one, other = plan.templates[0], plan.templates[1]
    trial = replace(plan.trials[0], templates=(one, other, one), copy=1)
    keys = [trial.cluster_of(node) for node, _ in trial.nodes]
    assert keys == [
        (one.fingerprint, 1, 1),
        (other.fingerprint, 1, 1),
        (one.fingerprint, 1, 2),
    ]
    assert replace(trial, templates=(one,)).kind != trial.kind


def test_a_disk_that_is_too_small_is_named_with_the_shortfall() -> None:
    plan = planned("scale=100")
    facts = replace(HOST, disk=replace(HOST.disk, free=Bytes(2 * GIB)))
    with pytest.raises(MachineError) as caught:
        check(plan, facts, FOLDER)
    needed = plan.needs.disk / GIB
    assert caught.value.message == (
        f"the plan needs {needed:.1f} GiB of disk in /var/lib/teiten, 2.0 GiB are free:"
        f" {needed - 2:.1f} GiB short"
    )
    assert caught.value.hint == (
        "a smaller scale than 100 (--set scale=…); teiten clean, or --workdir on another disk"
    )
    assert caught.value.exit_code == 3


def test_published_is_refused_with_both_shortfalls() -> None:
    plan = planned(profile="published")
    with pytest.raises(MachineError) as caught:
        check(plan, HOST, FOLDER)
    assert "GiB of disk in /var/lib/teiten" in caught.value.message
    assert (
        f"the plan needs {plan.needs.memory / GIB:.1f} GiB of memory (40.0 GiB of shared buffers,"
        f" 432 clients), 6.0 GiB are available: {plan.needs.memory / GIB - 6:.1f} GiB short"
    ) in caught.value.message
    assert caught.value.hint.startswith("--profile standard, or a smaller scale than 2000")


def test_published_runs_on_a_machine_of_the_reports_size() -> None:
    facts = replace(
        HOST,
        memory=replace(HOST.memory, available=Bytes(120 * GIB)),
        disk=replace(HOST.disk, free=Bytes(400 * GIB)),
    )
    check(planned(profile="published", facts=facts), facts, FOLDER)


@pytest.mark.parametrize(
    ("overrides", "gucs", "message"),
    [
        (
            ["clients=495"],
            [],
            "clients=495 needs max_connections of at least 505 (10 are kept for superusers and the"
            " sampler); it is 500",
        ),
        (["clients=91"], ["max_connections=100"], "clients=91 needs max_connections of at least"),
        (
            ["clients=90", "guc:max_connections=500,99"],
            [],
            "clients=90 needs max_connections of at least 100",
        ),
    ],
)
def test_more_clients_than_connections(overrides: list[str], gucs: list[str], message: str) -> None:
    plan = planned(*overrides, gucs=gucs)
    with pytest.raises(UsageError) as caught:
        check(plan, HOST, FOLDER)
    assert caught.value.message.startswith(message)
    assert caught.value.hint.startswith("--guc max_connections=")


def test_as_many_clients_as_connections_allow() -> None:
    facts = replace(HOST, memory=replace(HOST.memory, available=Bytes(60 * GIB)))
    check(planned("clients=490"), facts, FOLDER)
    check(planned("clients=90", gucs=["max_connections=100"]), facts, FOLDER)


def test_sizes_of_settings_are_read_as_postgresql_reads_them() -> None:
    assert size_setting({"shared_buffers": "16384"}, "shared_buffers") == 128 * MIB
    assert size_setting({"shared_buffers": "1.5GB"}, "shared_buffers") == 1536 * MIB
    assert size_setting({"max_wal_size": "1024"}, "max_wal_size") == GIB
    assert size_setting({}, "shared_buffers") == 128 * MIB
    assert size_setting({"shared_buffers": "much"}, "shared_buffers") == 128 * MIB


def test_what_is_done_to_the_machine_is_said() -> None:
    plan = planned()
    ready = {plan.templates[0].fingerprint}
    said = "\n".join(actions(plan, HOST, folder=FOLDER, user="postgres", ready=ready))
    assert said.count("make a template by initdb and pgbench -i in /var/lib/teiten/templates") == 3
    assert said.count("use the template that is there") == 1
    assert "before every trial of update" in said
    assert "as user postgres, 60 times" in said
    assert "no network port is opened" in said
    assert "leave the page cache alone" in said


def test_dropping_the_page_cache_is_said_where_the_machine_allows_it() -> None:
    plan = planned("caches=drop")
    assert plan.study.measure.caches is CachePolicy.DROP
    allowed = replace(HOST, can_drop_page_cache=True)
    said = actions(plan, allowed, folder=FOLDER, user="postgres")
    assert "drop the whole page cache of the system before each start of a server" in said
    said = actions(plan, HOST, folder=FOLDER, user="postgres")
    assert "take the cluster's own files out of the page cache before each start" in said
