"""Reports that stand beside a campaign's ledger, of which a site has copies.

What is published is a plain file of the user to whom its folder belongs: a link in its place could
lead to any file that we may read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from teiten.cli.parameters import LANGUAGES
from teiten.cli.reports import FOLDER
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.users import own_uid
from teiten.ledger.folders import FILE_NAME
from teiten.model.text import Language


def own_reports(ledger: Path) -> Mapping[Language, str]:
    """The times of a campaign's own reports, by language; empty unless it has one in each that may
    be published."""
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
    with HeldFolder.open(ledger.parent / FOLDER) as folder:
        return folder.read_file(f"report.{language}.html", shared=own_uid() != 0)
