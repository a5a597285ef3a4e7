"""The check of paired transactions of this machine, kept among Teiten's caches: a line for each
start, so that one that was cut off goes on, and then what it came to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from teiten.host.facts.kept import keep, kept, key_on
from teiten.model.facts import HostFacts
from teiten.model.pairs_check import CheckedStart, PairsCheck

PREFIX = "pairs-check-"


class StartsSoFar:
    """The starts of a check that is not over. ``about``: what has to be the same to go on."""

    def __init__(self, folder: Path, facts: HostFacts, about: str) -> None:
        key = hashlib.sha256(about.encode()).hexdigest()[:12]
        self._path = folder / f"{PREFIX}{key_on(facts)}-{key}.jsonl"

    def read(self) -> list[CheckedStart]:
        """A last line that was cut off is none."""
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                found.append(TypeAdapter(CheckedStart).validate_json(line))
            except ValidationError:
                continue
        return found

    def add(self, start: CheckedStart) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(start)) + "\n")

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)


def keep_check(folder: Path, facts: HostFacts, check: PairsCheck) -> None:
    """In the place of an older one."""
    keep(_path(folder, facts), check)


def known_check(folder: Path, facts: HostFacts) -> PairsCheck | None:
    """The last whole check of this machine; one that cannot be read is as good as none."""
    return kept(_path(folder, facts), PairsCheck)


def _path(folder: Path, facts: HostFacts) -> Path:
    return folder / f"{PREFIX}{key_on(facts)}.json"
