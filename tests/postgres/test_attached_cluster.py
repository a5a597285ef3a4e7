"""Servers that run already and are one database: two of them, and a study file's statements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.host.system.paths import Workdir
from teiten.model.trial import Outcome
from tests.fixtures.attached import ADMIN, StrangeServer, strange_server
from tests.fixtures.campaigns import SCRIPTS, Teiten
from tests.fixtures.servers import server_with

STUDY = """
[study]
name = "cluster"
title = "Cluster"
question = "Does it work?"
contrast = "nodes"

[factors]
server = ["db"]
nodes = [0, 2]
engine = ["attached"]
clients = [2]

[servers]
db = "{entry}"

[clusters.db]
nodes = ["{entry}", "{second}"]
on_nodes = '''
CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))
    WITH (fillfactor = :fillfactor);
CREATE TABLE pgbench_history
    (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
'''
on_entry = '''
CREATE EXTENSION postgres_fdw;
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84))
    PARTITION BY HASH (aid);
CREATE TABLE pgbench_history
    (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22))
    PARTITION BY HASH (aid);
'''
for_each_node = '''
CREATE SERVER node_:node FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host :'host', port :'port', dbname :'dbname', batch_size '1000');
CREATE USER MAPPING FOR CURRENT_USER SERVER node_:node
    OPTIONS (user :'user', password :'password');
CREATE FOREIGN TABLE accounts_:node PARTITION OF pgbench_accounts
    FOR VALUES WITH (MODULUS :nodes, REMAINDER :remainder)
    SERVER node_:node OPTIONS (table_name 'pgbench_accounts');
CREATE FOREIGN TABLE history_:node PARTITION OF pgbench_history
    FOR VALUES WITH (MODULUS :nodes, REMAINDER :remainder)
    SERVER node_:node OPTIONS (table_name 'pgbench_history');
'''

[[workloads]]
name = "update"
title = "Update"
script = "paced.sql"
scale = 1
changes_data = true
invariants = ["tpcb-balances"]
pgbench_options = ["--max-tries=1000"]

[[workloads]]
name = "read"
title = "Read"
script = "reads.sql"
scale = 1
changes_data = false

[measure]
duration = "1s"
warmup = "0s"
settle = "0s"
blocks = 1
disturbed_share = "100%"

[profiles.quick]
conclusive = false
"""


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[StrangeServer, ...]]:
    """Each has a password of its own, which libpq finds in a file."""
    server = server_with("postgres_fdw")
    if server is None:
        pytest.skip("no server has postgres_fdw")
    with strange_server(server) as first, strange_server(server) as second:
        known = tmp_path / "pgpass"
        lines = [f"127.0.0.1:{one.port}:*:*:{one.password}\n" for one in (first, second)]
        known.write_text("".join(lines), encoding="utf-8")
        known.chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(known))
        yield first, second


def test_servers_that_run_already_are_nodes_of_one_database(
    workdir: Workdir, two: tuple[StrangeServer, ...]
) -> None:
    """Rows lie on both, commits are counted by both, sums agree, and nothing stays there."""
    first, second = two
    teiten = Teiten.prepared(workdir)
    for name in SCRIPTS:
        teiten.script(name)
    study = workdir.root / "cluster.toml"
    study.write_text(
        STUDY.format(entry=first.address(ADMIN), second=second.address(ADMIN)), encoding="utf-8"
    )
    result = teiten.run("run", study, "--profile", "quick", "--yes", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["complete"]
    trials = teiten.trials()
    assert {trial.outcome for trial in trials} == {Outcome.COUNTED}, [
        trial.problems for trial in trials
    ]
    plan = {trial.number: trial for trial in teiten.plan().trials}
    changed = 0
    for trial in trials:
        planned = plan[trial.number]
        if planned.distribution is None:
            continue
        assert set(trial.facts["nodes"]) == {"1", "2", "3"}
        if planned.cell.workload == "update":
            changed += 1
            # The first server is the entry too: branches and tellers are changed there alone.
            assert min(trial.metrics[f"node_{node}_commits"] for node in (2, 3)) > 0
        else:
            assert "participants" not in trial.metrics
    assert changed == 1
    assert first.databases() == second.databases() == []
    kept = b"".join(one.read_bytes() for one in teiten.campaign().rglob("*") if one.is_file())
    assert not [each.port for each in two if each.password.encode() in kept]
    assert not list(workdir.attached.glob("*.json"))
