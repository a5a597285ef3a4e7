"""Entries of a site for its ledgers, kept between two runs while a ledger's file is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from teiten import __version__
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.campaign.read import read_campaign
from teiten.cli.console import Console
from teiten.errors import LedgerError
from teiten.ledger.failures import consistent
from teiten.report.site.entry import SiteEntry, entry_of

FORMAT = 3
FOLDER = "site"


@dataclass(frozen=True)
class Found:
    """A campaign, its ledger, and what that was made of."""

    entry: SiteEntry
    file: Path
    key: str

    def load(self) -> CampaignAnalysis:
        """Where more than the entry is needed."""
        return _loaded(self.file)


def entries(
    files: Sequence[Path], caches: Path, console: Console, left_out: list[tuple[str, str]]
) -> Iterator[Found]:
    """Each campaign once; of ledgers that cannot be read the reason goes to ``left_out``."""
    room = caches / FOLDER
    room.mkdir(parents=True, exist_ok=True)
    known: dict[tuple[str, float], Path] = {}
    for at, file in enumerate(files, start=1):
        console.detail(f"reading {at} of {len(files)}: {file}")
        try:
            found = _entry(file, room)
        except LedgerError as error:
            left_out.append((name_of(file), without_path(error, file)))
            continue
        identity = (found.entry.campaign, found.entry.created_at)
        if identity in known:
            left_out.append((name_of(file), f"the same campaign as {name_of(known[identity])}"))
            continue
        known[identity] = file
        yield found


def _entry(file: Path, room: Path) -> Found:
    key = _key(file)
    kept = room / f"{key}.json"
    adapter = _adapter()
    with suppress(OSError, ValidationError):
        return Found(adapter.validate_json(kept.read_bytes()), file, key)
    with consistent(file):
        made = entry_of(read_campaign(file), str(file))
    part = kept.with_suffix(".part")
    part.write_bytes(adapter.dump_json(made))
    part.replace(kept)
    return Found(made, file, key)


def _key(file: Path) -> str:
    """Make the key of the ledger's file as it is; a write-ahead log beside it belongs to it."""
    parts = [f"{FORMAT}", __version__, str(file)]
    for one in (file, file.with_name(f"{file.name}-wal")):
        with suppress(FileNotFoundError):
            status = one.stat()
            parts.append(f"{status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def name_of(file: Path) -> str:
    """The end of a path, which may be published."""
    return "/".join(file.parts[-2:])


def without_path(error: LedgerError, file: Path) -> str:
    """Why a ledger is left out, without its path, which may not be published."""
    return error.message.replace(str(file), name_of(file))


@cache
def _adapter() -> TypeAdapter[SiteEntry]:
    return TypeAdapter(SiteEntry)


@cache
def _loaded(file: Path) -> CampaignAnalysis:
    return read_campaign(file)
