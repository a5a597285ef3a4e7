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
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from teiten.errors import LedgerError
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError, is_unfinished
from teiten.ledger import connect
from teiten.ledger.lock import HOLDER, LOCK, campaign_lock, is_locked
from teiten.ledger.migrate import APPLICATION_ID

FILE_NAME = "ledger.sqlite"
EVIDENCE, REPORT = "evidence", "report"
MAKING = ".making-"
"""The beginning of a folder's name until its ledger is whole."""
_LOCKS = (LOCK, HOLDER)
_LEDGER = tuple(f"{FILE_NAME}{end}" for end in ("-wal", "-shm", "-journal", ""))
_REMAINS = frozenset({*_LOCKS, *_LEDGER} - {FILE_NAME})
"""Files that a deletion, or a making by an older Teiten, leaves where it is cut off."""
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
        return any(
            entry.name not in _REMAINS and not is_unfinished(entry.name)
            for entry in folder.iterdir()
        )
    except FileNotFoundError:
        return False
    except OSError:
        return True


def remove_campaign(folder: HeldFolder, *, wholly: bool) -> tuple[str, ...]:
    """Delete what in a folder is the campaign's, its ledger last, and the folder where nothing else
    is in it; the names of what is else. Raises OSError.

    ``wholly``: the folders of evidence and reports are the campaign's with all that is in them.
    """
    for name, ours in ((EVIDENCE, _OF_EVIDENCE), (REPORT, _OF_REPORT)):
        status = folder.status(name)
        if status is None:
            continue
        if wholly or stat.S_ISLNK(status.st_mode):
            folder.remove(name)
        elif stat.S_ISDIR(status.st_mode):
            _remove_ours(folder, name, ours)
    _remove_unfinished(folder)
    for name in _LEDGER:
        folder.unlink(name)
    return tuple(name for name, _ in folder.entries() if name not in _LOCKS)


def _remove_ours(folder: HeldFolder, name: str, ours: re.Pattern[str]) -> None:
    """Delete what is a campaign's in a folder of its evidence or reports, and that folder where
    nothing else is in it."""
    with folder.inner(name) as room:
        for entry, _ in room.entries():
            if ours.fullmatch(entry):
                room.remove(entry)
        _remove_unfinished(room)
    with suppress(OSError):
        folder.remove_folder(name)


def _remove_unfinished(folder: HeldFolder) -> None:
    """Remove the files that were being written in a campaign that is locked, or was never one."""
    for name, status in folder.entries():
        if is_unfinished(name) and stat.S_ISREG(status.st_mode):
            folder.unlink(name)


def remove_rest(folder: HeldFolder, path: Path, *, wholly: bool) -> None:
    """Remove a campaign's lock, and, where it is empty then, its folder.

    ``path``: what somebody named, which may be a link to the folder.
    """
    for name in _LOCKS:
        folder.unlink(name)
    if not wholly:
        return
    named = path if path.is_symlink() else folder.real_path()
    with HeldFolder.open(named.parent) as parent:
        status = parent.status(named.name)
        if status is not None and stat.S_ISLNK(status.st_mode):
            parent.unlink(named.name)
        else:
            parent.remove_folder(named.name)


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
    with suppress(FileNotFoundError), HeldFolder.open(folder) as left:
        _remove_unfinished(left)
        for name in _REMAINS:
            left.unlink(name)
    making.rename(folder)
    _make_durable(folder.parent)


def _make_durable(folder: Path) -> None:
    with suppress(OSError):  # a system that does not open folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
    with (
        translate_os_errors(f"{folder} could not be deleted wholly"),
        HeldFolder.open(folder) as held,
    ):
        with campaign_lock(folder):
            others = remove_campaign(held, wholly=of_teiten and not folder.is_symlink())
        remove_rest(held, folder, wholly=not others)
    return others


def _is_marked(path: Path) -> bool:
    try:
        with (
            HeldFolder.open(path.parent) as folder,
            folder.read_file(path.name, shared=True) as file,
        ):
            header = file.read(100)
    except (OSError, UnsafePlaceError):
        return False
    mark = int.from_bytes(header[_APPLICATION_ID], "big")
    if header.startswith(_HEADER) and mark == APPLICATION_ID:
        return True
    return _is_marked_in_wal(path)


def _is_marked_in_wal(path: Path) -> bool:
    """After a crash the header may still be in the -wal file only: SQLite reads both. For reading
    only: a journal that somebody has put there is not followed to what it names."""
    try:
        connection = connect.untouched(path)
    except sqlite3.Error:
        return False
    try:
        mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return mark == APPLICATION_ID
