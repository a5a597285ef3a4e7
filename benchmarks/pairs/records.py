"""What was measured, a line of JSON for each start, so that a run that was cut off goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def kept(record: Path) -> list[dict[str, Any]]:
    if not record.exists():
        return []
    return [json.loads(line) for line in record.read_text().splitlines()]


def keep(record: Path, line: dict[str, Any]) -> None:
    with record.open("a") as file:
        file.write(json.dumps(line) + "\n")
