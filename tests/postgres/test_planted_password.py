"""A password in every spelling that libpq knows: it works, and stands nowhere afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
import pytest
from psycopg import sql

from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation
from tests.fixtures.attached import (
    ADMIN,
    CREATOR,
    StrangeServer,
    skip_without_encrypting_pgbench,
    strange_server,
)
from tests.fixtures.campaigns import Teiten, TeitenAnew
from tests.fixtures.servers import open_folder

WORD = f"Planted-7f3a{os.getpid()}"
PASSWORD = WORD + "@:/?#&='\\ \"%41+ü"
"""What people write in passwords, and what addresses make of it."""
STUDY = """
[study]
name = "attached"
title = "Attached servers"
question = "Does it work?"
contrast = "server"
[factors]
server = ["old", "new"]
clients = [1]
[[workloads]]
name = "select-only"
title = "Select only"
script = "select-only"
scale = 1
changes_data = false
[measure]
duration = "1s"
warmup = "0s"
settle = "0s"
blocks = 2
disturbed_share = "100%"
"""


@pytest.fixture(scope="module")
def strange(installation_any: Installation) -> Iterator[StrangeServer]:
    with strange_server(installation_any) as server:
        with psycopg.connect(server.address(ADMIN, password=True), autocommit=True) as connection:
            command = sql.SQL("ALTER ROLE {} PASSWORD {}")
            connection.execute(command.format(sql.Identifier(CREATOR), sql.Literal(PASSWORD)))
        yield server


@pytest.fixture
def teiten(monkeypatch: pytest.MonkeyPatch) -> Iterator[Teiten]:
    with open_folder("teiten-test-") as folder:
        (folder / "temporary").mkdir(mode=0o777)
        (folder / "temporary").chmod(0o777)
        monkeypatch.setenv("TMPDIR", str(folder / "temporary"))  # where logs of defects go
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.delenv("PGPASSWORD", raising=False)
        monkeypatch.setenv("PGPASSFILE", "/nonexistent")
        workdir = Workdir(folder)
        workdir.prepare()
        yield Teiten.prepared(workdir)
    monkeypatch.setattr(tempfile, "tempdir", None)


def uris(server: StrangeServer, password: str = PASSWORD) -> dict[str, str]:
    place = f"127.0.0.1:{server.port}/postgres"
    escaped = quote(password, safe="")
    every = "".join(f"%{byte:02X}" for byte in password.encode())
    return {
        "userinfo": f"postgresql://{CREATOR}:{escaped}@{place}?sslmode=disable",
        "every letter": f"postgres://{CREATOR}:{every}@{place}",
        "parameter": f"postgresql://{place}?user={CREATOR}&password={escaped}&sslmode=disable",
        "hidden keyword": f"postgresql://{place}?pass%77ord={escaped}&user={CREATOR}",
        # but for %, which begins an escape wherever it stands
        "unescaped": f"postgresql://{CREATOR}:{password.replace('%', '%25')}@{place}",
    }


def keywords(server: StrangeServer, password: str = PASSWORD) -> dict[str, str]:
    place = f"host=127.0.0.1 port={server.port} user={CREATOR} dbname=postgres"
    quoted = password.replace("\\", "\\\\").replace("'", "\\'")
    bare = "".join(f"\\{one}" if one in " '\\" else one for one in password)
    return {
        "quoted": f"{place} password='{quoted}'",
        "bare": f"password={bare} {place}",
        "spaces": f"{place} password = '{quoted}'",
        "cut off": f"{place} password='{quoted}",
        "mistyped": f"hots=x password='{quoted}' {place}",
    }


@contextmanager
def watched_processes() -> Iterator[dict[int, bool]]:
    """By process, whether its command line holds the password, when it was seen last."""
    seen: dict[int, bool] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.03):
            for process in psutil.process_iter():
                try:
                    line = " ".join(process.cmdline())
                except psutil.Error:
                    continue
                if WORD in line or process.pid in seen:
                    seen[process.pid] = WORD in line

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def assert_nowhere(teiten: Teiten) -> None:
    for path in teiten.workdir.root.rglob("*"):
        if path.is_file() and not path.is_symlink() and "installations" not in path.parts:
            assert WORD.encode() not in path.read_bytes(), path


def assert_silent(done: subprocess.CompletedProcess[str]) -> None:
    said = done.stdout + done.stderr
    assert WORD not in said, said
    assert "defect of Teiten" not in said, said


@pytest.mark.parametrize("spelling", ["userinfo", "every letter", "hidden keyword", "unescaped"])
def test_a_plan_works_and_does_not_show_it(
    teiten: Teiten, strange: StrangeServer, spelling: str
) -> None:
    skip_without_encrypting_pgbench()
    path = teiten.workdir.root / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    one = uris(strange)[spelling]
    words = ("--servers", f"old={one}", "--servers", f"new={one}")
    done = teiten.run("plan", path, *words, "--json")
    assert_silent(done)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["servers"]
    assert_nowhere(teiten)


def test_a_campaign_and_all_that_is_made_of_it(teiten: Teiten, strange: StrangeServer) -> None:
    path = teiten.workdir.root / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    spelled = uris(strange)
    words = ("--servers", f"old={spelled['userinfo']}", "--servers", f"new={spelled['parameter']}")
    with watched_processes() as seen:
        anew = TeitenAnew(teiten.workdir)
        done = anew.run("-v", "run", path, *words, "--name", "kept", "--yes")
    assert_silent(done)
    assert done.returncode == 0, done.stderr
    assert not any(seen.values()), "a command line holds the password"
    assert_silent(replace(teiten, drawn=True).run("report", "kept", "--format", "markdown"))
    for verb in (
        ("runs", "--json"),
        ("report", "kept"),
        ("export", "kept", "--to", str(teiten.workdir.root / "numbers")),
        ("compare", "kept", "kept", "--anyway"),
        ("resume", "kept", "--json"),
        ("clean", "--all", "--dry-run"),
        ("doctor", "--json"),
    ):
        assert_silent(teiten.run(*verb))
    assert_nowhere(teiten)


@pytest.mark.parametrize("verb", ["run", "ab", "null", "bisect", "show", "plan"])
def test_a_server_that_is_not_there(teiten: Teiten, strange: StrangeServer, verb: str) -> None:
    gone = uris(strange)["hidden keyword"].replace(f":{strange.port}/", ":1/")
    mistyped = uris(strange)["userinfo"] + "&sslmoud=1"
    for address in (gone, mistyped):
        words = {
            "run": ("run", "observe", "--servers", f"17,x={address}", "--yes"),
            "plan": ("plan", "observe", "--servers", f"x={address},17", "--json"),
            "ab": ("ab", f"a={address}", f"b={address}", "--yes"),
            "null": ("null", f"a={address}", "--yes"),
            "bisect": ("bisect", "--source", address, "--good", "a", "--bad", "b"),
            "show": ("show", address),
        }[verb]
        done = teiten.run(*words)
        assert_silent(done)
        assert done.returncode in {2, 3}, done.stderr
    assert_nowhere(teiten)


def test_a_password_where_no_address_is_expected_is_refused(
    teiten: Teiten, strange: StrangeServer
) -> None:
    for text in keywords(strange).values():
        for words in (("ab", text, "17"), ("plan", "observe", "--guc", f"primary_conninfo={text}")):
            done = teiten.run(*words)
            assert_silent(done)
            assert done.returncode == 2 and "a password stands in" in done.stderr


def test_a_study_file_may_hold_none(teiten: Teiten, strange: StrangeServer) -> None:
    path = teiten.workdir.root / "study.toml"
    for address in uris(strange).values():
        aliases = f"\n[servers]\nold = {json.dumps(address)}\nnew = '17'\n"
        path.write_text(STUDY + aliases, encoding="utf-8")
        done = teiten.run("plan", path)
        path.unlink()
        assert_silent(done)
        assert done.returncode == 2 and "holds a password" in done.stderr
    assert_nowhere(teiten)


def test_data_go_into_a_server_by_every_spelling(teiten: Teiten, strange: StrangeServer) -> None:
    pytest.importorskip("teiten_native", reason="the native part is not built: make native")
    forms = {**uris(strange), **keywords(strange)}
    for name, address in forms.items():
        with psycopg.connect(strange.address(ADMIN, password=True), autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;"
                               f" GRANT ALL ON SCHEMA public TO {CREATOR}")  # fmt: skip
        words = ("data", "ssb", "--scale", "0.001", "--table", "date", "--to", address)
        done = teiten.run(*words)
        assert_silent(done)
        works = name != "mistyped"  # a quote that is not closed ends with the text
        assert done.returncode == (0 if works else 2), (name, done.stderr)
    assert_nowhere(teiten)


def test_the_environment_and_a_password_file(
    teiten: Teiten, strange: StrangeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = teiten.workdir.root / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    place = f"127.0.0.1:{strange.port}/postgres"
    bare = f"postgresql://{CREATOR}@{place}?sslmode=disable"
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    by_environment = teiten.run(
        "plan", path, "--servers", f"old={bare}", "--servers", f"new={bare}"
    )
    monkeypatch.delenv("PGPASSWORD")
    kept = tmp_path / "pgpass"
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    kept.write_text(f"*:*:*:{CREATOR}:{escaped}\n", encoding="utf-8")
    kept.chmod(0o600)
    with_file = f"{bare}&passfile={quote(os.fspath(kept), safe='')}"
    by_file = teiten.run(
        "plan", path, "--servers", f"old={with_file}", "--servers", f"new={with_file}", "--json"
    )
    for done in (by_environment, by_file):
        assert_silent(done)
        assert done.returncode == 0, done.stderr
    assert_nowhere(teiten)
