"""Deleting a campaign: only a folder whose ledger says that it is one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from teiten.errors import LedgerError
from teiten.host.system.causes import translate_os_errors
from teiten.ledger.folders import FILE_NAME, remove_campaign, remove_rest
from teiten.ledger.lock import campaign_lock
from teiten.ledger.migrate import APPLICATION_ID

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
        found: int = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return found == APPLICATION_ID
