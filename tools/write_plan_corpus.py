"""Write tests/plans/pgNN.json.gz: plans of real servers that the plan analysis is held against.

    PYTHONPATH=src python -m tools.write_plan_corpus [--missing] [VERSION…]

``--missing`` keeps the plans that are there and adds those of queries that are new.

Needs the installations of the versions (``teiten pg install 10 … 18``), and for the plans with JIT
a server that has it, such as Debian's. Every plan is of a server on this machine.
"""

from __future__ import annotations

import gzip
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import psycopg
from benchmarks.servers import new_server, passable_folder

from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.installations import find_installations
from teiten.host.system.paths import Workdir, default_workdir
from teiten.model.installation import Installation
from teiten.model.study import Setting
from teiten.model.text import Bilingual

HERE = Path(__file__).parent
TARGET = HERE.parent / "tests" / "plans"
USUAL = "ANALYZE, VERBOSE, BUFFERS"
SETTINGS = {
    "max_worker_processes": "16",
    "max_parallel_workers": "8",
    "autovacuum": "off",
    "track_io_timing": "on",
    "shared_buffers": "32MB",
    "fsync": "off",
}
FAR = """
CREATE EXTENSION postgres_fdw;
CREATE SERVER near FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host '{host}', port '{port}', dbname 'postgres');
CREATE SERVER nearer FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host '{host}', port '{port}', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER near;
CREATE USER MAPPING FOR CURRENT_USER SERVER nearer;
CREATE SCHEMA far;
IMPORT FOREIGN SCHEMA public LIMIT TO (customers, sales) FROM SERVER near INTO far;
CREATE TABLE far.halves (id int, day date, customer int, product int, amount numeric, note text)
  PARTITION BY RANGE (id);
CREATE FOREIGN TABLE far.first PARTITION OF far.halves FOR VALUES FROM (0) TO (20000)
  SERVER near OPTIONS (schema_name 'public', table_name 'sales');
CREATE FOREIGN TABLE far.second PARTITION OF far.halves FOR VALUES FROM (20000) TO (90000)
  SERVER nearer OPTIONS (schema_name 'public', table_name 'sales');
"""


def main(versions: list[str], *, missing: bool) -> None:
    TARGET.mkdir(exist_ok=True)
    for installation in chosen(versions):
        name = f"pg{installation.version.major}"
        jit = installation.name.startswith("system")
        name += "-jit" if jit else ""
        path = TARGET / f"{name}.json.gz"
        known = json.loads(gzip.decompress(path.read_bytes())) if missing else {}
        with passable_folder("teiten-corpus-") as folder:
            plans = explain_all(installation, folder, jit=jit, known=known)
        data = json.dumps(plans, ensure_ascii=False, indent=None, separators=(",", ":"))
        path.write_bytes(gzip.compress(data.encode(), 9, mtime=0))
        sys.stderr.write(f"{path.name}: {len(plans)} plans, {path.stat().st_size} bytes\n")


def chosen(versions: list[str]) -> list[Installation]:
    kept: dict[tuple[str, bool], Installation] = {}
    for installation in find_installations(Workdir(default_workdir())):
        if installation.postgres is None or float(installation.version.major) < 10:
            continue
        kept.setdefault(
            (installation.version.major, installation.name.startswith("system")), installation
        )
    return [
        installation
        for installation in kept.values()
        if not versions or installation.version.major in versions
    ]


def explain_all(
    installation: Installation, folder: Path, *, jit: bool, known: dict[str, Any]
) -> dict[str, Any]:
    queries = tomllib.loads((HERE / "plan_corpus.toml").read_text(encoding="utf-8"))
    nothing = Bilingual("", "")
    settings = [Setting(name, value, nothing, "corpus") for name, value in SETTINGS.items()]
    with new_server(installation, folder / "cluster", settings) as cluster:
        with cluster.connect() as connection:
            fill(connection, cluster)
        major = int(installation.version.major)
        return {
            name: known.get(name) or explain(cluster, queries["sets"], query, major)
            for name, query in queries["queries"].items()
            if major >= query.get("min", 10) and query.get("jit", False) == jit
        }


def fill(connection: psycopg.Connection[Any], cluster: Cluster) -> None:
    statements = (HERE / "plan_corpus.sql").read_text(encoding="utf-8")
    body, _, vacuum = statements.rpartition("VACUUM")
    connection.execute(body.encode())
    for statement in FAR.format(host=cluster.socket_directory, port=cluster.port).split(";\n"):
        if statement.strip():
            connection.execute(statement.encode())
    if connection.info.server_version >= 140000:
        for server in ("near", "nearer"):
            connection.execute(f"ALTER SERVER {server} OPTIONS (ADD async_capable 'true')".encode())
    connection.execute(("VACUUM" + vacuum).encode())


def explain(
    cluster: Cluster, sets: dict[str, Any], query: dict[str, Any], major: int
) -> dict[str, Any]:
    """Explained in a transaction that is rolled back, so that every query sees the same data."""
    options = query.get("options", USUAL)
    if major >= 12:
        options += ", SETTINGS"
    text = query["sql"] if major >= 12 else query["sql"].replace("AS MATERIALIZED", "AS")
    settings = {**sets[query.get("set", "serial")], **query.get("settings", {})}
    if major < 11:
        settings.pop("parallel_leader_participation", None)
    with cluster.connect() as connection, connection.transaction(force_rollback=True):
        for name, value in {"jit": "off", **settings}.items() if major >= 11 else settings.items():
            connection.execute("SELECT set_config(%s, %s, true)", (name, value))
        if query.get("jit"):
            connection.execute("SET LOCAL jit = on")
        if "before" in query:
            connection.execute(query["before"].encode())
        # As text, not as psycopg's JSON, which would lose keys that stand twice in an object.
        result = connection.pgconn.exec_(f"EXPLAIN ({options}, FORMAT JSON) {text}".encode())
        value = result.get_value(0, 0)
        if value is None:
            raise RuntimeError(f"{text}: {result.error_message.decode()}")
    return {"sql": text, "plan": value.decode().replace(str(cluster.socket_directory), "SOCKET")}


if __name__ == "__main__":
    main([word for word in sys.argv[1:] if word != "--missing"], missing="--missing" in sys.argv)
