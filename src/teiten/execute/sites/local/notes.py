"""Notes of what Teiten makes in the kernel: written before it is made, so that what a killed Teiten
has left is found again, and only what is noted is removed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.makers import Life, Maker
from teiten.host.system.paths import Workdir

PREFIX = "teiten-"
"""Beginning of the names of all that is made."""


def write_note(workdir: Workdir, name: str, made: Mapping[str, Sequence[Any]]) -> Path:
    """``name``: of the note, whose ending says what is noted."""
    note = workdir.clusters / name
    content = f"{json.dumps({**asdict(Maker.this_process()), **made})}\n".encode()
    with HeldFolder.open_or_make(workdir.clusters) as room:  # on the disk before what it notes
        room.write(name, content, mode=0o644, durable=True, locked=True)
    return note


def left_notes(
    workdir: Workdir, ending: str, *, ours: bool
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The notes of a Teiten that has died, and what each holds. ``ours``: this process's too."""
    for note in sorted(workdir.clusters.glob(f"*{ending}")):
        try:
            with note.open("rb") as file:
                noted = dict(json.load(file))
                maker = Maker.read(noted)
                life = maker.life(file.fileno(), note)
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if life is not Life.ENDED and not (ours and maker.is_this_process):
            continue
        yield note, noted
