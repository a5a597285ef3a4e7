"""The build of an installation as its own programs report it, before a server is started."""

from __future__ import annotations

from teiten.execute.postgres.binaries import find_binary
from teiten.execute.postgres.places import ask_pg_config_text
from teiten.execute.postgres.provision.receipts import read_receipt
from teiten.model.installation import Installation

OPTIONS = {"CONFIGURE": "--configure", "CFLAGS": "--cflags"}


def reported_build(installation: Installation) -> tuple[dict[str, str], str]:
    """CONFIGURE and CFLAGS of its ``pg_config``, and what ``version()`` said when it was tried."""
    program = find_binary(installation.bin_directory, "pg_config")
    said = {
        name: ask_pg_config_text(program, option) or ""
        for name, option in OPTIONS.items()
        if program is not None
    }
    return said, read_receipt(installation.bin_directory.parent).server_version
