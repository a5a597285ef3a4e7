"""Campaigns and files: what ``runs``, ``rm``, ``export``, ``clean`` and ``data ssb`` print as
JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from teiten.cli.printed.form import SPREAD, Count, From, Positive
from teiten.execute.sites.belongings import Belonging
from teiten.ledger.campaigns import CampaignState


@dataclass(frozen=True)
class JsonCampaign:
    name: str
    folder: Path
    state: CampaignState
    study: str | None
    profile: str | None
    created_at: Annotated[Positive | None, "Seconds since the epoch."]
    done: Annotated[Count, "Planned trials that have ended."]
    planned: Count
    failed: Annotated[Count, "Planned trials that ended without one that counts."]
    bytes: Annotated[Count, "Of its folder.", From("size")]
    problem: Annotated[str | None, "Why it cannot be read."]


@dataclass(frozen=True)
class JsonRemoved:
    name: str
    folder: Path


@dataclass(frozen=True)
class JsonExport:
    campaign: str
    files: tuple[Path, ...]


@dataclass(frozen=True)
class JsonCleaned:
    deleted: tuple[Belonging, ...]
    would_delete: Annotated[tuple[Belonging, ...], "With --dry-run."]
    bytes: Annotated[Count, "Of what was deleted."]


@dataclass(frozen=True)
class JsonTableFile:
    """A table of a server has none."""

    file: str


@dataclass(frozen=True)
class JsonTable:
    table: str
    rows: Count
    place: Annotated[JsonTableFile | None, SPREAD]
