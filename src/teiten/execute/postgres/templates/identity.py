"""What a template is made of, and how large it is."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from teiten.execute.postgres.initdb import initdb_options
from teiten.model.installation import Installation
from teiten.model.ssb_size import table_bytes
from teiten.model.study import DataKind, DataSet
from teiten.model.units import GIB, MIB, Bytes

RECIPE = 2
"""Raise it when templates are built in another way, so that old ones are not used."""
ROWS_PER_SCALE = 100_000
"""Of pgbench_accounts; tellers and branches are small."""
BLOCK = 8192
PAGE_HEADER = 24
ACCOUNT_ROW = 132
"""Bytes: header 24, aid, bid and abalance 12, filler 85, rounded up to 128, and a line pointer."""
ROWS_PER_KEY_PAGE = 366
"""Entries of 20 bytes in a page of the primary key, filled to 90 %."""
FIXED = Bytes(64 * MIB)
"""The databases that initdb makes, bench's catalogue, and the WAL that a clean stop leaves."""
UNKNOWN_SIZE = Bytes(1 * GIB)
"""Of the tables of a script that does not say."""
SMALL_TABLES_PER_SCALE = Bytes(2 * 1024)
"""pgbench_tellers (10 rows) and pgbench_branches (1 row) with their indexes."""


def template_fingerprint(installation: Installation, checksums: bool, data: DataSet) -> str:
    """The name of a template on disk: SHA-256 of its binaries, initdb's options and data set.

    Of a build also its key: initdb reads files beside the binaries, and two commits may differ in
    these alone.
    """
    identity: dict[str, Any] = {
        "recipe": RECIPE,
        "server": installation.fingerprint,
        "version": installation.version.number,
        "initdb": initdb_options(installation, checksums),
        "checksums": checksums,
        "scale": data.scale,
        "fillfactor": data.fillfactor,
    }
    if installation.build is not None:
        identity["build"] = installation.build.key
    if data.kind is not DataKind.PGBENCH:
        identity |= {"kind": str(data.kind), "script": data.script.text if data.script else ""}
    if data.kind is DataKind.SSB:
        identity |= {"variant": str(data.variant)}
    if data.layout is not None and data.layout.scripts:
        identity |= {"layout": [script.text for script in data.layout.scripts]}
        if not data.layout.all_visible:
            identity["all_visible"] = False
    if data.layout is not None and data.layout.visible is not None:
        identity["visible"] = data.layout.visible
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def expected_bytes(data: DataSet) -> Bytes:
    """The size of a template with this data set. Raises ValueError where it was not sized."""
    grown = 1.0 if data.layout is None else data.layout.size
    return Bytes(math.ceil(_filled_bytes(data) * grown) + FIXED)


def _filled_bytes(data: DataSet) -> int:
    if data.kind is DataKind.SCRIPT:
        return data.size or UNKNOWN_SIZE
    if data.scale is None:
        raise ValueError("the data set has no scale: the study was not sized")
    if data.kind is DataKind.SSB:
        return table_bytes(data.scale, data.variant)
    rows = int(data.scale) * ROWS_PER_SCALE
    kept_free = BLOCK * (100 - data.fillfactor) // 100
    rows_per_page = max(1, (BLOCK - PAGE_HEADER - kept_free) // ACCOUNT_ROW)
    pages = -(-rows // rows_per_page) + -(-rows // ROWS_PER_KEY_PAGE)
    return pages * BLOCK + int(data.scale) * SMALL_TABLES_PER_SCALE
