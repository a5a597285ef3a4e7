"""Star Schema Benchmark data through the command line, against the reference's checksums.

At scale factor 1 the same is shown by the generator's own tests (crates/ssb/tests/golden.rs).
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from teiten.cli.main import main

pytest.importorskip("teiten_native", reason="the native part is not built: make native")

REFERENCE = {
    "0.01": {
        "customer": "f88f4d0610c3d7776b09f6a8193f6334",
        "part": "6e10bc557f936b892b1602290b4e564c",
        "supplier": "6e9389adc0460a9557e5ca2fe1d84e52",
        "lineorder": "c32dc281f11876c1331630b1f97025c2",
    },
    "0.1": {
        "customer": "3de4d690674e6622da18f8708a44408f",
        "part": "4004daca95389c402e2cdcd389771ee3",
        "supplier": "d2656a9b3914c407c89ffa671fa5c39d",
        "lineorder": "68dbedae8afd7d62c5f48a88eb5ba617",
    },
}
WHOLE_DATE = "32f6cb2cc1dda6977842e6324102a2ff"
"""The reference's at scale factor 1; ours is whole at every scale factor."""


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["-q", "data", "ssb", *arguments])
    assert ended.value.code == 0


def md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize("scale", list(REFERENCE))
def test_files_are_the_reference_s_byte_by_byte(scale: str, tmp_path: Path) -> None:
    run("--scale", scale, "--to", str(tmp_path))
    found = {path.stem: md5(path) for path in tmp_path.iterdir()}
    assert found == {**REFERENCE[scale], "date": WHOLE_DATE}


@pytest.mark.parametrize("table", ["customer", "part", "supplier", "date", "lineorder"])
def test_chunks_in_order_are_the_whole(table: str, tmp_path: Path) -> None:
    for number in range(1, 4):
        chunk = f"{number}/3"
        run("--scale", "0.01", "--table", table, "--chunk", chunk, "--to", str(tmp_path))
    files = [tmp_path / f"{table}.{number}-of-3.tbl" for number in range(1, 4)]
    text = b"".join(file.read_bytes() for file in files)
    expected = {**REFERENCE["0.01"], "date": WHOLE_DATE}[table]
    assert hashlib.md5(text, usedforsecurity=False).hexdigest() == expected
