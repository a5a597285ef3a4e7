"""Asking why SQLite was refused lets go none of the locks that this process has on the ledger."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from teiten.host.system.users import own_uid
from teiten.ledger.failures import of_sqlite

READING = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0).execute("SELECT count(*) FROM trial").fetchone()
except sqlite3.OperationalError as error:
    print(error)
else:
    print("read")
"""


def read_elsewhere(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", READING, path], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def refusal(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("refused")
    error.sqlite_errorcode = code
    return error


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks by handle, not by process")
@pytest.mark.parametrize("code", [sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN])
def test_a_ledger_stays_locked(tmp_path: Path, code: int) -> None:
    path = tmp_path / "ledger.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE trial (number INTEGER)")
    connection.execute("BEGIN EXCLUSIVE")
    assert "locked" in read_elsewhere(path)
    assert of_sqlite(refusal(code), path) is None
    assert "locked" in read_elsewhere(path)
    connection.close()


def test_a_ledger_that_is_gone_or_closed_to_us_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    missing = of_sqlite(refusal(sqlite3.SQLITE_CANTOPEN), path)
    assert missing is not None and os.strerror(errno.ENOENT) in missing.message
    path.touch(mode=0o444)
    closed = of_sqlite(refusal(sqlite3.SQLITE_READONLY), path)
    if own_uid() == 0:  # who may write everywhere
        assert closed is None
    else:
        assert closed is not None and "its mode forbids it" in closed.message
