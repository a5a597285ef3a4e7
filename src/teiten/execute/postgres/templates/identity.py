"""What a template is made of, and how large it is."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from teiten.execute.postgres.initdb import initdb_options
from teiten.model.installation import Installation
from teiten.model.study import DataSet
from teiten.model.units import MIB, Bytes

RECIPE = 2
"""Raise it when templates are built in another way, so that old ones are not used."""
FIXED = Bytes(64 * MIB)
"""The databases that initdb makes, bench's catalogue, and the WAL that a clean stop leaves."""


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
        **data.options.identity,
    }
    if installation.build is not None:
        identity["build"] = installation.build.key
    if data.layout is not None and data.layout.scripts:
        identity |= {"layout": [script.text for script in data.layout.scripts]}
        if not data.layout.all_visible:
            identity["all_visible"] = False
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def expected_bytes(data: DataSet) -> Bytes:
    """The size of a template with this data set. Raises ValueError where it was not sized."""
    grown = 1.0 if data.layout is None else data.layout.size
    return Bytes(math.ceil(data.options.template_bytes(data.scale) * grown) + FIXED)
