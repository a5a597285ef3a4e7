"""Bytes around the rows of a binary COPY (PostgreSQL documentation, COPY, file formats)."""

from __future__ import annotations

from teiten.model.ssb import SsbFormat

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""With no flags and no header extension."""
TRAILER = b"\xff\xff"


def before(form: SsbFormat) -> bytes:
    """Give the bytes before the rows of a file."""
    return SIGNATURE if form is SsbFormat.BINARY else b""


def after(form: SsbFormat) -> bytes:
    """Give the bytes after the rows of a file."""
    return TRAILER if form is SsbFormat.BINARY else b""
