"""Engines: one that nobody knew of, the shards of Citus, and what a plan says of distributions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from teiten import engines
from teiten.datasets.pgbench.model import tables_of
from teiten.engines.registry import engine_of, names
from teiten.errors import TeitenError, UsageError
from teiten.execute.distribution import distributed
from teiten.model.distribution import (
    NOTHING,
    Distribution,
    PartMethod,
    SpreadBy,
    TablePart,
    shard_ranges,
    shards_of,
)
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.plan.distribution import distribution_cautions
from tests.unit.test_scale_out_plan import installation, planned, trial_of

INVENTED = '''
"""An engine that only a test knows."""
from teiten.engines.contract import Engine
from teiten.model.distribution import NOTHING

class Invented(Engine):
    name = "invented"
    extension = "postgres_fdw"
    oldest = 12
    installing = "write it"
    atomic = True

    def parts(self, planned):
        return (NOTHING,) * (planned.nodes + 1)

    def settings(self, clients):
        return {"max_prepared_transactions": str(clients)}

    def distribute(self, servers, planned):
        with servers.connect(servers.coordinator) as connection:
            for node in servers.nodes:
                connection.execute(f"join {servers.parameters(node)['host']} of {planned.nodes}")

ENGINE = Invented()
'''


@pytest.fixture
def invented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A file beside the engines, and nothing else."""
    (tmp_path / "invented.py").write_text(INVENTED, encoding="utf-8")
    monkeypatch.setattr(engines, "__path__", [*engines.__path__, str(tmp_path)])
    names.cache_clear()
    yield
    names.cache_clear()


class Told:
    """A site whose servers are told, and do nothing."""

    nodes = (1, 2, 3)

    def __init__(self) -> None:
        self.statements: list[str] = []

    def connect(self, _node: int = 1) -> Told:
        return self

    def peer_address(self, node: int) -> Told:
        self.parameters = {"host": f"node-{node}"}
        return self

    def execute(self, statement: str) -> None:
        self.statements.append(statement)

    @property
    def info(self) -> Told:
        return self

    server_version = 180004

    def __enter__(self) -> Told:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.usefixtures("invented")
def test_a_further_engine_is_a_file() -> None:
    """It is known by its name, planned, checked, and asked to make one database of the servers."""
    assert "invented" in names()
    plan = planned("engine=invented")
    trial = trial_of(plan, "update", "2", "size")
    assert trial.distribution == Distribution("invented", 2, scale=16)
    assert dict(trial.settings)["max_prepared_transactions"] == "4"
    with pytest.raises(UsageError, match="needs PostgreSQL 12 or later"):
        planned("engine=invented", server=installation("11.22"))
    site = Told()
    tables = distributed(trial, site)  # type: ignore[arg-type]
    assert tables is not None
    tables.distribute()
    assert site.statements == ["join node-2 of 2", "join node-3 of 2"]


def with_citus(version: str = "17.6") -> Installation:
    found = installation(version)
    return replace(found, contrib=found.contrib | {"citus"})


def of_citus(*overrides: str) -> Plan:
    return planned("engine=citus", *overrides, server=with_citus())


def test_where_citus_is_not_installed_its_users_way_is_said() -> None:
    with pytest.raises(UsageError, match="has no extension citus") as refused:
        planned("engine=citus")
    assert "postgresql-17-citus" in refused.value.hint
    assert "github.com/citusdata/citus" in refused.value.hint


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5, 7, 31, 40, 64])
def test_all_nodes_have_as_many_shards(nodes: int) -> None:
    shards = engine_of("citus").shards(nodes)
    assert shards % nodes == 0
    assert shards == nodes or abs(shards - 32) <= nodes / 2


@pytest.mark.parametrize("shards", [1, 2, 3, 32, 33, 100])
def test_shards_are_all_hashes_in_order(shards: int) -> None:
    found = list(shard_ranges(shards))
    assert (found[0].low, found[-1].high) == (-(2**31), 2**31 - 1)
    assert all(one.high + 1 == other.low for one, other in itertools.pairwise(found))


def test_every_shard_lies_on_one_node() -> None:
    planned_for = Distribution("citus", 3, shards=33)
    empty, *parts = engine_of("citus").parts(planned_for)
    assert empty == NOTHING
    assert sorted(shard for one in parts for shard in shards_of(one)) == list(range(33))


def test_what_servers_of_citus_hold_and_have() -> None:
    plan = of_citus("settings.shared_preload_libraries=pg_stat_statements")
    trial = trial_of(plan, "update", "2", "size")
    assert trial.distribution == Distribution("citus", 2, shards=32, scale=16)
    assert [tables_of(one.data).part for one in trial.templates] == [
        NOTHING,
        *(TablePart(PartMethod.SHARDS, number, 2, 32, "aid") for number in (1, 2)),
    ]
    settings = dict(trial.settings)
    assert settings["shared_preload_libraries"] == "citus,pg_stat_statements"
    assert settings["citus.enable_statistics_collection"] == "off"
    plain = dict(trial_of(plan, "update", "0", "size").settings)
    assert plain["shared_preload_libraries"] == "pg_stat_statements"


def test_as_many_transactions_may_be_prepared_as_clients_prepare() -> None:
    from teiten.factors.engine import FACTOR  # noqa: PLC0415 - as the other tests of plans
    from tests.fixtures.synthetic_plan import HOST  # noqa: PLC0415

    FACTOR.check_plan(of_citus(), HOST)
    with pytest.raises(UsageError, match="max_prepared_transactions = 5, and each node needs 18"):
        FACTOR.check_plan(of_citus("settings.max_prepared_transactions=5"), HOST)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("distribution=bid",), "must be one of own-key, branch, reference-branches"),
        (("distribution=branch",), "postgres_fdw does not spread tables by branch"),
        (("shards=0",), "must be a number of shards from 1"),
        (("shards=8",), "postgres_fdw makes no shards"),
        (("engine=citus", "shards=2"), "2 shards leave some of 4 nodes without rows"),
    ],
)
def test_distributions_that_cannot_be_had(overrides: tuple[str, ...], message: str) -> None:
    with pytest.raises(TeitenError, match=message):
        planned(*overrides, server=with_citus())


@pytest.mark.parametrize(
    ("overrides", "codes"),
    [
        ((), []),
        (("shards=6",), ["distribution-uneven"]),
        (("distribution=reference-branches",), ["distribution-reference"]),
        (
            ("distribution=branch",),
            ["distribution-few-branches", "distribution-asks-all", "distribution-asks-all"],
        ),
        (("distribution=branch", "scale=40", "workloads=read"), ["distribution-asks-all"]),
        (("distribution=reference-branches", "workloads=read"), []),
    ],
)
def test_what_a_plan_says_of_a_distribution(overrides: tuple[str, ...], codes: list[str]) -> None:
    found = list(distribution_cautions(of_citus(*overrides)))
    assert [one.code for one in found] == codes


def test_a_script_that_names_the_branch_is_meant_for_branches(tmp_path: Path) -> None:
    script = tmp_path / "by-branch.sql"
    script.write_text(
        "\\set bid random(1, :scale)\n"
        "SELECT abalance FROM pgbench_accounts WHERE bid = :bid AND aid = 1;\n"
    )
    overrides = ("distribution=branch", "scale=40", "workloads=read")
    plan = of_citus(*overrides, f"workloads.read.script={script}")
    assert list(distribution_cautions(plan)) == []
    assert trial_of(plan, "read", "1", "size").distribution == Distribution(
        "citus", 1, SpreadBy.BRANCH, 32, scale=40
    )


def test_a_script_is_told_the_scale_of_the_whole() -> None:
    """Whatever the coordinator, which clients reach, has of it."""
    scales = {
        (one.cell.level("scenario"), one.cell.level("nodes")): one.scale
        for one in planned("scale=3", "nodes=0,1,4").trials
    }
    assert scales == {
        **{("throughput", nodes): 12 for nodes in ("0", "1", "4")},
        **{("size", nodes): scale for nodes, scale in (("0", 3), ("1", 3), ("4", 12))},
    }
