"""Ledgers of others: values that no Teiten wrote, bytes turned over, files that are none."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.robustness.outcome import Tally, called
from teiten.ledger.folders import FILE_NAME

WILD = (
    None, 0, -1, 1e300, -1e300, 9.3e18, float("inf"), 2**62, "", "x", "\x1b[31mred", "[]", "{}",
    "null", "[1,2]", '{"a": 1}', "9" * 5000, "[" * 3000, b"", b"\x00\xff", b"\x28\xb5\x2f\xfd",
    "\udcff", "nan",
)  # fmt: skip
TABLES = ("campaign", "trial", "metric", "series", "event", "server_facts", "profile")


def spoil_ledgers(count: int, seed: int) -> Tally:
    """Spoil ``count`` copies of an invented campaign, and list, report and export each."""
    from tests.fixtures.synthetic import write_synthetic_ledger  # noqa: PLC0415 - not installed

    tally = Tally("ledgers")
    with TemporaryDirectory(prefix="teiten-robustness-") as name:
        root = Path(name)
        write_synthetic_ledger(root / "whole", trials=8, samples=30)
        shutil.copytree(root / "whole", root / "work" / "campaigns" / "good")
        for number in range(count):
            random = Random(seed * 1_000_003 + number)
            folder = root / "work" / "campaigns" / "odd"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(root / "whole", folder)
            what = _spoil(folder, random)
            for verb in (["runs"], _reading(random, root)):
                outcome = called(["--workdir", str(root / "work"), *verb])
                shown = f"ledger {number} of seed {seed} ({what}): {' '.join(verb)}"
                tally.add(shown, outcome)
                if verb == ["runs"] and (outcome.code or "good" not in outcome.out):
                    tally.findings.append(f"no list: {shown}")
    return tally


def _reading(random: Random, root: Path) -> list[str]:
    return random.choice(
        (
            ["report", "odd"],
            ["report", "odd", "--format", "markdown"],
            ["export", "odd", "--to", str(root / f"numbers-{random.random()}")],
            ["compare", "good", "odd"],
            ["history", str(root / "work" / "campaigns"), "--to", str(root / "history")],
            ["claims", "--run", "odd"],
            ["resume", "odd"],
            ["rm", "odd", "--yes"],
        )
    )


def _spoil(folder: Path, random: Random) -> str:
    if random.random() < 0.2:
        return _spoil_bytes(folder / FILE_NAME, random)
    return _spoil_values(folder / FILE_NAME, random)


def _spoil_bytes(path: Path, random: Random) -> str:
    data = bytearray(path.read_bytes())
    way = random.randrange(3)
    if way == 0:
        del data[random.randrange(len(data)) :]
        path.write_bytes(data)
        return "cut off"
    if way == 1:
        for _ in range(random.randrange(1, 50)):
            data[random.randrange(len(data))] = random.randrange(256)
        path.write_bytes(data)
        return "bytes turned over"
    path.unlink()
    path.mkdir()
    return "a folder"


def _spoil_values(path: Path, random: Random) -> str:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        table = random.choice(TABLES)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        if not columns:
            return "as it is"
        column, value = random.choice(columns), random.choice(WILD)
        if random.random() < 0.1:
            connection.execute(f"DELETE FROM {table}")
            return f"no {table}"
        if isinstance(value, str):
            value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        where = "" if random.random() < 0.5 else " WHERE rowid = 1"
        with suppress(sqlite3.Error):  # a column that does not take it
            connection.execute(f"UPDATE {table} SET {column} = ?{where}", (value,))
        return f"{table}.{column} = {ascii(value)[:40]}"
