"""The native generator of paired transactions against real servers, and against pgbench."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

from teiten.errors import WorkloadError
from teiten.execute.client.paired import (
    PairedProcess,
    PairedResult,
    PairedRun,
    PairedServer,
    run_pairs,
)
from teiten.execute.postgres.cluster import Cluster, StartOptions
from teiten.execute.postgres.conf import Opening
from teiten.execute.postgres.installations import choose_pgbench, find_installations
from teiten.host.system.environment import child_environment
from teiten.host.system.paths import Workdir, default_workdir
from teiten.kinds.pgbench.load import paired_trials
from teiten.model.installation import Installation, Pgbench, Version
from teiten.model.rows import VariableRows, as_expressions
from teiten.model.study import QueryMode, Script, Setting
from teiten.model.text import Bilingual
from teiten.model.units import Seconds
from tests.fixtures.asking import asking_at
from tests.fixtures.servers import ClusterKit, open_folder

native = pytest.importorskip("teiten_native", reason="the native part is not built: make native")
if not hasattr(native, "pairs_main"):
    pytest.skip("the native part is older than this test: make native", allow_module_level=True)

Find = Callable[[str], Installation]
SETTINGS = {
    "log_statement": "all",
    "deadlock_timeout": "50ms",
    "fsync": "off",
}
ENTRY = re.compile(r"^<<(\d+)>>(\w+):  (?:statement|execute [^:]*): ", re.MULTILINE)
NEXT = re.compile(r"^<<\d+>>|^\d{4}-", re.MULTILINE)
DATABASE = "postgres"
PATIENCE = 120.0
"""Seconds."""
UPDATE = Script(
    "update.sql",
    False,
    "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n",
)
SELECT = Script("select-only", True, "")
EVERYTHING = r"""
-- a comment before
\set a random(1, 1000000)
\set g random_gaussian(1, 100000, 2.5)
\set e random_exponential(1, 100000, 3.1)
\set z random_zipfian(1, 100000, 1.3)
\set zz random_zipfian(-5, 10, 0.5 + 1)
\set p permute(:a, 1000003)
\set ps permute(:a, 17, 4711)
\set h hash(:a)
\set f hash_fnv1a(:a, 17)
\set d :a / 7.0 + sqrt(:g) - ln(:e) * exp(0.5)
\set big power(:a, 3.5)
\set small 1.0 / :a / 1000000
\set c case when :a > 500000 then random(1, 9) when :a < 10 then 0 else -random(1, 9) end
\set b :a % 2 = 0 and not :c = 2 or random(1, 3) > random(1, 3)
\set i int(:d) % 1000 | 3 & ~ 5 # 9 << 2
\set m greatest(:i, 3, abs(-7)) + least(:c, 2.5)
\set n null is null and :a isnull
\set l \
  :a \
  + 1
SELECT :a, :g, :e, :z, :zz, :p, :ps, :h, :f, 'of :client_id', :n::text -- kept
  , ':unknown', 1::int, '12:30' /* ; \ */, $$;:a$$;
SELECT :d::float8, :big::float8, :small::float8, :c, :b, :i, :m, :l, :random_seed, :default_seed;
\if :a % 3 = 0
SELECT :a AS three;
\elif :a % 3 = 1 and :client_id >= 0
\if false
SELECT 'never';
\else
SELECT :a AS one;
\endif
\else
SELECT :a AS two;
\endif
SELECT :a % 100 AS x, 'it' AS y \gset own_
\set twice :own_x * 2
SELECT :twice, ':own_y', :scale;
"""
SEVERAL_RESULTS = r"""
SELECT 1 AS one \; SELECT 2 AS two, 3 AS three \aset
SELECT :one + :two + :three;
BEGIN \; SELECT 1 AS never; END;
"""
PIPELINE = r"""
\set a random(1, 100000)
\startpipeline
SELECT :a;
UPDATE pgbench_accounts SET abalance = :a WHERE aid = :a;
\syncpipeline
SELECT :a + 1;
\endpipeline
SELECT :a + 2;
"""


EDGES = (
    "\\set 値 1\nSELECT :値;",
    "\\set x値 1\nSELECT :x値;",
    "\\値\nSELECT 1;",
    "\\if 値\nSELECT 1;\n\\endif",
    "\\set x 値\\\n + 1\nSELECT :x;",
    "\\set x\\\n 1\nSELECT :x;",
    "\\set x :\nSELECT 1;",
    "\\sleep -1\nSELECT 1;",
    "\\sleep +1ms\nSELECT 1;",
    "\\sleep -\nSELECT 1;",
    "\\sleep 1値\nSELECT 1;",
    "\\sleep :nothing ms\nSELECT 1;",
    "\\set x 1.9\n\\sleep :x ms\nSELECT 1;",
    "\\set x true\n\\sleep :x ms\nSELECT 1;",
    "\\set x true\n\\set y :x is false is null\nSELECT :y::text;",
    "\\set x true isnull isnull\nSELECT :x::text;",
    "\\set x not 1 is null is not null\nSELECT :x::text;",
    "\\set x 1 < 2 is null = true\nSELECT :x::text;",
    "\\set x 1 < 2 < 3\nSELECT :x;",
    "SELECT 1 \\gset\nSELECT 2;",
    "SELECT 1 AS x \\gset 1\nSELECT 2;",
    'SELECT 1 AS "a b", 2 AS c \\gset\nSELECT :c;',
    'SELECT 1 AS "a b" WHERE false \\aset\nSELECT 2;',
    'SELECT 1 AS "値" \\gset\nSELECT :値;',
    "\\set x sqrt(-1)\n\\set y exp(1000)\n\\set z -exp(1000)\nSELECT :x::text, :y, :z;",
    "\\set x greatest(sqrt(-1), 1)\n\\set y greatest(1, sqrt(-1))\nSELECT '-', :x, :y;",
    "\\set x least(sqrt(-1), 1)\n\\set y least(1, sqrt(-1))\nSELECT '-', :x, :y;",
    "\\set x 1e400\nSELECT 1;",
    "\\set x 1e-400\nSELECT 1;",
    "SELECT '1e400' AS x \\gset\n\\set y :x\nSELECT 1;",
    "SELECT 'inf' AS x \\gset\n\\set y :x\nSELECT '-', :y;",
    "\\if sqrt(-1)\nSELECT 1;\n\\else\nSELECT 2;\n\\endif",
)
"""Scripts at the edges of what pgbench takes; no one of them draws a random number."""


@pytest.fixture(scope="module")
def clusters(installation: Find, cluster_kit: ClusterKit) -> Iterator[tuple[Cluster, Cluster]]:
    """Two filled servers that log every statement."""
    with open_folder("teiten-test-") as folder:
        both = [cluster_kit.make(installation("18"), folder / name) for name in ("a", "b")]
        reason = Bilingual("a test", "試験のため")
        try:
            for cluster in both:
                cluster.configure(
                    [Setting(name, value, reason, "a test") for name, value in SETTINGS.items()]
                )
                own = Opening("127.0.0.1", "127.0.0.1", "own", DATABASE, "scram-sha-256")
                cluster.start(StartOptions(opening=own))
                with cluster.connect() as connection:
                    connection.execute("ALTER SYSTEM SET log_line_prefix = '<<%p>>'")
                    connection.execute("SELECT pg_reload_conf()")
                    connection.execute("CREATE ROLE own LOGIN PASSWORD 'a ''secret'''")
                run_pgbench(pgbench_of_tests(), cluster, "-i", "-q")
            yield both[0], both[1]
        finally:
            for cluster in both:
                cluster.stop(immediately=True)


@pytest.fixture
def run(clusters: tuple[Cluster, Cluster], tmp_path: Path) -> PairedRun:
    return PairedRun(
        servers=[server_of(cluster) for cluster in clusters],
        scripts=[(SELECT, 1)],
        clients=2,
        protocol=QueryMode.SIMPLE,
        seed=4711,
        folder=tmp_path / "pairs",
        pairs=20,
        variables={"scale": "1"},
    )


def server_of(cluster: Cluster) -> PairedServer:
    return PairedServer(
        str(cluster.socket_directory),
        cluster.port,
        cluster.user_name,
        DATABASE,
        peer=cluster.user.uid,
    )


def pgbench_of_tests() -> Pgbench:
    pgbench = choose_pgbench(find_installations(Workdir(default_workdir())))
    if pgbench.version < Version(150000):
        pytest.skip("pgbench before 15 has other random numbers")
    return pgbench


def run_pgbench(pgbench: Pgbench, cluster: Cluster, *arguments: str) -> None:
    where = ("-h", str(cluster.socket_directory), "-p", str(cluster.port))
    subprocess.run(
        [str(pgbench.path), *arguments, *where, "-U", cluster.user_name, DATABASE],
        env=child_environment(pgbench.library_path, cluster.client_environment),
        check=True,
        capture_output=True,
    )


def sessions(cluster: Cluster, begin: int) -> list[list[str]]:
    """What each session was asked since then, with the values of parameters; in a fixed order."""
    text = cluster.read_log(begin).decode()
    asked: dict[str, list[str]] = defaultdict(list)
    for entry in ENTRY.finditer(text):
        end = NEXT.search(text, entry.end())
        said = text[entry.start() : end.start() if end else len(text)]
        detail = text[end.start() : text.find("\n", end.start())] if end else ""
        if "DETAIL" in detail:
            said += detail.split("DETAIL", 1)[1]
        asked[entry.group(1)].append(said.split(">>", 1)[1])
    return sorted(asked.values())


def by_pgbench(cluster: Cluster, run: PairedRun, folder: Path) -> list[list[str]]:
    begin = cluster.log_size()
    files = []
    folder.mkdir(exist_ok=True)
    for script, weight in run.scripts:
        path = folder / script.name
        path.write_text(script.text)
        files += ["-f", f"{path}@{weight}"]
    defined = [word for item in run.variables.items() for word in ("-D", "=".join(item))]
    run_pgbench(
        pgbench_of_tests(),
        cluster,
        *("-n", "-M", run.protocol.value, "-c", str(run.clients), "-t", str(run.pairs)),
        *("-j", str(run.clients), f"--random-seed={run.seed}", *files, *defined),
    )
    found = sessions(cluster, begin)
    assert len(found) == run.clients
    return found


def by_ourselves(cluster: Cluster, run: PairedRun) -> list[list[str]]:
    begin = cluster.log_size()
    result = run_pairs(run, 60)
    assert not result.summary["aborted"]
    return sessions(cluster, begin)


@pytest.mark.parametrize("protocol", QueryMode)
@pytest.mark.parametrize("seed", [1, 18_446_744_073_709_551_615])
def test_the_same_seed_gives_the_statements_of_pgbench(
    run: PairedRun,
    clusters: tuple[Cluster, Cluster],
    protocol: QueryMode,
    seed: int,
    tmp_path: Path,
) -> None:
    everything = EVERYTHING
    if protocol is not QueryMode.SIMPLE:  # a parameter cannot stand within quotes
        everything = re.sub(r"'[^'\n]*:[^'\n]*'", "'-'", everything).replace("$$;:a$$", "$$;$$")
    one = replace(
        run,
        servers=run.servers[:1],
        scripts=[(Script("everything.sql", False, everything), 1)],
        clients=3,
        seed=seed,
        protocol=protocol,
        pairs=40,
    )
    expected = by_pgbench(clusters[0], one, tmp_path)
    assert all(len(asked) >= 160 for asked in expected)
    assert ("arameters: $1 = " in str(expected)) == (protocol is not QueryMode.SIMPLE)
    assert by_ourselves(clusters[0], one) == expected
    assert by_ourselves(clusters[0], replace(one, seed=seed - 1)) != expected


@pytest.mark.parametrize("protocol", QueryMode)
def test_a_row_is_drawn_as_by_pgbench(
    run: PairedRun, clusters: tuple[Cluster, Cluster], protocol: QueryMode, tmp_path: Path
) -> None:
    values = tuple((str(7 * number - 900), f"{number}.25") for number in range(1000))
    rows = VariableRows("list.csv", ("a", "b"), values)
    text = "\\if :a > 0\nSELECT :a::int, :b::numeric, ':a';\n\\else\nSELECT :b::numeric;\n\\endif\n"
    text = text if protocol is QueryMode.SIMPLE else text.replace(", ':a'", "")
    drawn = Script("drawn.sql", False, as_expressions(rows) + text)
    one = replace(
        run, servers=run.servers[:1], scripts=[(drawn, 1)], clients=3, pairs=60, protocol=protocol
    )
    expected = by_pgbench(clusters[0], one, tmp_path)
    ours = replace(one, scripts=[(Script("drawn.sql", False, text), 1)], rows=rows)
    assert by_ourselves(clusters[0], ours) == expected
    assert len({asked for session in expected for asked in session}) > 90


@pytest.mark.parametrize("protocol", QueryMode)
def test_texts_of_a_row_are_values_in_every_protocol(
    run: PairedRun, clusters: tuple[Cluster, Cluster], protocol: QueryMode
) -> None:
    rows = VariableRows("list.csv", ("name", "none"), (("it's \\ so", None),))
    text = "SELECT 1 / (:name::text = E'it''s \\\\ so' AND :none::text IS NULL)::int;\n"
    drawn = replace(
        run, scripts=[(Script("t.sql", False, text), 1)], rows=rows, protocol=protocol, pairs=3
    )
    result = run_pairs(drawn, 60)
    assert not result.summary["aborted"] and result.summary["pairs"] == 6


def test_a_server_runs_texts_of_its_own_with_the_same_numbers(
    run: PairedRun, clusters: tuple[Cluster, Cluster]
) -> None:
    text = "\\set a random(1, 1000000)\nSELECT :a AS %s;\n"
    other = replace(run.servers[1], texts=(text % "new",))
    pairs = replace(
        run, scripts=[(Script("q.sql", False, text % "old"), 1)], servers=[run.servers[0], other]
    )
    begins = [cluster.log_size() for cluster in clusters]
    assert not run_pairs(pairs, 60).summary["aborted"]
    old, new = map(sessions, clusters, begins)
    assert [[said.replace("new", "old") for said in asked] for asked in new] == old != new
    with pytest.raises(WorkloadError, match="texts: one for each script"):
        run_pairs(replace(pairs, scripts=[*pairs.scripts, (SELECT, 1)]), 60)


def test_several_scripts_are_chosen_as_pgbench_chooses(
    run: PairedRun, clusters: tuple[Cluster, Cluster], tmp_path: Path
) -> None:
    texts = [("one.sql", 3), ("two.sql", 0), ("three.sql", 10)]
    scripts = [
        (Script(name, False, f"\\set a random(1, 100)\nSELECT '{name}', :a;"), weight)
        for name, weight in texts
    ]
    one = replace(run, servers=run.servers[:1], scripts=scripts, clients=3, pairs=60)
    expected = by_pgbench(clusters[0], one, tmp_path)
    assert by_ourselves(clusters[0], one) == expected
    assert {"'one.sql'", "'three.sql'"} == set(re.findall(r"'\w+\.sql'", str(expected)))


def test_results_of_several_statements_are_kept_as_by_pgbench(
    run: PairedRun, clusters: tuple[Cluster, Cluster], tmp_path: Path
) -> None:
    script = Script("several.sql", False, SEVERAL_RESULTS)
    one = replace(run, servers=run.servers[:1], scripts=[(script, 1)], pairs=3)
    assert by_ourselves(clusters[0], one) == by_pgbench(clusters[0], one, tmp_path)


@pytest.mark.parametrize("protocol", [QueryMode.EXTENDED, QueryMode.PREPARED])
def test_a_pipeline_is_that_of_pgbench(
    run: PairedRun, clusters: tuple[Cluster, Cluster], protocol: QueryMode, tmp_path: Path
) -> None:
    text = PIPELINE.replace("SELECT :a", "SELECT :a::int")
    one = replace(
        run,
        servers=run.servers[:1],
        scripts=[(Script("pipeline.sql", False, text), 1)],
        protocol=protocol,
    )
    assert by_ourselves(clusters[0], one) == by_pgbench(clusters[0], one, tmp_path)


@pytest.mark.parametrize("protocol", [QueryMode.SIMPLE, QueryMode.EXTENDED])
@pytest.mark.parametrize("text", EDGES)
def test_what_stands_at_the_edge_is_run_or_refused_as_by_pgbench(
    run: PairedRun,
    clusters: tuple[Cluster, Cluster],
    protocol: QueryMode,
    text: str,
    tmp_path: Path,
) -> None:
    """Up to the statement at which a client ends, the server is asked the same."""
    cluster, pgbench = clusters[0], pgbench_of_tests()
    path = tmp_path / "edge.sql"
    path.write_text(text, encoding="utf-8")
    begin = cluster.log_size()
    where = ("-h", str(cluster.socket_directory), "-p", str(cluster.port))
    done = subprocess.run(
        [pgbench.path, "-n", "-M", protocol.value, "-t", "1", "-f", path, "--random-seed=1",
         *where, "-U", cluster.user_name, DATABASE],
        env=child_environment(pgbench.library_path, cluster.client_environment),
        check=False,
        capture_output=True,
    )  # fmt: skip
    expected, begin = sessions(cluster, begin), cluster.log_size()
    one = replace(
        run, servers=run.servers[:1], scripts=[(Script("edge.sql", False, text), 1)],
        protocol=protocol, clients=1, pairs=1, seed=1,
    )  # fmt: skip
    try:
        refused = bool(run_pairs(one, 60).summary["aborted"])
    except WorkloadError as error:
        assert "panicked" not in error.message
        refused = True
    assert refused == (done.returncode != 0), done.stderr
    assert sessions(cluster, begin) == expected


def test_clients_that_listen_go_on(run: PairedRun, clusters: tuple[Cluster, Cluster]) -> None:
    """Notifications come whenever they do: also while the other server is asked."""
    text = "LISTEN x;\nNOTIFY x, 'said';\nSELECT pg_notify('x', repeat('y', 7000)) \\gset\n"
    for protocol in QueryMode:
        loaded = replace(
            run, scripts=[(Script("listen.sql", False, text), 1)], clients=4, protocol=protocol
        )
        result = run_pairs(loaded, 60)
        assert not result.summary["aborted"] and len(result.pairs) == 80


@pytest.mark.parametrize("allowed", ["", "password", "scram-sha-256", "!password", "none"])
def test_a_password_is_given_only_as_it_is_allowed(
    run: PairedRun, clusters: tuple[Cluster, Cluster], allowed: str
) -> None:
    cluster = clusters[0]
    server = replace(run.servers[0], password="a secret", require_auth=allowed)
    socket = cluster.socket_directory / f".s.PGSQL.{cluster.port}"
    notes = cluster.data_directory / f"asked-{os.urandom(4).hex()}"
    with asking_at(socket, notes, cluster.user) as asking:
        with pytest.raises(WorkloadError) as error:
            run_pairs(replace(run, servers=[server], clients=1), 60)
        binding = replace(server, require_auth=None, channel_binding="require")
        with pytest.raises(WorkloadError, match="channel binding is required"):
            run_pairs(replace(run, servers=[binding], clients=1), 60)
        assert asking.asked == 2
        if allowed in {"", "password"}:
            assert asking.given == ["got: a secret"]
        else:
            assert asking.given == []
            assert f"require_auth={allowed} does not allow it" in error.value.message


@pytest.mark.parametrize("built_in", ["tpcb-like", "simple-update", "select-only"])
def test_the_scripts_that_are_built_in_are_those_of_pgbench(
    run: PairedRun, clusters: tuple[Cluster, Cluster], built_in: str
) -> None:
    one = replace(
        run,
        servers=run.servers[:1],
        scripts=[(Script(built_in, True, ""), 1)],
        clients=1,
        continue_on_error=True,
    )
    begin = clusters[0].log_size()
    run_pgbench(
        pgbench_of_tests(),
        clusters[0],
        *("-n", "-b", built_in, "-t", str(run.pairs), f"--random-seed={run.seed}"),
    )
    expected = sessions(clusters[0], begin)
    # pgbench's first session counts the branches.
    assert by_ourselves(clusters[0], one)[0] in expected


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("in_step", [False, True])
def test_both_servers_are_asked_the_same(
    run: PairedRun, clusters: tuple[Cluster, Cluster], batch: int, in_step: bool
) -> None:
    script = Script("everything.sql", False, EVERYTHING)
    both = replace(
        run, scripts=[(script, 1)], clients=3, threads=2, pairs=30, batch=batch, in_step=in_step
    )
    begins = [cluster.log_size() for cluster in clusters]
    result = run_pairs(both, 60)
    asked = [sessions(*found) for found in zip(clusters, begins, strict=True)]
    assert asked[0] == asked[1]
    assert len(asked[0]) == 3
    alone = by_ourselves(clusters[0], replace(both, servers=both.servers[:1], batch=1))
    assert asked[0] == alone
    pairs = result.pairs
    assert len(pairs) == result.summary["pairs"] == 90
    assert sorted(set(pairs["first"])) == [0, 1]
    assert pairs["position"].max() == batch - 1
    assert (pairs["latency"] > 0).all()
    if in_step:
        assert not overlapping(result)


@pytest.mark.parametrize("protocol", [QueryMode.SIMPLE, QueryMode.PREPARED])
@pytest.mark.parametrize("in_step", [False, True])
def test_each_transaction_can_have_a_connection_of_its_own(
    run: PairedRun, clusters: tuple[Cluster, Cluster], in_step: bool, protocol: QueryMode
) -> None:
    """With more clients than threads, and statements that are prepared in each of them anew."""
    anew = replace(run, clients=3, threads=2, in_step=in_step, protocol=protocol, reconnect=True)
    begins = [cluster.log_size() for cluster in clusters]
    result = run_pairs(anew, 60)
    assert not result.summary["aborted"] and result.summary["pairs"] == 60
    for log in zip(clusters, begins, strict=True):
        assert [len(statements) for statements in sessions(*log)] == [1] * 60
    wait_for(lambda: not clients_of(clusters))


def overlapping(result: PairedResult) -> bool:
    """Whether a client was on one server while another was on the other."""
    begins = result.pairs["start"]
    ends = begins + result.pairs["latency"]
    return any(
        ((begin < ends[:, 1]) & (begins[:, 1] < end)).any()
        for begin, end in zip(begins[:, 0], ends[:, 0], strict=True)
    )


def test_alternating_clients_do_not_wait_for_each_other(run: PairedRun) -> None:
    result = run_pairs(replace(run, clients=4, pairs=200, threads=1), 60)
    assert overlapping(result)


def test_every_transaction_that_is_noted_was_committed(
    run: PairedRun, clusters: tuple[Cluster, Cluster]
) -> None:
    def rows() -> list[int]:
        found = []
        for cluster in clusters:
            with cluster.connect(DATABASE) as connection:
                row = connection.execute("SELECT count(*) FROM pgbench_history").fetchone()
                assert row is not None
                found.append(int(row[0]))
        return found

    before = rows()
    tpcb = replace(
        run,
        scripts=[(Script("tpcb-like", True, ""), 1)],
        pairs=None,
        duration=Seconds(1.0),
        protocol=QueryMode.PREPARED,
    )
    result = run_pairs(tpcb, 60)
    assert result.summary["reason"] == "duration"
    assert [after - one for after, one in zip(rows(), before, strict=True)] == [
        len(result.pairs)
    ] * 2
    assert [server["transactions"] for server in result.summary["servers"]] == [
        len(result.pairs)
    ] * 2
    assert 1.0 <= result.summary["seconds"] < 3.0


def test_a_run_in_step_whose_time_is_up_says_so_whenever_its_last_pair_ended(
    run: PairedRun,
) -> None:
    short = replace(run, scripts=[(SELECT, 1)], pairs=None, duration=Seconds(0.05), in_step=True)
    reasons = [run_pairs(short, 60).summary["reason"] for _ in range(20)]
    assert reasons == ["duration"] * 20


def test_conflicts_are_failures_by_sqlstate_or_tried_again(run: PairedRun) -> None:
    conflicts = Script(
        "conflicts.sql",
        False,
        "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT 1;\n\\sleep 1 ms\n" + UPDATE.text + "END;",
    )
    many = replace(run, scripts=[(conflicts, 1)], clients=4, pairs=50)
    result = run_pairs(many, 60)
    failed = result.pairs["sqlstate"] != b""
    assert set(np.unique(result.pairs["sqlstate"])) == {b"", b"40001"}
    for side, server in enumerate(result.summary["servers"]):
        assert server["failures"] == {"40001": int(failed[:, side].sum())}
        assert server["transactions"] == 200 - failed[:, side].sum()
    again = run_pairs(replace(many, max_tries=1000), 60)
    assert (again.pairs["sqlstate"] == b"").all()
    assert all(server["retries"] > 0 for server in again.summary["servers"])


def test_another_error_ends_its_client_unless_it_is_to_go_on(run: PairedRun) -> None:
    wrong = Script("wrong.sql", False, "BEGIN;\nSELECT 1 / (:client_id - 1);\nEND;\n")
    result = run_pairs(replace(run, scripts=[(wrong, 1)]), 60)
    [aborted] = result.summary["aborted"]
    assert (aborted["client"], aborted["sqlstate"]) == (1, "22012")
    assert aborted["message"] == "wrong.sql:2: ERROR: division by zero"
    assert set(result.pairs["client"]) == {0}
    on = run_pairs(replace(run, scripts=[(wrong, 1)], continue_on_error=True), 60)
    assert on.summary["aborted"] == []
    of_second = on.pairs[on.pairs["client"] == 1]
    assert (of_second["sqlstate"] == b"22012").all()
    assert len(of_second) == 20


def test_a_script_that_waits_is_not_tried_for_long(
    run: PairedRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = Script("waits.sql", False, "\\sleep 1000 s\nSELECT 1;")
    waiting = replace(run, servers=run.servers[:1], scripts=[(script, 1)], clients=1, pairs=1)
    monkeypatch.setattr(paired_trials, "REHEARSAL", Seconds(1.0))
    trial: Any = object.__new__(paired_trials.PairedTrial)
    trial._planned = lambda *_: waiting
    trial.bench = SimpleNamespace(check_interruption=lambda: None)
    trial.site = SimpleNamespace(is_running=lambda: True)
    trial.script, trial.folder = script, tmp_path
    with pytest.raises(WorkloadError, match=r"waits\.sql: its first transaction had not ended"):
        trial.rehearse()


def test_what_cannot_be_run_is_refused_with_its_line(run: PairedRun) -> None:
    shell = Script("shell.sql", False, "SELECT 1;\n\\setshell x date\n")
    with pytest.raises(WorkloadError, match=r"shell\.sql:2: \\setshell"):
        run_pairs(replace(run, scripts=[(shell, 1)]), 60)


def test_a_script_that_leaves_its_transaction_open_is_refused(run: PairedRun) -> None:
    left = Script("open.sql", False, "BEGIN;\nSELECT 1;\n")
    result = run_pairs(replace(run, scripts=[(left, 1)]), 60)
    assert result.summary["reason"] == "aborted"
    assert "without completing the last transaction" in result.summary["aborted"][0]["message"]


@pytest.mark.parametrize("method", ["scram-sha-256", "md5", "password"])
def test_a_password_opens_a_server_over_tcp(
    run: PairedRun, clusters: tuple[Cluster, Cluster], method: str
) -> None:
    hba = clusters[0].data_directory / "pg_hba.conf"
    text = hba.read_text()
    hba.write_text(text.replace("scram-sha-256", method))
    before = loaded(clusters[0])
    try:
        with clusters[0].connect() as connection:
            if method == "md5":
                connection.execute("SET password_encryption = 'md5'")
            connection.execute("ALTER ROLE own PASSWORD 'a ''secret'''")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO own")
            connection.execute("SELECT pg_reload_conf()")
        wait_for(lambda: loaded(clusters[0]) != before)
        server = PairedServer("127.0.0.1", clusters[0].port, "own", DATABASE, "a 'secret'")
        assert len(run_pairs(replace(run, servers=[server]), 60).pairs) == 40
        with pytest.raises(WorkloadError, match="password authentication failed"):
            run_pairs(replace(run, servers=[replace(server, password="wrong")]), 60)
        with pytest.raises(WorkloadError, match="asks for a password"):
            run_pairs(replace(run, servers=[replace(server, password=None)]), 60)
    finally:
        hba.write_text(text)


def test_a_socket_of_somebody_else_is_refused(run: PairedRun) -> None:
    foreign = replace(run.servers[0], peer=54321)
    with pytest.raises(WorkloadError, match="belongs to a server of the user"):
        run_pairs(replace(run, servers=[foreign]), 60)


def test_the_processes_of_a_client_are_pinned_to_the_same_processor(run: PairedRun) -> None:
    process = PairedProcess(replace(run, pairs=None, duration=Seconds(600.0), pin=True))
    process.start()
    try:
        wait_for(lambda: "started" in process.events())
        found = [
            [psutil.Process(pid).cpu_affinity() for pid in of_client]
            for of_client in process.events()["connected"]["processes"]
        ]
    finally:
        process.stop()
    ours = sorted(os.sched_getaffinity(0))
    assert found == [[[ours[client % len(ours)]]] * 2 for client in range(2)]


@pytest.mark.parametrize("in_step", [False, True])
def test_a_signal_ends_it_in_order(
    run: PairedRun, clusters: tuple[Cluster, Cluster], in_step: bool
) -> None:
    process = PairedProcess(
        replace(run, pairs=None, duration=Seconds(600.0), clients=4, in_step=in_step)
    )
    process.start()
    try:
        wait_for(lambda: "started" in process.events())
        time.sleep(1)  # some pairs
        psutil.Process(process.pid).send_signal(signal.SIGTERM)
        result = process.wait(PATIENCE)
    finally:
        process.stop()
    assert result.summary["reason"] == "signal"
    assert result.summary["pairs"] == len(result.pairs) > 0
    wait_for(lambda: not clients_of(clusters))


def test_a_statement_that_does_not_end_is_cancelled_by_a_signal(
    run: PairedRun, clusters: tuple[Cluster, Cluster]
) -> None:
    sleeping = Script("sleeping.sql", False, "SELECT pg_sleep(600);")
    process = PairedProcess(replace(run, scripts=[(sleeping, 1)]))
    process.start()
    try:
        wait_for(lambda: len(clients_of(clusters)) == 4)
        began = time.monotonic()
        process.stop()
        assert 4.0 < time.monotonic() - began < PATIENCE, "not ten minutes"
    finally:
        process.stop()
    wait_for(lambda: not clients_of(clusters))


def test_a_server_that_goes_away_ends_the_clients(
    run: PairedRun, clusters: tuple[Cluster, Cluster]
) -> None:
    process = PairedProcess(replace(run, pairs=None, duration=Seconds(600.0)))
    process.start()
    try:
        wait_for(lambda: "started" in process.events())
        with clusters[1].connect() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'teiten-pairs'"
            )
        result = process.wait(PATIENCE)
    finally:
        process.stop()
    assert result.summary["reason"] == "aborted"
    assert {aborted["server"] for aborted in result.summary["aborted"]} == {1}
    assert {aborted["sqlstate"] for aborted in result.summary["aborted"]} <= {"57P01", None}


def test_results_of_any_size_need_no_memory(run: PairedRun) -> None:
    large = Script("large.sql", False, "SELECT repeat('x', 1000) FROM generate_series(1, 300000);")
    process = PairedProcess(replace(run, scripts=[(large, 1)], pairs=2))
    process.start()
    most = 0
    try:
        while process.events().get("ended") is None:
            with_memory = psutil.Process(process.pid)
            most = max(most, with_memory.memory_info().rss)
            time.sleep(0.01)
        assert len(process.wait(PATIENCE).pairs) == 4
    finally:
        process.stop()
    assert 0 < most < 100 * 1024**2


def test_a_large_statement_is_sent_whole(run: PairedRun) -> None:
    text = "x" * 3_000_000
    large = Script(
        "large.sql", False, f"SELECT length('{text}') AS own \\gset\nSELECT 1 / (:own - 2999999);"
    )
    result = run_pairs(replace(run, scripts=[(large, 1)], pairs=2), 60)
    assert result.summary["aborted"] == []


def loaded(cluster: Cluster) -> object:
    """When the postmaster last read its files, of which a new session knows."""
    with cluster.connect() as connection:
        return connection.execute("SELECT pg_conf_load_time()").fetchone()


def clients_of(clusters: tuple[Cluster, Cluster]) -> list[int]:
    """The servers' processes that serve the generator."""
    found = []
    for cluster in clusters:
        with cluster.connect() as connection:
            rows = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'teiten-pairs'"
            )
            found += [int(row[0]) for row in rows]
    return found


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
