"""Tables from pg_dump: its plain form as it is, its archives by a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.datasets.sql import has_rows, hint_for, parts_of
from teiten.kinds.pgbench.load.output import other_tables
from teiten.study.scripts import read_archives_by, read_script

DUMP = """--
-- PostgreSQL database dump
--
\\restrict abc

SET statement_timeout = 0;
SET transaction_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);

CREATE TABLE public.t (a integer, b text);

COPY public.t (a, b) FROM stdin;
1\tone; -- no comment
2\t\\N
SET transaction_timeout = 0;
\\.

ALTER TABLE ONLY public.t ADD PRIMARY KEY (a);
\\unrestrict abc
"""


def test_a_dump_is_statements_and_rows() -> None:
    before, rows, after = parts_of(DUMP, {"statement_timeout"})
    assert "SET statement_timeout = 0;" in before.sql
    assert "transaction_timeout" not in before.sql and "restrict" not in before.sql
    assert rows.sql == "COPY public.t (a, b) FROM stdin;"
    assert rows.rows == "1\tone; -- no comment\n2\t\\N\nSET transaction_timeout = 0;\n"
    assert after.sql.strip() == "ALTER TABLE ONLY public.t ADD PRIMARY KEY (a);"


@pytest.mark.parametrize(
    "script", ["SELECT 1;\n", "COPY t FROM '/tmp/x';\n", "DO $$\nCOPY t FROM stdin;\n$$;\n", ""]
)
def test_other_scripts_stay_one_part_as_they_stand(script: str) -> None:
    assert not has_rows(script)
    assert [part.sql for part in parts_of(script)] == [script]


def test_an_empty_table_is_copied_without_rows() -> None:
    (part,) = parts_of("COPY t (a) FROM stdin;\n\\.\n")
    assert part.rows == ""


def test_an_archive_is_read_by_whoever_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop.dump").write_bytes(b"PGDMP\x01\x10\x00\x04")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "toc.dat").write_bytes(b"PGDMP\x01\x10\x00\x03")
    (tmp_path / "other").mkdir()
    monkeypatch.setattr("teiten.study.scripts._readers", [])
    with pytest.raises(ValueError, match=r"shop\.dump is an archive of pg_dump's, and no SQL"):
        read_script("shop.dump", workload="data", folders=(tmp_path,))
    read: list[str] = []

    def reader(archive: Path) -> str:
        read.append(archive.name)
        return "CREATE TABLE t ();\n"

    read_archives_by(reader)
    for name in ("shop.dump", "shop", "shop"):
        script = read_script(name, workload="data", folders=(tmp_path,))
        assert (script.name, script.text) == (name, "CREATE TABLE t ();\n")
    assert read == ["shop.dump", "shop"]
    with pytest.raises(ValueError, match="there is no script 'other'"):
        read_script("other", workload="data", folders=(tmp_path,))


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        ('role "app" does not exist', "CREATE ROLE app;"),
        ('role "app" does not exist', "pg_dump --no-owner --no-privileges"),
        ('syntax error at or near "\\"', "a dump of pg_dump's is taken as it is"),
        ("VACUUM cannot run inside a transaction block", "no VACUUM"),
    ],
)
def test_an_error_of_own_tables_has_its_way_out(error: str, hint: str) -> None:
    assert hint in hint_for(error)


def test_a_script_that_asks_for_other_tables_is_told_whose_there_are() -> None:
    told = other_tables('ERROR:  relation "orders" does not exist')
    assert told is not None and "pgbench's tables" in told and "data.script=" in told
    assert other_tables('ERROR:  column "x" does not exist') is None
