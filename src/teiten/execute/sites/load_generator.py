"""Which pgbench of those that are here a campaign's load generator is.

Whether a pgbench can encrypt: some are built without SSL, and would fall back to plain text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from teiten.addresses import read_address
from teiten.errors import MachineError
from teiten.execute.postgres.binaries import ask
from teiten.execute.postgres.installations import choose_pgbench, with_pgbench
from teiten.model.installation import Installation, Pgbench


def load_generator(
    installations: Sequence[Installation],
    servers: Sequence[tuple[str, Installation]],
    *,
    copied: bool,
) -> Pgbench:
    """``copied``: it goes to other hosts; those that Teiten installed can.

    Raises MachineError where none suits the servers.
    """
    encrypted = [
        installation.attached.address
        for _, installation in servers
        if installation.attached is not None and installation.attached.encrypted
    ]
    if encrypted:
        return encrypting_pgbench(installations, encrypted)
    own = [installation for installation in with_pgbench(installations) if installation.managed]
    return choose_pgbench(own if copied and own else installations)


NOT_COMPILED_IN = "SSL support is not compiled in"
NOWHERE = "host=/nonexistent sslmode=require"
OF_LATER_LIBRARIES = ("channel_binding", "require_auth")
"""Parameters of addresses that libpq knows from 13 on, and from 16 on."""


def encrypting_pgbench(
    installations: Sequence[Installation], addresses: Sequence[str] = ()
) -> Pgbench:
    """The newest pgbench that speaks SSL, for servers to which connections are encrypted, and knows
    what their addresses ask for.

    Raises MachineError where none does.
    """
    asked = {
        f"{name}={value}"
        for address in addresses
        for name, value in read_address(address).items()
        if name in OF_LATER_LIBRARIES
    }
    speaking = [
        installation
        for installation in with_pgbench(installations)
        if installation.pgbench
        and speaks_ssl(installation.pgbench, installation.library_path, asked)
    ]
    if not speaking:
        more = f" and knows {', '.join(sorted(asked))}" if asked else ""
        raise MachineError(
            "the connection to an attached server is encrypted, and no pgbench here speaks"
            f" SSL{more}",
            "install the distribution's (Debian: postgresql-client and postgresql-contrib), or add"
            " ?sslmode=disable to the address where the network can be trusted",
        )
    return choose_pgbench(speaking)


def speaks_ssl(
    pgbench: Path, library_path: Path | None = None, asked: Collection[str] = ()
) -> bool:
    """Ask it to connect to nowhere by SSL, and see of what it complains."""
    nowhere = " ".join((NOWHERE, *asked))
    try:
        done = ask(pgbench, "-n", "-t", "1", nowhere, library_path=library_path)
    except OSError:
        return False
    complaint = done.stderr.decode("utf-8", "replace")
    return NOT_COMPILED_IN not in complaint and "nonexistent" in complaint
