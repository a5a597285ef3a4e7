"""Star Schema Benchmark data straight into real servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import psycopg
import pytest
from psycopg import sql

from teiten.connections import Conninfo, to_address
from teiten.datasets.ssb.rows import native
from teiten.datasets.ssb.rows.blocks import Watch
from teiten.datasets.ssb.rows.load import LOADING, MARK, LoadOptions, load
from teiten.datasets.ssb.rows.results import check_results, verify_sums
from teiten.errors import MachineError, ServerError, UsageError
from teiten.execute.postgres.cluster import Cluster
from teiten.model.ssb import Chunk, SsbData, SsbTable, SsbVariant, Written

pytest.importorskip("teiten_native", reason="the native part is not built: make native")
pytestmark = pytest.mark.pg()

SMALL = SsbData(0.01)


def tables(cluster: Cluster) -> set[str]:
    with cluster.connect() as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        ).fetchall()
    return {name for (name,) in found}


@pytest.mark.pg(">=18")
@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_databases_of_any_encoding_are_loaded(
    running_cluster: Cluster, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "SQL_ASCII")  # libpq's, which psycopg heeds too
    with running_cluster.connect() as connection:
        connection.execute(
            sql.SQL(
                "CREATE DATABASE other ENCODING {} LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
            ).format(sql.Literal(encoding))
        )
    dsn = Conninfo(running_cluster.conninfo("other").replace("client_encoding=UTF8", ""))
    told = Told()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE teiten_loading_part (a int)")
        connection.execute(sql.SQL("COMMENT ON TABLE teiten_loading_part IS {}").format(MARK))
    load(dsn, SMALL, LoadOptions(2), told)
    assert any("dropped teiten_loading_part" in note for note in told.notes)
    with psycopg.connect(dsn, autocommit=True, client_encoding="SQL_ASCII") as connection:
        connection.execute(b"COMMENT ON TABLE customer IS 'caf\xe9'")
    with pytest.raises(UsageError, match=r"table customer exists in .* \(caf"):
        load(dsn, SMALL, LoadOptions(), told)


class Told(Watch):
    """Keeps what people are told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


class At(Watch):
    """Does something once, when the first lineorders were sent."""

    def __init__(self, action: object) -> None:
        self.action = action
        self.done = threading.Event()

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        if table is SsbTable.LINEORDER and not self.done.is_set():
            self.done.set()
            self.action()  # type: ignore[operator]


def loading(dsn: str, streams: str) -> subprocess.Popen[str]:
    """A load by the command line that lasts for a while."""
    return subprocess.Popen(
        [sys.executable, "-m", "teiten", "-q", "data", "ssb", "--scale", "10", "--to", dsn,
         "--streams", streams, "--table", "lineorder"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_streams(cluster: Cluster, process: subprocess.Popen[str], streams: int) -> None:
    with cluster.connect() as connection:
        while process.poll() is None:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%'"
            ).fetchone()
            if row == (streams,):
                break
            time.sleep(0.05)


def recovered(cluster: Cluster) -> None:
    """Wait until the server takes connections again."""
    while True:
        with suppress(psycopg.OperationalError), cluster.connect():
            return
        time.sleep(0.1)


def test_what_is_loaded_is_what_the_text_holds(running_cluster: Cluster) -> None:
    written = load(running_cluster.conninfo("postgres"), SMALL, LoadOptions(3), Watch())
    assert {one.table: one.rows for one in written}[SsbTable.LINEORDER] == 60_175
    assert tables(running_cluster) == set(SsbTable)
    with running_cluster.connect() as connection:
        for table in SsbTable:
            source = native.rows(SMALL, table, "tbl", range(native.units(SMALL, table)))  # type: ignore[arg-type]
            buffer = bytearray(16 * 1024 * 1024)
            expected = bytes(buffer[: source.fill(buffer)]).decode().replace("|\n", "\n")
            with (
                connection.cursor() as cursor,
                cursor.copy(
                    sql.SQL(
                        "COPY (SELECT * FROM {} ORDER BY 1, 2) TO STDOUT (DELIMITER '|')"
                    ).format(sql.Identifier(table))
                ) as copy,
            ):
                assert b"".join(bytes(part) for part in copy).decode() == expected
        check_results(connection, SsbVariant.REFERENCE, 0.01, Watch())
        (comment,) = connection.execute(
            "SELECT obj_description('lineorder'::regclass, 'pg_class')"
        ).fetchone() or ("",)
        assert comment == "Star Schema Benchmark, scale factor 0.01, reference; loaded by Teiten"


@pytest.mark.pg(">=14")
def test_a_table_of_one_stream_is_frozen(running_cluster: Cluster) -> None:
    load(running_cluster.conninfo("postgres"), SMALL, LoadOptions(1), Watch())
    with running_cluster.connect() as connection:
        connection.execute("CREATE EXTENSION pg_visibility")
        row = connection.execute(
            "SELECT all_visible > 0, all_frozen = all_visible"
            " FROM pg_visibility_map_summary('lineorder')"
        ).fetchone()
    assert row == (True, True)


@pytest.mark.pg(">=18")
class TestOneServer:
    """What does not depend on the server's version."""

    def test_a_chunk_has_a_table_of_its_own(self, running_cluster: Cluster) -> None:
        for number in (1, 2):
            data = SsbData(0.01, SsbVariant.REPORTS, (SsbTable.LINEORDER,), Chunk(number, 2))
            load(running_cluster.conninfo("postgres"), data, LoadOptions(2), Watch())
        with running_cluster.connect() as connection:
            row = connection.execute(
                "SELECT (SELECT count(*) FROM lineorder_1_of_2)"
                " + (SELECT count(*) FROM lineorder_2_of_2)"
            ).fetchone()
        assert row == (60_175,)

    def test_wide_keys(self, running_cluster: Cluster) -> None:
        data = SsbData(1000, tables=(SsbTable.LINEORDER,), chunk=Chunk(1_000_000, 1_000_000))
        load(running_cluster.conninfo("postgres"), data, LoadOptions(1), Watch())
        with running_cluster.connect() as connection:
            row = connection.execute(
                "SELECT max(lo_orderkey) FROM lineorder_1000000_of_1000000"
            ).fetchone()
        assert row == (6_000_000_000,)

    @pytest.mark.parametrize("variant", list(SsbVariant))
    @pytest.mark.parametrize(
        ("tables", "told"),
        [
            (tuple(SsbTable), "column sums and the results of the 13 queries"),
            ((SsbTable.PART, SsbTable.DATE), "the numbers of rows, column sums"),
        ],
    )
    def test_what_is_verified_is_told(
        self,
        running_cluster: Cluster,
        variant: SsbVariant,
        tables: tuple[SsbTable, ...],
        told: str,
    ) -> None:
        watch = Told()
        data = SsbData(0.01, variant, tables)
        load(running_cluster.conninfo("postgres"), data, LoadOptions(1), watch)
        (note,) = watch.notes
        assert note.startswith("verified in the server: ") and note.endswith(told)

    def test_the_command_line_tells_rows_and_what_was_verified(
        self, running_cluster: Cluster
    ) -> None:
        ended = subprocess.run(
            [sys.executable, "-m", "teiten", "data", "ssb", "--scale", "0.01",
             "--to", running_cluster.conninfo("postgres")],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        assert ended.stdout.splitlines()[-1] == "lineorder\t60175 rows"
        assert ended.stderr.strip().endswith("and the results of the 13 queries")

    def test_wrong_results_leave_nothing(self, running_cluster: Cluster) -> None:
        class Meddling(Watch):
            def step(self, text: str) -> None:
                if text == "verifying lineorder":  # after date
                    with running_cluster.connect() as connection:
                        connection.execute(f"UPDATE {LOADING}date SET d_year = d_year + 1")

        dsn = running_cluster.conninfo("postgres")
        with pytest.raises(ServerError, match=r"^q1\.1 gives 1 rows \(MD5 \w+\), not 1 \(\w+\)$"):
            load(dsn, SMALL, LoadOptions(2), Meddling())
        assert tables(running_cluster) == set()

    def test_too_large_for_the_disk(self, running_cluster: Cluster) -> None:
        dsn = running_cluster.conninfo("postgres")
        with pytest.raises(MachineError, match=r"take about 64\d\d\.\d GB, and /.* GB free"):
            load(dsn, SsbData(10_000), LoadOptions(2), Watch())
        assert tables(running_cluster) == set()

    def test_an_existing_table_is_left_alone(self, running_cluster: Cluster) -> None:
        with running_cluster.connect() as connection:
            connection.execute("CREATE TABLE date (mine int)")
        with pytest.raises(UsageError, match="table date exists") as raised:
            load(running_cluster.conninfo("postgres"), SMALL, LoadOptions(1), Watch())
        assert "DROP TABLE date" in raised.value.hint
        assert tables(running_cluster) == {"date"}

    def test_a_second_load_says_what_is_there(self, running_cluster: Cluster) -> None:
        dsn = running_cluster.conninfo("postgres")
        load(dsn, SMALL, LoadOptions(1), Watch())
        there = r"\(Star Schema Benchmark, scale factor 0\.01, reference; loaded by Teiten\)$"
        with pytest.raises(UsageError, match=f"^table customer exists in the server.* {there}"):
            load(dsn, SsbData(0.1), LoadOptions(1), Watch())

    def test_somebody_s_table_with_our_prefix_is_left_alone(self, running_cluster: Cluster) -> None:
        with running_cluster.connect() as connection:
            connection.execute(f"CREATE TABLE {LOADING}part (mine int)")
        with pytest.raises(ServerError, match="refused"):
            load(running_cluster.conninfo("postgres"), SMALL, LoadOptions(1), Watch())
        assert tables(running_cluster) == {f"{LOADING}part"}

    def test_what_was_left_is_dropped_by_the_next_call(self, running_cluster: Cluster) -> None:
        with running_cluster.connect() as connection:
            connection.execute(f"CREATE TABLE {LOADING}lineorder (left_over int)")
            connection.execute(f"COMMENT ON TABLE {LOADING}lineorder IS '{MARK}'")
        watch = Told()
        load(running_cluster.conninfo("postgres"), SMALL, LoadOptions(2), watch)
        assert watch.notes[0] == (
            f"dropped {LOADING}lineorder, which an earlier load had left unfinished;"
            " this one starts from the beginning"
        )
        assert tables(running_cluster) == set(SsbTable)

    @pytest.mark.parametrize("streams", [1, 2])
    def test_a_lost_connection_leaves_nothing(self, running_cluster: Cluster, streams: int) -> None:
        def terminate() -> None:
            with running_cluster.connect() as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE query LIKE 'COPY%'"
                )

        data = SsbData(0.1)
        dsn = running_cluster.conninfo("postgres")
        with pytest.raises(ServerError, match="the connection was lost"):
            load(dsn, data, LoadOptions(streams), At(terminate))
        assert tables(running_cluster) == set()

    def test_a_lost_connection_is_told_once(self, running_cluster: Cluster) -> None:
        with loading(running_cluster.conninfo("postgres"), "2") as process:
            wait_for_streams(running_cluster, process, 2)
            with running_cluster.connect() as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE query LIKE 'COPY%'"
                )
            _, stderr = process.communicate(timeout=300)
        assert process.returncode == 3
        assert [line.split(":")[0] for line in stderr.splitlines()] == ["error", "hint"]

    def test_a_stopped_server_is_told_and_nothing_has_its_name(
        self, running_cluster: Cluster
    ) -> None:
        dsn = running_cluster.conninfo("postgres")
        with pytest.raises(ServerError, match="cannot be reached, or the connection was lost"):
            load(
                dsn,
                SsbData(0.1),
                LoadOptions(2),
                At(lambda: running_cluster.stop(immediately=True)),
            )
        running_cluster.start()
        assert not tables(running_cluster) & set(SsbTable)
        load(running_cluster.conninfo("postgres"), SMALL, LoadOptions(2), Watch())
        assert tables(running_cluster) == set(SsbTable)

    def test_a_crash_is_told_and_the_next_load_goes_on(self, running_cluster: Cluster) -> None:
        def kill() -> None:
            with running_cluster.connect() as connection:
                (pid,) = connection.execute(
                    "SELECT pid FROM pg_stat_activity WHERE query LIKE 'COPY%'"
                ).fetchone() or (0,)
                assert pid
                os.kill(pid, signal.SIGKILL)

        dsn = running_cluster.conninfo("postgres")
        with pytest.raises(ServerError, match="the connection was lost") as raised:
            load(dsn, SsbData(0.1), LoadOptions(2), At(kill))
        assert "run the same command again" in raised.value.hint
        recovered(running_cluster)
        assert not tables(running_cluster) & set(SsbTable)
        load(dsn, SMALL, LoadOptions(2), Watch())
        assert tables(running_cluster) == set(SsbTable)

    def test_what_a_killed_teiten_left_is_dropped(self, running_cluster: Cluster) -> None:
        dsn = running_cluster.conninfo("postgres")
        with loading(dsn, "2") as process:
            wait_for_streams(running_cluster, process, 2)
            process.kill()
            process.communicate(timeout=300)
        assert tables(running_cluster) == {f"{LOADING}lineorder"}
        watch = Told()
        load(dsn, SsbData(0.01, tables=(SsbTable.LINEORDER,)), LoadOptions(2), watch)
        assert watch.notes[0].startswith(f"dropped {LOADING}lineorder")
        assert tables(running_cluster) == {"lineorder"}

    def test_a_load_that_still_runs_is_left_alone(self, running_cluster: Cluster) -> None:
        dsn = running_cluster.conninfo("postgres")
        with loading(dsn, "2") as process:
            wait_for_streams(running_cluster, process, 2)
            with pytest.raises(UsageError, match="another teiten is loading"):
                load(dsn, SMALL, LoadOptions(2), Watch())
            assert tables(running_cluster) == {f"{LOADING}lineorder"}
            process.terminate()
            process.communicate(timeout=300)
        assert (process.returncode, tables(running_cluster)) == (130, set())

    @pytest.mark.parametrize("streams", ["1", "2"])
    def test_an_interruption_leaves_nothing(self, running_cluster: Cluster, streams: str) -> None:
        dsn = running_cluster.conninfo("postgres")
        with loading(dsn, streams) as process:
            wait_for_streams(running_cluster, process, int(streams))
            os.kill(process.pid, signal.SIGINT)
            _, stderr = process.communicate(timeout=300)
        assert (process.returncode, stderr.strip()) == (130, "interrupted")
        assert tables(running_cluster) == set()

    def test_other_rows_than_were_sent_are_told(self, running_cluster: Cluster) -> None:
        (written,) = load(
            running_cluster.conninfo("postgres"),
            SsbData(0.01, tables=(SsbTable.SUPPLIER,)),
            LoadOptions(1),
            Watch(),
        )
        columns = native.columns(SMALL, SsbTable.SUPPLIER)
        with running_cluster.connect() as connection:
            verify_sums(connection, "supplier", columns, written)
            more = Written(written.table, written.rows + 1, written.sums)
            with pytest.raises(ServerError, match="the number of rows is 20, not 21"):
                verify_sums(connection, "supplier", columns, more)
            connection.execute("UPDATE supplier SET s_city = s_city || '!' WHERE s_suppkey = 7")
            with pytest.raises(ServerError, match="the sum of s_city is 201, not 200"):
                verify_sums(connection, "supplier", columns, written)

    def test_no_server_and_no_right(self, running_cluster: Cluster) -> None:
        with pytest.raises(ServerError, match="cannot be reached"):
            load(to_address("host=/nowhere dbname=x", {}), SMALL, LoadOptions(1), Watch())
        with running_cluster.connect() as connection:
            connection.execute("CREATE ROLE reader LOGIN")
        dsn = Conninfo(f"{running_cluster.conninfo('postgres')} user=reader")
        with pytest.raises(ServerError, match=r"refused: permission denied for schema public"):
            load(dsn, SMALL, LoadOptions(1), Watch())
