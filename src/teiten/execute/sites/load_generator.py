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
    if any(one.attached.encrypted for _, one in servers if one.attached is not None):
        return encrypting_pgbench(installations)
    own = [one for one in installations if one.managed and one.pgbench is not None]
    return choose_pgbench(own if copied and own else installations)
