"""Tables spread over nodes, before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.datasets.pgbench.model import PgbenchTables
from teiten.datasets.plan import data_bytes
from teiten.engines.registry import engine_of, names
from teiten.errors import TeitenError, UsageError
from teiten.execute.client.address import Address
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.factors.engine import FACTOR as ENGINE
from teiten.factors.entry import FACTOR as ENTRY
from teiten.model.distribution import (
    NOTHING,
    ClientEntry,
    CoordinatorRows,
    Distribution,
    PartMethod,
    TablePart,
)
from teiten.model.facts import HostFacts
from teiten.model.installation import Installation, Version
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.units import MIB
from teiten.plan.expand import expand
from teiten.plan.sites.remote import check_remote
from teiten.plan.sizing import size
from teiten.study.load import load_study
from tests.fixtures.planned import PGBENCH
from tests.fixtures.synthetic_plan import HOST, make_installation


def installation(version: str = "18.4", *, fdw: bool = True) -> Installation:
    found = make_installation(version)
    return replace(found, contrib=found.contrib | ({"postgres_fdw"} if fdw else set()))


def planned(*overrides: str, server: Installation | None = None, facts: HostFacts = HOST) -> Plan:
    loaded = load_study("scale-out", profile="quick", overrides=overrides)
    servers = [("18", server or installation())]
    return expand(size(loaded, facts), servers, PGBENCH, seed=1, fingerprint=template_fingerprint)


def trial_of(plan: Plan, workload: str, nodes: str, scenario: str) -> PlannedTrial:
    return next(
        trial
        for trial in plan.trials
        if trial.cell.workload == workload
        and trial.cell.level("nodes") == nodes
        and trial.cell.level("scenario") == scenario
    )


@pytest.mark.parametrize(
    ("scenario", "nodes", "scale"),
    [
        *(("throughput", nodes, 32) for nodes in (0, 1, 4)),
        *(("size", nodes, scale) for nodes, scale in ((0, 8), (1, 8), (2, 16), (4, 32))),
    ],
)
def test_what_each_server_holds(scenario: str, nodes: int, scale: int) -> None:
    trial = trial_of(planned(), "update", str(nodes), scenario)
    sets = [template.data for template in trial.templates]
    if nodes == 0:
        assert [one.scale for one in sets] == [scale]
        assert trial.distribution is None and sets[0].options_as(PgbenchTables).part is None
        return
    assert trial.distribution == Distribution("postgres_fdw", nodes, scale=scale)
    assert sets[0].options_as(PgbenchTables).part == NOTHING
    assert [(one.scale, one.options_as(PgbenchTables).part) for one in sets[1:]] == [
        (scale, TablePart(PartMethod.HASH, number, nodes)) for number in range(1, nodes + 1)
    ]
    whole = trial_of(planned(), "update", "0", scenario).template.data
    of_nodes = sum(data_bytes(one) for one in sets[1:])
    assert of_nodes == pytest.approx(data_bytes(replace(whole, scale=scale)), rel=0.01)


def test_templates_are_shared_where_they_hold_the_same() -> None:
    """One empty database for all coordinators; four nodes hold the same in both scenarios."""
    plan = planned()
    empty = {trial.templates[0].fingerprint for trial in plan.trials if trial.distribution}
    assert len(empty) == 1
    assert (
        trial_of(plan, "read", "4", "size").templates
        == trial_of(plan, "update", "4", "throughput").templates
    )
    # fixed: plain, 1 + 2 + 4 parts; growing: plain, 1 + 2 parts; the coordinator
    assert len(plan.templates) == 1 + 7 + 1 + 3 + 1


def test_clients_for_each_node() -> None:
    clients = {
        (trial.cell.level("nodes"), trial.load.connections)
        for trial in planned("clients_per_node=true", "clients=3").trials
    }
    assert clients == {("0", 3), ("1", 3), ("2", 6), ("4", 12)}
    assert {trial.load.connections for trial in planned("clients=3").trials} == {3}


def test_a_server_without_the_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="no extension postgres_fdw") as refused:
        planned(server=installation(fdw=False))
    assert "contrib" in refused.value.hint
    with pytest.raises(UsageError, match="needs PostgreSQL 11 or later"):
        planned(server=installation("10.23"))


def test_nodes_of_different_versions_are_refused() -> None:
    trial = trial_of(planned(), "read", "2", "size")
    other = replace(trial.templates[2], installation=installation("17.10"))
    mixed = replace(trial, templates=(*trial.templates[:2], other))
    with pytest.raises(UsageError, match=r"different versions: 17\.10, 18\.4"):
        ENGINE.check_trial(mixed)


def test_too_few_connections_for_the_clients_are_refused() -> None:
    plan = planned("settings.max_connections=50", "clients_per_node=true", "clients=20")
    with pytest.raises(UsageError, match="each node needs 90 for 80 clients"):
        ENGINE.check_plan(plan, HOST)
    ENGINE.check_plan(planned(), HOST)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("nodes=0,-1", "must be a number of nodes"),
        ("nodes=0,65", "up to 64"),
        ("scenario=large", "must be one of throughput, size"),
        ("engine=fdw", "must be one of"),
        ("entry=node", "must be one of coordinator, all"),
        ("coordinator=all", "must be one of apart, node"),
        ("coordinator=node", "with the engine postgres_fdw the coordinator is no node"),
    ],
)
def test_levels_that_do_not_exist(override: str, message: str) -> None:
    with pytest.raises(TeitenError, match=message):
        planned(override)


def test_four_nodes_of_quick_hold_the_tables_in_their_memory_and_one_does_not() -> None:
    plan = planned()
    memory = plan.study.nodes.memory if plan.study.nodes is not None else None
    assert memory is not None
    tables = {
        nodes: max(int(data_bytes(template.data)) for template in trial.templates)
        for nodes in ("1", "2", "4")
        for trial in [trial_of(plan, "read", nodes, "throughput")]
    }
    buffers = 64 * MIB  # in which blocks are that the page cache has too
    assert tables["4"] + buffers < memory * 0.9
    assert tables["1"] > 1.5 * memory


def test_clients_enter_through_the_coordinator_or_all_nodes() -> None:
    plan = planned("entry=coordinator,all", "nodes=0,2")
    ENTRY.check_plan(plan, HOST)
    entries = {
        (trial.cell.level("nodes"), trial.cell.level("entry")): trial.distribution
        for trial in plan.trials
    }
    through_one = entries["2", "coordinator"]
    assert through_one is not None and through_one.entry is ClientEntry.COORDINATOR
    assert entries["2", "all"] == replace(through_one, entry=ClientEntry.ALL)
    assert entries["0", "all"] is None
    old = replace(plan.pgbench, version=Version.parse("15.18"))
    with pytest.raises(UsageError, match="16 or later"):
        ENTRY.check_plan(replace(plan, pgbench=old), HOST)
    study = replace(plan.study, measure=replace(plan.study.measure, way="pairs"))
    with pytest.raises(UsageError, match="go to one server"):
        ENTRY.check_plan(replace(plan, study=study), HOST)


def test_an_address_of_any_of_several_servers() -> None:
    each = [
        Address.by_socket(Path(f"/run/{name}"), port, "me", "bench", {"PGREQUIREPEER": "me"})
        for name, port in (("a", 5433), ("b", 5434))
    ]
    found = Address.of_any(each, {"search_path": "entry,public"})
    assert found.options == ("-h", "/run/a,/run/b", "-p", "5433,5434", "-U", "me")
    assert found.environment == {
        "PGREQUIREPEER": "me",
        "PGLOADBALANCEHOSTS": "random",
        "PGOPTIONS": "-c search_path=entry,public",
    }


def test_nodes_on_a_host_are_loaded_from_there() -> None:
    hosts = ("hosts.db=a", "hosts.client=a")
    check_remote(load_study("scale-out", profile="quick", overrides=hosts), ())
    apart = load_study("scale-out", profile="quick", overrides=("hosts.db=a",))
    with pytest.raises(UsageError, match="nodes: the load comes from another host"):
        check_remote(apart, ())
    everywhere = load_study("scale-out", profile="quick", overrides=(*hosts, "entry=all"))
    with pytest.raises(UsageError, match="entry: not with servers or load generators on other"):
        check_remote(everywhere, ())


def test_plain_is_another_word_for_no_nodes() -> None:
    assert {trial.cell.level("nodes") for trial in planned("nodes=plain,2").trials} == {"0", "2"}


def test_every_engine_says_a_part_for_each_server() -> None:
    for name in names():
        engine = engine_of(name)
        assert engine.name == name
        for nodes in (1, 2, 5):
            planned = Distribution(name, nodes, shards=engine.shards(nodes))
            assert len(engine.parts(planned)) == nodes + 1
            if CoordinatorRows.NODE in engine.coordinators:
                alone = replace(planned, coordinator=CoordinatorRows.NODE)
                assert len(engine.parts(alone)) == nodes


def test_an_address_by_the_names_of_libpq() -> None:
    secret = {"PGPASSWORD": "x"}
    address = Address.by_socket(Path("/run/a"), 5433, "me", "bench", secret)
    told = {"host": "/run/a", "port": "5433", "user": "me", "dbname": "bench", "password": "x"}
    assert address.parameters == told
    assert Address("host=db dbname=bench port=1").parameters == {
        "host": "db",
        "dbname": "bench",
        "port": "1",
    }
