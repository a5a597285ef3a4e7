"""Servers that Teiten did not start: TCP on loopback, scram, roles without many rights."""

from __future__ import annotations

import json
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from teiten.errors import ServerError, UsageError
from teiten.execute.postgres.programs import run_program
from teiten.execute.sites.attached.asking import ask
from teiten.execute.sites.attached.connection import Route, passed_on
from teiten.execute.sites.attached.databases import Databases, notes
from teiten.host.facts.native_part import why_no_pairs
from teiten.host.system.paths import Workdir
from teiten.kinds.probes.measurement import measurement_of
from teiten.kinds.queries.plan_numbers import unpacked
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from teiten.model.trial import Outcome
from tests.fixtures.attached import (
    ADMIN,
    CREATOR,
    READER,
    StrangeServer,
    skip_without_encrypting_pgbench,
    strange_server,
)
from tests.fixtures.campaigns import PACED, PATIENCE, Teiten, kill, rests_of, step_of
from tests.fixtures.schemas import described
from tests.fixtures.servers import left_processes, open_folder

Find = Callable[[str], Installation]
WORK_MEM = "SELECT 1 / (current_setting('work_mem') = '7MB')::int;\n"
STUDY = """
[study]
name = "attached"
title = "Attached servers"
question = "Does it work?"
contrast = "server"

[factors]
server = [{levels}]
clients = [1]

[servers]
{servers}

[[workloads]]
name = "tpcb-like"
title = "TPC-B like"
script = "paced.sql"
scale = 1
changes_data = true
invariants = ["tpcb-balances"]

[[workloads]]
name = "work-mem"
title = "Fails where the parameter is not set"
script = {script}
scale = 1
changes_data = false

[settings]
work_mem = "7MB"
shared_buffers = "64MB"

[measure]
duration = "{seconds}s"
warmup = "0s"
settle = "0s"
blocks = {blocks}
disturbed_share = "100%"
"""


@pytest.fixture(scope="module")
def strange(installation: Find) -> Iterator[StrangeServer]:
    with strange_server(installation("18")) as server:
        yield server
        assert server.databases() == ["teiten_production"] or not server.databases()


@pytest.fixture
def teiten(strange: StrangeServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Teiten]:
    """The program in an empty working folder; after it nothing but the strange server runs."""
    monkeypatch.setenv("PGPASSWORD", strange.password)
    with open_folder("teiten-test-") as folder:
        workdir = Workdir(folder)
        workdir.prepare()
        yield Teiten.prepared(workdir)
        left = [line for line in left_processes([folder]) if "/teiten-strange-" not in line]
        assert not left, "processes are left after the test:\n" + "\n".join(left)


def study(teiten: Teiten, servers: dict[str, str], *, blocks: int = 2, seconds: int = 1) -> Path:
    path = teiten.workdir.root / "attached.toml"
    text = STUDY.format(
        levels=", ".join(json.dumps(name) for name in servers),
        servers="\n".join(f"{name} = {json.dumps(one)}" for name, one in servers.items()),
        script=json.dumps(WORK_MEM),
        blocks=blocks,
        seconds=seconds,
    )
    path.write_text(text, encoding="utf-8")
    (path.parent / "paced.sql").write_text(PACED, encoding="utf-8")
    return path


def assert_nowhere(password: str, folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and "installations" not in path.parts:
            assert password.encode() not in path.read_bytes(), path


def test_attached_servers_are_measured_against_one_another_and_our_own(
    teiten: Teiten, strange: StrangeServer, installation: Find
) -> None:
    own = str(installation("18").bin_directory)
    servers = {"own": own, "plain": strange.address(CREATOR), "super": strange.address(ADMIN)}
    words = ("--yes", "--json", "--set", "study.conclusive=no")
    process = teiten.start("run", study(teiten, servers, blocks=1), *words)
    teiten.wait_for(process, step_of(1, "start"))
    seen: list[str] = []
    while process.poll() is None and not any("host=" in line for line in seen):
        seen = [" ".join(one.cmdline()) for one in teiten.processes("pgbench")]
        time.sleep(0.05)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert seen and not any(strange.password in line for line in seen)
    assert described("run", output)["complete"]
    by_level: dict[str, list[dict[str, Any]]] = {}
    plan = levels_of_trials(teiten)
    for trial in teiten.trials():
        assert trial.outcome is not Outcome.FAILED, trial.problems
        assert trial.metrics["tps"] > 0 and trial.metrics["server_cpu_share"] >= 0
        by_level.setdefault(plan[trial.number], []).append(trial.facts)
    assert {facts["session_settings"]["work_mem"] for facts in by_level["plain"]} == {"7MB"}
    steps = [
        (plan[one.trial], one.detail) for one in teiten.events() if one.kind == "step" and one.trial
    ]
    prewarmed = {level: detail["prewarmed"] for level, detail in steps if "prewarmed" in detail}
    assert prewarmed == {"own": True, "plain": False, "super": True}
    checkpoints = {level: detail["checkpoint"] for level, detail in steps if "checkpoint" in detail}
    assert checkpoints == {"plain": False, "super": True}
    assert_nowhere(strange.password, teiten.workdir.root)
    assert strange.password not in errors + output
    assert not strange.databases() and not list(notes(teiten.workdir.attached))


QUERIES = """
[study]
name = "attached-queries"
title = "Queries on attached servers"
question = "Does it answer alike?"
contrast = "server"

[factors]
server = ["own", "plain", "super"]

[servers]
{servers}

[[workloads]]
name = "mine"
title = "Mine"
queries = "mine"
changes_data = false
[workloads.data]
script = "tables.sql"

[settings]
work_mem = "7MB"

[measure]
settle = "0s"
blocks = 1
repeats = 0
disturbed_share = "100%"
"""
TABLES = """
CREATE TABLE t AS SELECT g AS id, g % 10 AS kind FROM generate_series(1, 20000) g;
CREATE INDEX t_id ON t (id);
"""


def queries_study(teiten: Teiten, servers: dict[str, str], queries: dict[str, str]) -> Path:
    root = teiten.workdir.root
    (root / "mine").mkdir()
    for name, text in queries.items():
        (root / "mine" / f"{name}.sql").write_text(text, encoding="utf-8")
    (root / "tables.sql").write_text(TABLES, encoding="utf-8")
    named = "\n".join(f"{name} = {json.dumps(one)}" for name, one in servers.items())
    path = root / "queries.toml"
    path.write_text(QUERIES.format(servers=named), encoding="utf-8")
    return path


def test_queries_are_timed_on_attached_servers_as_on_our_own(
    teiten: Teiten, strange: StrangeServer, installation: Find
) -> None:
    own = str(installation("18").bin_directory)
    servers = {"own": own, "plain": strange.address(CREATOR), "super": strange.address(ADMIN)}
    queries = {
        "count": "SELECT kind, count(*) FROM t GROUP BY kind",
        "memory": "SELECT current_setting('work_mem')",
        "wrong": "SELECT current_user",
    }
    path = queries_study(teiten, servers, queries)
    words = ("--yes", "--json", "--seed", "3", "--set", "study.conclusive=no")
    result = teiten.run("run", path, *words)
    assert result.returncode == 4, result.stderr
    plan = levels_of_trials(teiten)
    sound = [trial for trial in teiten.trials() if trial.facts["query"] != "wrong"]
    assert len(sound) == 6 and {plan[trial.number] for trial in sound} == set(servers)
    for trial in sound:
        assert trial.outcome is Outcome.COUNTED, trial.problems
        assert trial.metrics["query_seconds"] == trial.facts["timings"][0] > 0
        assert "disk_read_bytes" not in trial.metrics or plan[trial.number] == "own"
        explained = unpacked(trial.facts["plan"])
        assert explained is not None and explained.analysed
    for name, rows in (("count", 10), ("memory", 1)):
        of_query = [trial.facts for trial in sound if trial.facts["query"] == name]
        assert {facts["rows"] for facts in of_query} == {rows}
        assert len({facts["checksum"] for facts in of_query}) == 1
    wrong = [trial for trial in teiten.trials() if trial.facts["query"] == "wrong"]
    assert {problem.code for trial in wrong for problem in trial.problems} == {"wrong-answer"}
    assert_nowhere(strange.password, teiten.workdir.root)
    assert not strange.databases() and not list(notes(teiten.workdir.attached))


def levels_of_trials(teiten: Teiten) -> dict[int, str]:
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        return {trial.number: trial.cell.level("server") or "" for trial in ledger.plan.trials}


SLEEP = "SELECT pg_sleep(current_setting('teiten.milliseconds')::float8 / 1000);\n"


@pytest.mark.skipif(why_no_pairs() is not None, reason="the native part is not built: make native")
def test_two_attached_servers_are_loaded_in_paired_transactions(
    teiten: Teiten, strange: StrangeServer
) -> None:
    script = teiten.workdir.root / "sleep.sql"
    script.write_text(SLEEP, encoding="ascii")
    words = (
        *("--way", "pairs", "--clients", "2", "--duration", "1s", "--blocks", "2", "--yes"),
        *("--script", str(script), "--set", "scale=1", "--set", "settle=1s"),
        *("--set", "changes_data=yes", "--set", "warmup=0s", "--set", "disturbed_share=100%"),
        *("--guc-a", "teiten.milliseconds=20", "--guc-b", "teiten.milliseconds=40"),
    )
    sides = (f"plain={strange.address(CREATOR)}", f"super={strange.address(ADMIN)}")
    result = teiten.run("ab", *sides, *words)
    assert result.returncode == 0, result.stderr
    trials = teiten.trials()
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED] * 4
    assert rests_of(teiten) == [0.0, 1.0] * 2
    for trial in trials:
        assert trial.facts["way"] == "pairs" and not trial.facts["pinned_pairs"]
        assert trial.facts["session_settings"]["teiten.milliseconds"] in {"20", "40"}
    tps = {trial.number: trial.metrics["tps"] for trial in trials}
    sizes = sorted(tps.values())
    assert sizes[1] < 0.75 * sizes[2], "each side had its own parameter"
    page = report_of(teiten, "en")
    assert "start anew" not in page and "Each client has a connection to every side" in page
    assert_nowhere(strange.password, teiten.workdir.root)
    assert not strange.databases() and not list(notes(teiten.workdir.attached))
    own = teiten.run("ab", "18", sides[1], *words)
    assert own.returncode == 2 and "--way classic" in own.stderr


@pytest.fixture(scope="module")
def another(installation: Find) -> Iterator[StrangeServer]:
    with strange_server(installation("17")) as server:
        yield server
        assert not server.databases()


ENCRYPTED = """
SELECT 1 / (SELECT ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid());
SELECT pg_sleep(0.005);
"""
"""It fails where a connection is in clear."""
VERIFIED = "?sslmode=verify-full&sslrootcert={}&channel_binding=require"
"""Channel binding is SCRAM's: with another way the server is refused."""


@pytest.mark.skipif(why_no_pairs() is not None, reason="the native part is not built: make native")
def test_two_servers_that_are_verified_are_loaded_in_paired_transactions(
    teiten: Teiten, strange: StrangeServer, another: StrangeServer
) -> None:
    """By TLS with each server's own certificate, and SCRAM with each one's own password."""
    skip_without_encrypting_pgbench()  # which fills the tables
    servers = {"production": strange, "candidate": another}
    root, addresses = teiten.workdir.root, dict[str, str]()
    for name, server in servers.items():
        if not server.certificate.exists():
            pytest.skip("openssl, which makes the certificate, is not here")
        certificate = root / f"{name}.crt"
        shutil.copyfile(server.certificate, certificate)
        addresses[name] = server.address(
            CREATOR, password=True, options=VERIFIED.format(certificate)
        )
    script = root / "encrypted.sql"
    script.write_text(ENCRYPTED, encoding="ascii")
    words = (
        *("--way", "pairs", "--clients", "2", "--duration", "1s", "--blocks", "2", "--yes"),
        *("--script", str(script), "--set", "scale=1", "--set", "settle=0s", "--json"),
        *("--set", "warmup=0s", "--set", "disturbed_share=100%"),
    )
    swapped = addresses["candidate"].replace("candidate.crt", "production.crt")
    sides = [f"{name}={address}" for name, address in addresses.items()]
    refused = teiten.run("ab", sides[0], f"candidate={swapped}", *words)
    assert refused.returncode == 3 and "certificate verify failed" in refused.stderr
    assert not list(teiten.workdir.campaigns.iterdir())
    result = teiten.run("ab", *sides, *words)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["way"] == "pairs"
    trials = teiten.trials()
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED] * 4
    assert all(trial.metrics["transactions"] > 10 for trial in trials)
    assert {server.version.major for _, server in teiten.plan().servers} == {"17", "18"}
    for server in servers.values():
        assert_nowhere(server.password, root)
        assert server.password not in result.stdout + result.stderr + refused.stderr
        assert not server.databases()


def test_probes_that_need_no_restart_run_on_attached_servers(
    teiten: Teiten, strange: StrangeServer
) -> None:
    words = (
        *("run", "buffers", "--profile", "quick", "--blocks", "1", "--yes", "--set", "share=5%"),
        *("--set", "disturbed_share=100%", "--servers", f"prod={strange.address(ADMIN)}"),
    )
    before = strange.settings()
    result = teiten.run(*words)
    assert result.returncode == 0, result.stderr
    for left in ("clock-sweep", "working-set, after-scan", "os-cache-read", "checkpoint"):
        assert f"Left out on the server prod: {left}" in result.stderr.replace("\n", " ")
    found = {one.facts["probe"]: one for one in teiten.trials()}
    assert set(found) == {"buffer-read", "clients-buffers", "update"}
    for name, one in found.items():
        assert one.outcome is Outcome.COUNTED, (name, one.problems)
    measured = measurement_of(found["buffer-read"].facts)
    assert measured is not None and measured.measured[0].statements
    assert all(statement.read == 0 for statement in measured.measured[0].statements)
    assert measured.measured[0].pages == measured.shared_buffers * 9 // 10 // 8192
    pages = {one: report_of(teiten, one) for one in ("en", "ja")}
    assert (
        "One server was measured as it is, prod with shared_buffers of 128\u00a0MiB" in pages["en"]
    )
    assert "Left out on the server prod: clock-sweep" in pages["en"]
    assert "all that the machine has" not in pages["en"], "its memory is not known"
    assert "測定したのはprodの1台（shared_buffersは128\u00a0MiB）だけ" in pages["ja"]
    assert "次を除外した: clock-sweep" in pages["ja"]
    assert strange.settings() == before and not strange.databases()


def report_of(teiten: Teiten, language: str) -> str:
    return (teiten.campaign() / "report" / f"report.{language}.html").read_text(encoding="utf-8")


def test_a_lost_connection_is_a_failed_trial_and_the_campaign_goes_on(
    teiten: Teiten, strange: StrangeServer
) -> None:
    servers = {"a": strange.address(CREATOR), "b": strange.address(CREATOR)}
    file = study(teiten, servers, blocks=1, seconds=3)
    words = ("--yes", "--set", "workloads=work-mem", "--set", "study.conclusive=no")
    process = teiten.start("run", file, *words)
    teiten.wait_for(process, step_of(1, "warm-up"))
    with strange.connect() as connection:
        while not connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE usename = %s AND application_name = 'pgbench'"
            " AND backend_start < clock_timestamp() - interval '0.5 s'",
            (CREATOR,),
        ).fetchone()[0]:  # type: ignore[index]
            time.sleep(0.02)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    failed = [trial for trial in teiten.trials() if trial.outcome is Outcome.FAILED]
    assert [trial.number for trial in failed] == [1]
    assert failed[0].problems[0].code in {"pgbench-failed", "measure-failed"}
    assert len(teiten.trials()) == 4, "the pair was run again, as a whole"
    assert not strange.databases()


def test_clean_drops_what_a_killed_one_left_and_nothing_else(
    teiten: Teiten, strange: StrangeServer
) -> None:
    with strange.connect(CREATOR) as connection:
        connection.execute("CREATE DATABASE teiten_production")
    servers = {"a": strange.address(CREATOR), "b": strange.address(ADMIN)}
    process = teiten.start("run", study(teiten, servers, seconds=5), "--yes")
    teiten.wait_for(process, lambda event: event.kind == "template-ready")
    kill(process)
    left = strange.databases()
    assert len(left) > 1
    listed = teiten.run("clean", "--databases", "--dry-run")
    assert all(name in listed.stdout for name in left if name != "teiten_production")
    result = teiten.run("clean", "--databases", "--yes")
    assert result.returncode == 0, result.stderr
    assert strange.databases() == ["teiten_production"]
    assert not list(notes(teiten.workdir.attached))


def test_it_is_refused_without_a_yes_where_nobody_can_be_asked(
    teiten: Teiten, strange: StrangeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD")
    words = ("--servers", f"18,prod={strange.address(CREATOR, password=True)}")
    result = teiten.run("run", "observe", "--profile", "quick", *words, "--set", "scale=1")
    assert result.returncode == 2
    assert "error: Teiten asks before it makes databases" in result.stderr
    assert strange.password not in result.stderr
    assert not list(teiten.workdir.campaigns.iterdir())
    planned = teiten.run("plan", "observe", "--profile", "quick", *words, "--set", "scale=1")
    assert planned.returncode == 0, planned.stderr
    assert "attached: postgresql://creator@127.0.0.1" in planned.stdout
    assert strange.password not in planned.stdout
    varied = teiten.run("plan", "observe", *words, "--set", "guc:shared_buffers=64MB,1GB")
    assert varied.returncode == 2
    assert "error: guc:shared_buffers: the server prod is attached" in varied.stderr


def test_a_role_that_may_not_create_databases_is_told_so(strange: StrangeServer) -> None:
    route = Route("prod", strange.address(READER), strange.password)
    with pytest.raises(ServerError) as raised:
        ask(route, ())
    assert "the role reader may not create databases on the server prod" in raised.value.message
    assert "ALTER ROLE reader CREATEDB" in raised.value.hint


def test_a_wrong_password_is_not_repeated(strange: StrangeServer) -> None:
    wrong = "correct horse battery"
    with pytest.raises(ServerError) as raised:
        ask(Route("prod", strange.address(CREATOR), wrong), ())
    assert "password authentication failed" in raised.value.message
    assert "PGPASSWORD" in raised.value.hint
    assert wrong not in raised.value.message + raised.value.hint


def test_a_missing_password_is_asked_for(
    strange: StrangeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", "/nonexistent")
    with pytest.raises(ServerError, match="cannot be used") as raised:
        ask(Route("prod", strange.address(CREATOR)), ())
    assert raised.value.hint.startswith("it wants a password")


def test_a_password_file_and_a_service_file_are_used(
    strange: StrangeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords, services = tmp_path / "pgpass", tmp_path / "services"
    passwords.write_text(f"127.0.0.1:*:*:{CREATOR}:{strange.password}\n", encoding="ascii")
    passwords.chmod(0o600)
    services.write_text(
        f"[prod]\nhost=127.0.0.1\nport={strange.port}\nuser={CREATOR}\ndbname=postgres\n"
        "sslmode=disable\n",
        encoding="ascii",
    )
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    found = ask(Route("prod", "postgresql://?service=prod"), ("work_mem", "shared_buffers"))
    server = found.attached
    assert server is not None and server.role == CREATOR and not server.superuser
    assert server.local and server.loopback and not server.encrypted
    work_mem = server.parameter("work_mem")
    assert work_mem is not None and work_mem.by_session
    buffers = server.parameter("shared_buffers")
    assert buffers is not None and not buffers.by_session


def test_an_address_of_several_servers_stays_one_of_several(strange: StrangeServer) -> None:
    """psycopg tells of the one that it has chosen."""
    several = f"127.0.0.1:{strange.port},localhost:{strange.port}"
    address = f"postgresql://{CREATOR}@{several}/postgres?sslmode=disable"
    route = Route("prod", address, strange.password)
    with route.connect() as connection:
        assert connection.info.host == "127.0.0.1"
        conninfo = passed_on(connection, route, "x")
    assert f"host=127.0.0.1,localhost port={strange.port},{strange.port}" in conninfo


def test_ssl_options_pass_through(strange: StrangeServer, tmp_path: Path) -> None:
    if not strange.certificate.exists():
        pytest.skip("no openssl to make a certificate with")
    root = tmp_path / "root.crt"
    root.write_bytes(strange.certificate.read_bytes())
    options = f"?sslmode=verify-full&sslrootcert={root}"
    route = Route("prod", strange.address(CREATOR, options=options), strange.password)
    found = ask(route, ()).attached
    assert found is not None and found.encrypted
    with route.connect() as connection:
        conninfo = passed_on(connection, route, "x")
    assert "sslmode=verify-full" in conninfo and f"sslrootcert={root}" in conninfo
    assert "dbname=x" in conninfo and strange.password not in conninfo
    chosen = skip_without_encrypting_pgbench()
    run_program(
        [chosen.path, "--initialize", "--init-steps=d", conninfo.replace("=x", "=postgres")],
        what="pgbench",
        library_path=chosen.library_path,
        environment={"PGPASSWORD": strange.password},
        hint="see the server's log",
    )


def test_a_host_that_cannot_be_reached_is_named() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        with pytest.raises(ServerError) as raised:
            ask(Route("prod", f"postgresql://bob@127.0.0.1:{port}/postgres"), ())
    assert f"the server prod (postgresql://bob@127.0.0.1:{port}/postgres)" in raised.value.message
    assert "refused" in raised.value.message
    assert raised.value.hint.startswith("see whether psql reaches it")


def test_an_address_that_cannot_be_read_is_a_wrong_usage() -> None:
    with pytest.raises(UsageError, match="the address of the server prod cannot be read"):
        ask(Route("prod", "postgresql://bob@host:5432/x?sslmoud=1"), ())


@pytest.mark.pg
def test_databases_are_made_copied_and_dropped_in_every_version(
    server_installation: Installation, tmp_path: Path
) -> None:
    with strange_server(server_installation) as server:
        route = Route("prod", server.address(CREATOR), server.password)
        assert ask(route, ("work_mem",)).version == server_installation.version
        databases = Databases(route, tmp_path, "test")
        original = databases.create()
        copy = databases.copy(original)
        assert server.databases() == sorted([original, copy])
        with server.connect() as connection:
            connection.execute(f"COMMENT ON DATABASE {copy} IS 'mine'")
        with pytest.raises(ServerError, match="does not carry Teiten's mark"):
            databases.drop(copy)
        with server.connect() as connection:
            connection.execute(f"DROP DATABASE {copy}")
        with route.connect(original):
            databases.drop_left()
        assert not server.databases() and not list(notes(tmp_path))
