"""Which pgbench of those that are here a campaign's load generator is."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.execute.postgres.installations import choose_pgbench
from teiten.execute.sites.attached.encryption import encrypting_pgbench
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
    if any(
        installation.attached.encrypted
        for _, installation in servers
        if installation.attached is not None
    ):
        return encrypting_pgbench(installations)
    own = [
        installation
        for installation in installations
        if installation.managed and installation.pgbench is not None
    ]
    return choose_pgbench(own if copied and own else installations)
