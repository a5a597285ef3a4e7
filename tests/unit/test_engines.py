"""Engines: one that nobody knew of, the shards of Citus, and what a plan says of distributions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from teiten import engines
from teiten.datasets.pgbench.model import PgbenchTables
from teiten.engines.attached import filled_in
from teiten.engines.citus import joining
from teiten.engines.registry import engine_of, names
from teiten.errors import TeitenError, UsageError
from teiten.execute.distribution import distributed
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.factors.engine import FACTOR as ENGINE
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
from teiten.plan.expand import expand
from teiten.plan.nodes import distribution_cautions
from teiten.plan.sizing import size
from teiten.study.load import load_study
from tests.fixtures.planned import PGBENCH
from tests.fixtures.synthetic_plan import HOST
from tests.unit.test_attached import server as attached_server
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
    assert (found[0][0], found[-1][1]) == (-(2**31), 2**31 - 1)
    assert all(high + 1 == low for (_, high), (low, _) in itertools.pairwise(found))


def test_every_shard_lies_on_one_node() -> None:
    planned_for = Distribution("citus", 3, shards=33)
    empty, *parts = engine_of("citus").parts(planned_for)
    assert empty == NOTHING
    assert sorted(shard for part in parts for shard in shards_of(part)) == list(range(33))


def test_what_servers_of_citus_hold_and_have() -> None:
    plan = of_citus("settings.shared_preload_libraries=pg_stat_statements")
    trial = trial_of(plan, "update", "2", "size")
    assert trial.distribution == Distribution("citus", 2, shards=32, scale=16)
    assert [template.data.options_as(PgbenchTables).part for template in trial.templates] == [
        NOTHING,
        *(TablePart(PartMethod.SHARDS, number, 2, 32, "aid") for number in (1, 2)),
    ]
    settings = dict(trial.settings)
    assert settings["shared_preload_libraries"] == "citus,pg_stat_statements"
    assert settings["citus.enable_statistics_collection"] == "off"
    plain = dict(trial_of(plan, "update", "0", "size").settings)
    assert plain["shared_preload_libraries"] == "pg_stat_statements"


def test_a_coordinator_that_is_a_node_has_shards_and_is_no_further_server() -> None:
    plan = of_citus("coordinator=apart,node", "nodes=0,1,2")
    of = {
        (trial.cell.level("nodes"), trial.cell.level("coordinator")): trial
        for trial in plan.trials
        if trial.distribution is not None and trial.cell.level("scenario") == "size"
    }
    assert [len(of[nodes, "apart"].templates) for nodes in "12"] == [2, 3]
    assert [len(of[nodes, "node"].templates) for nodes in "12"] == [1, 2]
    both = of["2", "node"]
    assert both.distribution is not None
    assert list(both.distribution.holders) == [1, 2]
    assert both.templates == of["2", "apart"].templates[1:], "the rows are the same"
    own, other = ("a", 1), ("b", 2)
    assert [text.split("(")[0] for text, _ in joining(own, (own, other))] == [
        "SELECT citus_set_coordinator_host",
        "SELECT citus_set_node_property",
        "SELECT citus_add_node",
    ]
    assert [one for _, one in joining(own, (own, other))] == [own, own, other]


def test_connections_of_a_coordinator_that_is_a_node() -> None:
    """Its clients come to it, and it comes to itself."""
    few = ("settings.max_connections=15", "clients=4", "coordinator=node")
    with pytest.raises(UsageError, match="max_connections = 15, and each node needs 18"):
        ENGINE.check_plan(of_citus(*few), HOST)
    ENGINE.check_plan(of_citus(*few[:2]), HOST)


def test_as_many_transactions_may_be_prepared_as_clients_prepare() -> None:
    ENGINE.check_plan(of_citus(), HOST)
    with pytest.raises(UsageError, match="max_prepared_transactions = 5, and each node needs 18"):
        ENGINE.check_plan(of_citus("settings.max_prepared_transactions=5"), HOST)


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


@pytest.mark.parametrize(
    ("overrides", "codes"),
    [
        ((), []),
        (("workloads.update.pgbench_options=--max-tries=1",), ["distribution-retries"]),
        (("workloads.update.pgbench_options=-r", "workloads=update"), ["distribution-retries"]),
        (("workloads.update.pgbench_options=-r", "workloads=read"), []),
    ],
)
def test_updates_that_are_not_tried_again_are_told(
    overrides: tuple[str, ...], codes: list[str]
) -> None:
    """On an engine that needs it: Citus waits as PostgreSQL does."""
    assert [one.code for one in distribution_cautions(planned(*overrides))] == codes
    assert list(distribution_cautions(of_citus(*overrides))) == []


VARIABLES = {"node": "2", "host": "o'clock", "role": 'a"b'}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("SELECT :node, :'node', :\"node\"", "SELECT 2, '2', \"2\""),
        ("server_:node (:'host', :\"role\")", "server_2 ('o''clock', \"a\"\"b\")"),
        ("SELECT 1::node, a[1:n], ':nothing', :'other'", None),
    ],
)
def test_variables_of_statements_are_those_of_psql(text: str, filled: str | None) -> None:
    assert filled_in(text, VARIABLES) == (text if filled is None else filled)


CLUSTER = """
[study]
name = "cluster"
title = "Cluster"
question = "Does it work?"
contrast = "nodes"
[factors]
server = ["{server}"]
nodes = [0, 2]
engine = ["{engine}"]
clients = [2]
[servers]
db = "postgresql://me@entry/postgres"
[clusters.{name}]
nodes = [{nodes}]
on_nodes = "{statements}"
[[workloads]]
name = "read"
title = "Read"
script = "select-only"
scale = 1
changes_data = false
[measure]
duration = "1s"
"""
NODES = "'postgresql://me@a', 'postgresql://me@b'"


def cluster_plan(
    folder: Path,
    *,
    server: str = "db",
    engine: str = "attached",
    name: str = "db",
    nodes: str = NODES,
    statements: str = "",
) -> Plan:
    """With servers that answer as nobody asks: the plan alone is looked at."""
    path = folder / "cluster.toml"
    path.write_text(
        CLUSTER.format(server=server, engine=engine, name=name, nodes=nodes, statements=statements)
    )
    study = size(load_study(str(path)), HOST)
    found = installation() if server != "db" else running("entry", running("a"), running("b"))
    return expand(study, [(server, found)], PGBENCH, seed=1, fingerprint=template_fingerprint)


def running(host: str, *nodes: Installation) -> Installation:
    return replace(
        installation(),
        name=host,
        fingerprint=host,
        attached=attached_server(address=f"postgresql://me@{host}"),
        nodes=nodes,
    )


def test_nodes_that_run_already_are_the_servers_of_a_trial(tmp_path: Path) -> None:
    plan = cluster_plan(tmp_path, statements="CREATE SERVER n_:node OPTIONS (x :'password')")
    (spread,) = {trial.templates for trial in plan.trials if trial.distribution is not None}
    assert [one.installation.name for one in spread] == ["entry", "a", "b"]
    (plain,) = {trial.templates for trial in plan.trials if trial.distribution is None}
    assert [one.installation.name for one in plain] == ["entry"]
    ENGINE.check_plan(plan, HOST)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"nodes": "'postgresql://me@a'"}, r"nodes=2: \[clusters.db\] names 1 nodes"),
        ({"nodes": ""}, "must be a list of addresses"),
        ({"nodes": "'a'"}, "'a' is no address"),
        ({"nodes": "'postgresql://me:secret@a'"}, "the address holds a password"),
        ({"name": "other"}, "there is no server other that runs already"),
        ({"server": "18"}, "the study names no nodes behind the server 18"),
        ({"engine": "postgres_fdw"}, "nodes: the server db is attached"),
        ({"statements": "OPTIONS (password 'x')"}, "a password stands in the statements"),
        ({"statements": "PASSWORD = E'x'"}, "a password stands in the statements"),
    ],
)
def test_clusters_that_cannot_be_had(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    with pytest.raises(TeitenError, match=message) as refused:
        cluster_plan(tmp_path, **changed)
    assert refused.value.hint


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
        (trial.cell.level("scenario"), trial.cell.level("nodes")): trial.scale
        for trial in planned("scale=3", "nodes=0,1,4").trials
    }
    assert scales == {
        **{("throughput", nodes): 12 for nodes in ("0", "1", "4")},
        **{("size", nodes): scale for nodes, scale in (("0", 3), ("1", 3), ("4", 12))},
    }
