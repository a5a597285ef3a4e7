"""Whether the parts of a running cluster lie where a placement says, seen by their files' paths."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psycopg

from teiten.errors import ServerError
from teiten.execute.postgres.templates.linked import TABLESPACES as LINKS
from teiten.execute.postgres.templates.linked import WAL
from teiten.model.storage import TABLESPACES, Part

RELATIONS = """
SELECT c.oid::regclass::text, c.relkind::text = 'i' AND n.nspname <> 'pg_toast',
       pg_relation_filepath(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm', 't', 'i') AND c.oid >= 16384
  AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND pg_relation_filepath(c.oid) IS NOT NULL
"""
"""All tables and indexes that are not the server's own; a TOAST table's index lies with it."""
TEMPORARY = "SELECT oid FROM pg_tablespace WHERE spcname = %s"
HINT = "another program has moved it; run again, and let the folders of teiten-… be"


def confirm_placement(
    connect: Callable[[], psycopg.Connection[Any]],
    data_directory: Path,
    expected: Mapping[Part, Path],
) -> dict[str, Any]:
    """By part: the folder, the number of its device, how many relations lie there.

    ``expected``: the folder that a part must be in. Raises ServerError for one that lies elsewhere.
    """
    located: list[tuple[Part, str, Path]] = [(Part.DATA, "the data directory", data_directory)]
    wal = next(data_directory / name for name in WAL if (data_directory / name).exists())
    located.append((Part.WAL, "the WAL", wal))
    with connect() as connection:
        for name, is_index, path in connection.execute(RELATIONS):
            part = Part.INDEXES if is_index else Part.TABLES
            located.append((part, str(name), data_directory / str(path)))
        row = connection.execute(TEMPORARY, (TABLESPACES[Part.TEMPORARY],)).fetchone()
    if row is None:
        raise ServerError(f"there is no tablespace {TABLESPACES[Part.TEMPORARY]}", HINT)
    located.append((Part.TEMPORARY, "temporary files", data_directory / LINKS / str(row[0])))
    counts: Counter[Part] = Counter()
    devices: dict[Part, int] = {}
    for part, name, path in located:
        real, wanted = path.resolve(), expected[part].resolve()
        if not real.is_relative_to(wanted):
            raise ServerError(f"{name} lies in {real}, and not below {wanted}", HINT)
        counts[part] += 1
        devices[part] = real.stat().st_dev
    return {
        part.value: {
            "folder": str(expected[part]),
            "device": f"{os.major(devices[part])}:{os.minor(devices[part])}",
            "files": counts[part],
        }
        for part in expected
        if part in devices
    }
