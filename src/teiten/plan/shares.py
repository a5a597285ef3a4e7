"""``shared_buffers`` as a share of the memory that there is: ``25%``; pure.

Labels, settings of the study and the report keep the share as it was written; what a trial's server
gets is in bytes.
"""

from __future__ import annotations

from teiten.errors import UsageError
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.quantities import exact_size, is_share, parse_share
from teiten.model.units import KIB, Bytes

BLOCK = 8 * KIB
"""Block size of nearly every server; one that was built with others rounds to its own."""


def in_bytes(
    settings: tuple[tuple[str, str], ...], memory: Bytes | None
) -> tuple[tuple[str, str], ...]:
    """The settings with a size in the place of a share; ``memory``: None where it is not known,
    which leaves the share.

    Raises UsageError for a share that is none of a memory.
    """
    if memory is None or not is_share(dict(settings).get(SHARED_BUFFERS, "")):
        return settings
    return tuple(
        (name, exact_size(buffers(value, memory)) if name == SHARED_BUFFERS else value)
        for name, value in settings
    )


def buffers(share: str, memory: Bytes) -> Bytes:
    """So much of the memory, in whole blocks. Raises UsageError."""
    part = parse_share(share)
    if not 0 < part < 1:
        raise UsageError(
            f"{SHARED_BUFFERS}={share} is no share of the memory",
            "write shares above 0% and below 100%, such as 25%, or a size, such as 4GB",
        )
    return Bytes(max(1, int(memory * part) // BLOCK) * BLOCK)
