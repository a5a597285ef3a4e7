"""Long texts among a trial's facts: plans, statements of a probe."""

from __future__ import annotations

import base64
import binascii
import zlib

_BEGINNING = "eN"
"""Base64 of the first two bytes of what zlib writes; no plan and no JSON begins so."""


def pack(text: str) -> str:
    """Compress a text for the ledger."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def unpack(text: str) -> str:
    """Read a text that was compressed, or that a published ledger has as it is.

    Raises ValueError where it is damaged.
    """
    if not text.startswith(_BEGINNING):
        return text
    try:
        return zlib.decompress(base64.b64decode(text)).decode()
    except (zlib.error, binascii.Error) as error:
        raise ValueError(str(error)) from error
