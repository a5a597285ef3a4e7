"""Texts of others (titles of studies, names in ledgers, what servers say) for a terminal."""

from __future__ import annotations

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""They turn the order of what follows around."""
_ESCAPES = {
    number: f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
    for number in (*_CONTROLS, *_DIRECTIONS)
    if chr(number) not in "\n\t"
}


def plain(text: str) -> str:
    """The text with its control characters written out, so that they do nothing to a terminal."""
    return text.replace("\r\n", "\n").translate(_ESCAPES)
