"""Speed of the disk below a folder, by fio where it is in the PATH, else by Teiten's own probe.

``python -m`` measures a storage class, before a placement is measured on it, in a process that can
be limited.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from teiten.host.ceilings.disk_speed import OF_STORAGE, DiskSpeed, Pattern, measure_disk, scratch
from teiten.host.ceilings.fio import find_fio, measure_by_fio
from teiten.model.units import Bytes, Seconds

OWN = "teiten"


def measure_folder(
    folder: Path, size: Bytes, seconds: Seconds, patterns: Sequence[Pattern]
) -> tuple[DiskSpeed, str]:
    """Each pattern for ``seconds``, and the tool.

    Raises MachineError where the folder cannot be written, or has no direct I/O.
    """
    fio = find_fio()
    with scratch(folder, size) as file:
        if fio is not None:
            return measure_by_fio(fio, file.path, Bytes(file.size), seconds, patterns)
        return measure_disk(file, seconds, patterns), OWN


if __name__ == "__main__":
    measured, tool = measure_folder(
        Path(sys.argv[1]), Bytes(int(sys.argv[2])), Seconds(float(sys.argv[3])), OF_STORAGE
    )
    json.dump({**asdict(measured), "tool": tool}, sys.stdout)
