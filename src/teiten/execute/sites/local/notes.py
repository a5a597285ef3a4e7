"""Notes of what Teiten makes in the kernel: written before it is made, so that what a killed Teiten
has left is found again, and only what is noted is removed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from teiten.execute.postgres.marker import same_process
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import started_at

PREFIX = "teiten-"
"""Beginning of the names of all that is made."""


def write_note(workdir: Workdir, name: str, made: Mapping[str, Sequence[Any]]) -> Path:
    """``name``: of the note, whose ending says what is noted."""
    pid = os.getpid()
    note = workdir.clusters / name
    content = {"pid": pid, "process_started": started_at(pid), **made}
    with HeldFolder.open_or_make(workdir.clusters) as room:  # on the disk before what it notes
        room.write(name, f"{json.dumps(content)}\n".encode(), mode=0o644, durable=True)
    return note


def left_notes(
    workdir: Workdir, ending: str, *, ours: bool
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The notes of a Teiten that has died, and what each holds. ``ours``: this process's too."""
    for note in sorted(workdir.clusters.glob(f"*{ending}")):
        try:
            noted = dict(json.loads(note.read_text(encoding="utf-8")))
            pid, started = int(noted["pid"]), noted["process_started"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if same_process(pid, started) and not (ours and pid == os.getpid()):
            continue
        yield note, noted
