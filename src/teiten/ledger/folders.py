"""A campaign's folder: how it comes to be, what in it is the campaign's, and what is left of one.

A folder gets its name when its ledger is whole, and loses its ledger last, so that a campaign that
was cut off between the two is none, and its name is free.

Deleting a campaign: only a folder whose ledger says that it is one.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from teiten.errors import LedgerError
from teiten.host.system.causes import translate_os_errors
from teiten.ledger.lock import campaign_lock, is_locked
from teiten.ledger.migrate import APPLICATION_ID

FILE_NAME = "ledger.sqlite"
EVIDENCE, REPORT = "evidence", "report"
MAKING = ".making-"
"""The beginning of a folder's name until its ledger is whole."""
_LOCKS = ("lock", "lock.pid")
_LEDGER = tuple(f"{FILE_NAME}{end}" for end in ("-wal", "-shm", "-journal", ""))
_OF_EVIDENCE = re.compile(r"trial-\d{4,}\.\d+")
_OF_REPORT = re.compile(r"\.?report(\.[a-z]{2})?\.(html|pdf)(\.part)?|markdown\.[a-z]{2}")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to make a campaign in; at the end of the ``with`` it gets its name.

    Raises LedgerError where there is a campaign of this name, or a folder with other things.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_unfinished(folder.parent)
    making = folder.with_name(f"{MAKING}{folder.name}-{os.getpid()}")
    making.mkdir()
    try:
        with campaign_lock(making):
            yield making
            _name(making, folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def remove_unfinished(campaigns: Path) -> None:
    """Remove what is left of campaigns whose making was cut off."""
    for left in campaigns.glob(f"{MAKING}*"):
        if not is_locked(left):
            shutil.rmtree(left, ignore_errors=True)


def is_taken(folder: Path) -> bool:
    """Whether a campaign cannot get this name: there is more than the remains of one."""
    try:
        return any(entry.name not in _remains() for entry in folder.iterdir())
    except FileNotFoundError:
        return False
    except OSError:
        return True


def remove_campaign(folder: Path, *, wholly: bool) -> tuple[str, ...]:
    """Delete what in a folder is the campaign's, its ledger last, and the folder where nothing else
    is in it; the names of what is else. Raises OSError.

    ``wholly``: the folders of evidence and reports are the campaign's with all that is in them.
    """
    for name, ours in ((EVIDENCE, _OF_EVIDENCE), (REPORT, _OF_REPORT)):
        room = folder / name
        if wholly or room.is_symlink():
            _remove(room)
            continue
        for entry in room.iterdir() if room.is_dir() else ():
            if ours.fullmatch(entry.name):
                _remove(entry)
        with suppress(OSError):
            room.rmdir()
    for name in _LEDGER:
        (folder / name).unlink(missing_ok=True)
    return tuple(sorted(entry.name for entry in folder.iterdir() if entry.name not in _LOCKS))


def remove_rest(folder: Path, *, wholly: bool) -> None:
    """Remove a campaign's lock, and, where it is empty then, its folder."""
    for name in _LOCKS:
        (folder / name).unlink(missing_ok=True)
    if not wholly:
        return
    if folder.is_symlink():
        folder.unlink()
    else:
        folder.rmdir()


def _remains() -> frozenset[str]:
    """Name files that a deletion, or a making by an older Teiten, leaves where it is cut off."""
    return frozenset((*_LOCKS, *(name for name in _LEDGER if name != FILE_NAME)))


def _name(making: Path, folder: Path) -> None:
    if is_taken(folder):
        held = (folder / FILE_NAME).exists()
        raise LedgerError(
            f"the campaign {folder.name!r} exists already in {folder}"
            if held
            else f"there is a folder {folder}, which is no campaign",
            f"choose another --name, or continue it: teiten resume {folder.name}"
            if held
            else "choose another --name, or move the folder away",
        )
    for name in _remains():
        (folder / name).unlink(missing_ok=True)
    making.rename(folder)
    _make_durable(folder.parent)


def _make_durable(folder: Path) -> None:
    with suppress(OSError):  # a system that does not open folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)


_HEADER = b"SQLite format 3\x00"
_APPLICATION_ID = slice(68, 72)
"""Bytes of the application ID in the header of a SQLite file
(https://www.sqlite.org/fileformat.html, 1.3)."""


def check_deletable(folder: Path, campaigns: Path) -> None:
    """Raise LedgerError where the folder is no campaign's, or holds the other campaigns too.

    A damaged ledger can be deleted where it lies among the campaigns, or still carries the mark
    of Teiten in its header.
    """
    if campaigns.absolute().resolve().is_relative_to(folder.absolute().resolve()):
        raise LedgerError(
            f"{folder} holds the folder of all campaigns, and is not deleted",
            "`teiten runs` lists the campaigns that can be deleted",
        )
    if folder.absolute().parent != campaigns.absolute() and not _is_marked(folder / FILE_NAME):
        raise LedgerError(
            f"{folder} is not deleted: its {FILE_NAME} is not a ledger of Teiten",
            "delete the folder yourself if you are sure",
        )


def delete_campaign(folder: Path, campaigns: Path) -> tuple[str, ...]:
    """Delete a campaign, and its folder where it holds nothing else; the names of what it does.

    The ledger goes last, so that a deletion that was cut off can be repeated. Raises LedgerError
    where the campaign is running or is none, MachineError where it cannot be deleted.
    """
    check_deletable(folder, campaigns)
    of_teiten = folder.absolute().parent == campaigns.absolute()
    with translate_os_errors(f"{folder} could not be deleted wholly"):
        with campaign_lock(folder):
            others = remove_campaign(folder, wholly=of_teiten and not folder.is_symlink())
        remove_rest(folder, wholly=not others)
    return others


def _is_marked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError:
        return False
    mark = int.from_bytes(header[_APPLICATION_ID], "big")
    if header.startswith(_HEADER) and mark == APPLICATION_ID:
        return True
    return _is_marked_in_wal(path)


def _is_marked_in_wal(path: Path) -> bool:
    """After a crash the header may still be in the -wal file only: SQLite reads both."""
    try:
        connection = sqlite3.connect(path, isolation_level=None)
    except sqlite3.Error:
        return False
    try:
        mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return mark == APPLICATION_ID
