"""The fingerprint of what a template is made of, by which it is known on the disk."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from teiten.datasets.plan import plan_of
from teiten.model.installation import Installation, initdb_options
from teiten.model.study import DataSet

RECIPE = 2
"""Raise it when templates are built in another way, so that old ones are not used."""


def template_fingerprint(installation: Installation, checksums: bool, data: DataSet) -> str:
    """The name of a template on disk: SHA-256 of its binaries, initdb's options and data set.

    Of a build also its key: initdb reads files beside the binaries, and two commits may differ in
    these alone.
    """
    identity: dict[str, Any] = {
        "recipe": RECIPE,
        "server": installation.fingerprint,
        "version": installation.version.number,
        "initdb": initdb_options(installation.version, checksums=checksums),
        "checksums": checksums,
        "scale": data.scale,
    }
    if installation.build is not None:
        identity["build"] = installation.build.key
    identity |= plan_of(data.kind).identity(data)
    if data.layout is not None and data.layout.scripts:
        identity |= {"layout": [script.text for script in data.layout.scripts]}
        if not data.layout.all_visible:
            identity["all_visible"] = False
    if data.layout is not None and data.layout.visible is not None:
        identity["visible"] = data.layout.visible
    if data.state is not None:
        identity["state"] = data.state.recipe
    if data.spread:
        identity["spread"] = True
    if data.extensions:
        identity["extensions"] = data.extensions
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
