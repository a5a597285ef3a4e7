"""The folder of a site: which files in it are ours, and what each was made from.

A manifest lists them: what it does not list is never touched, what is no longer made is removed.
A call that is killed has written no manifest: the name of each file stands in a list before it is
written, until the manifest has it.
Entries for ledgers are kept between two runs while a ledger's file is the same.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

from pydantic import TypeAdapter, ValidationError

from teiten import __version__
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.campaign.read import read_campaign
from teiten.cli.console import Console
from teiten.cli.parameters import LANGUAGES
from teiten.cli.reports import write_files
from teiten.errors import LedgerError, UsageError
from teiten.given_paths import exists
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.target_folder import remove_below, target_folder
from teiten.host.system.users import own_uid
from teiten.ledger.failures import consistent
from teiten.ledger.folders import FILE_NAME, REPORT
from teiten.model.text import Language
from teiten.report.site.entry import SiteEntry, entry_of

MANIFEST = ".teiten-site.json"
BEGUN = ".teiten-site.begun"
"""A line for each file that a call has begun to write."""
FORMAT = 1
LARGEST = 1 << 26
"""Bytes of a manifest; a page takes about a hundred."""


class Output:
    """A site's folder, while it is made."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError where the folder holds other things and no site."""
        self.folder = folder
        self._before = _read(folder)
        self._now: dict[str, str] = {}
        self.written = 0

    def has(self, name: str, key: str) -> bool:
        """Whether a file is there that was made from the same; it stays."""
        if self._before.get(name) != key or not (self.folder / name).is_file():
            return False
        self._now[name] = key
        return True

    def write(self, name: str, key: str, content: bytes) -> None:
        """``key``: of what it is made from. Raises UsageError where the name is another's."""
        if name not in self._before and name not in self._now and (self.folder / name).exists():
            raise UsageError(
                f"{self.folder / name} was not made by teiten site, and is not replaced",
                "name another folder with --to, or move it away",
            )
        self.written += 1
        with (
            translate_os_errors(f"the report cannot be written to {self.folder}", "--to"),
            target_folder(self.folder) as target,
            target.append_to(BEGUN, shared=True) as begun,
        ):
            begun.write(f"{name}\n".encode())
        write_files(self.folder, {name: content})
        self._now[name] = key

    def finish(self) -> int:
        """Write the manifest and remove what is no longer made; how many files that were."""
        gone = [name for name in self._before if name not in self._now]
        manifest = {"format": FORMAT, "files": self._now}
        write_files(self.folder, {MANIFEST: json.dumps(manifest, indent=1).encode()})
        with (
            translate_os_errors(f"old pages in {self.folder} cannot be removed", "--to"),
            target_folder(self.folder) as target,
        ):
            for name in gone:
                remove_below(target, name)
            target.unlink(BEGUN)
        return len(gone)


def _read(folder: Path) -> dict[str, str]:
    """The sources of each file of a site, by name; empty of a file that a killed call had begun."""
    if exists(folder) and not folder.is_dir():
        raise _holding_other_things(folder)
    try:
        target = HeldFolder.open(folder)
    except FileNotFoundError:
        return {}
    with target:
        begun = _begun(target)
        if begun is not None and target.status(MANIFEST) is None:
            return begun
        return {**_listed(target), **(begun or {})}


def _begun(target: HeldFolder) -> dict[str, str] | None:
    """The files of a call that was killed; None where none was. A line that was not written to its
    end is of a file that was not begun."""
    try:
        content = target.read(BEGUN, LARGEST, shared=True)
    except FileNotFoundError:
        return None
    lines = content.decode(errors="replace").splitlines(keepends=True)
    names = (line.removesuffix("\n") for line in lines if line.endswith("\n"))
    return {name: "" for name in names if _is_below(name)}


def _listed(target: HeldFolder) -> dict[str, str]:
    try:
        manifest = json.loads(target.read(MANIFEST, LARGEST, shared=True))
        if manifest["format"] == FORMAT:
            files = manifest["files"].items()
            return {str(name): str(key) for name, key in files if _is_below(str(name))}
    except FileNotFoundError:
        if target.entries():
            raise _holding_other_things(target.path) from None
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise UsageError(
        f"{target.path / MANIFEST} is no manifest of a site", "name a new folder with --to"
    )


def _holding_other_things(folder: Path) -> UsageError:
    return UsageError(
        f"--to {folder} holds other things, and no site",
        "name a new or empty folder, or one that teiten site made",
    )


def _is_below(name: str) -> bool:
    """A manifest that somebody changed leads nowhere else."""
    path = Path(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


ENTRY_FORMAT = 5
FOLDER = "site"
_ENTRY = TypeAdapter(SiteEntry)


@dataclass(frozen=True)
class SiteCampaign:
    """A campaign, its ledger, and what that was made of."""

    entry: SiteEntry
    file: Path
    key: str

    def load(self) -> CampaignAnalysis:
        """Read the campaign, where more than the entry is needed."""
        return _loaded(self.file)


def entries(
    files: Sequence[Path], caches: Path, console: Console, left_out: list[tuple[str, str]]
) -> Iterator[SiteCampaign]:
    """Each campaign once; of ledgers that cannot be read the reason goes to ``left_out``."""
    known: dict[tuple[str, float], Path] = {}
    with target_folder(caches / FOLDER) as room:
        for file in console.reading(files):
            try:
                campaign = _entry(file, room)
            except LedgerError as error:
                left_out.append((name_of(file), without_path(error, file)))
                continue
            first = known.setdefault((campaign.entry.campaign, campaign.entry.created_at), file)
            if first is file:
                yield campaign
            else:
                left_out.append((name_of(file), f"the same campaign as {name_of(first)}"))


def _entry(file: Path, room: HeldFolder) -> SiteCampaign:
    key = _key(file)
    name = f"{key}.json"
    with suppress(OSError, ValidationError, UnsafePlaceError):
        kept = _ENTRY.validate_json(room.read(name, LARGEST, shared=True))
        return SiteCampaign(kept, file, key)
    with consistent(file):
        made = entry_of(read_campaign(file), str(file))
    room.write(name, _ENTRY.dump_json(made), mode=None)
    return SiteCampaign(made, file, key)


def _key(file: Path) -> str:
    """Make the key of the ledger's file as it is; a write-ahead log beside it belongs to it."""
    parts = [f"{ENTRY_FORMAT}", __version__, str(file)]
    for part in (file, file.with_name(f"{file.name}-wal")):
        with suppress(FileNotFoundError):
            status = part.stat()
            parts.append(f"{status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def name_of(file: Path) -> str:
    """The end of a path, which may be published."""
    return "/".join(file.parts[-2:])


def without_path(error: LedgerError, file: Path) -> str:
    """Why a ledger is left out, without its path, which may not be published."""
    return error.message.replace(str(file), name_of(file))


_loaded = lru_cache(maxsize=8)(read_campaign)  # a campaign has all of its samples


def own_reports(ledger: Path) -> Mapping[Language, str]:
    """The times of a campaign's own reports, of which a site has copies, by language; empty unless
    it has one in each that may be published: a plain file of the user to whom its folder belongs,
    since a link in its place could lead to any file that we may read."""
    if ledger.name != FILE_NAME:
        return {}
    stamps: dict[Language, str] = {}
    for language in LANGUAGES:
        try:
            with _opened(ledger, language) as file:
                stamps[language] = f"{os.fstat(file.fileno()).st_mtime_ns}"
        except (OSError, UnsafePlaceError):
            return {}
    return stamps


def read_own_report(ledger: Path, language: Language) -> bytes:
    """Read the report that stands beside a ledger. Raises UnsafePlaceError where it is no plain
    file of the user to whom its folder belongs, and OSError."""
    with _opened(ledger, language) as file:
        return file.read()


def _opened(ledger: Path, language: Language) -> IO[bytes]:
    """For root not even a file of root's in a folder of another user, who may have given it a
    second name there; such reports are made anew."""
    with HeldFolder.open(ledger.parent / REPORT) as folder:
        return folder.read_file(f"report.{language}.html", shared=own_uid() != 0)
