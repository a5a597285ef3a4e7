"""Record of a search on the disk: one line for each commit, so that a kill loses none."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from teiten.analysis.model.bisection import BisectStep
from teiten.errors import LedgerError, UsageError

REQUEST = "request.json"
STEPS = "steps.jsonl"
_STEP = TypeAdapter(BisectStep)


class BisectRecord:
    """A search's folder: what was asked, and its steps in order."""

    def __init__(self, folder: Path, request: dict[str, Any]) -> None:
        """Open or make it. Raises UsageError where another search has the name."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / REQUEST
        if path.exists():
            if json.loads(path.read_text(encoding="utf-8")) != request:
                raise UsageError(
                    f"the search {folder.name} asked something else",
                    "give another --name; to continue a search, repeat its command as it was",
                )
            return
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps(request, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)

    def steps(self) -> tuple[BisectStep, ...]:
        """The steps so far. A last line that was cut off by a kill is left out."""
        return tuple(self._read())

    def add(self, step: BisectStep) -> None:
        """Write a step; durable when it returns."""
        steps = [*self._read(), step]
        partial = self.folder / f"{STEPS}.{os.getpid()}"
        with partial.open("w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(asdict(step)) + "\n" for step in steps)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(self.folder / STEPS)

    def _read(self) -> Iterator[BisectStep]:
        path = self.folder / STEPS
        if not path.exists():
            return
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                yield _STEP.validate_json(line)
            except ValidationError as error:
                raise LedgerError(
                    f"{path} is damaged: {error.errors()[0]['msg']}",
                    "delete the folder to search anew; its campaigns are kept",
                ) from error
