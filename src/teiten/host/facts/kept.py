"""Measurements once made on this machine, kept among Teiten's caches as JSON."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from teiten.model.facts import HostFacts

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def key_on(facts: HostFacts, *further: object) -> str:
    """Derive a key from the machine and its disk, and from whatever else a number depends on."""
    identity = (
        (facts.system, facts.architecture, facts.cpu.model, facts.cpu.logical),
        (facts.disk.device, facts.disk.file_system),
        *further,
    )
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:24]


def keep(path: Path, found: DataclassInstance) -> None:
    """In the place of an older one."""
    made = path.with_suffix(".new")
    made.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    made.replace(path)


def kept(path: Path, form: type[T]) -> T | None:
    """One that cannot be read is as good as none."""
    try:
        found: T = TypeAdapter(form).validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return found
