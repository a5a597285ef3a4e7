"""Sizes, times and shares as people write them: ``40GB``, ``1h30m``, ``2%``.

One rule for sizes everywhere, PostgreSQL's own: kB, MB, GB and TB are powers of 1024, and KiB, MiB,
GiB and TiB are other names for the same. Every ``exact_…`` text is read back to the same value.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from teiten.model.units import GIB, KIB, MIB, Bytes, Seconds, Share

TIB = 1024 * GIB
SIZE_UNITS = {"B": 1, "kB": KIB, "MB": MIB, "GB": GIB, "TB": TIB}
_SIZE_NAMES = {"": 1, "b": 1} | {
    f"{letter}{rest}": factor
    for letter, factor in (("k", KIB), ("m", MIB), ("g", GIB), ("t", TIB))
    for rest in ("b", "ib")
}
_TIME_UNITS = {
    "us": Decimal("0.000001"),
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "min": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}
_NUMBER = r"\d+(?:\.\d+)?"
_SIZE = re.compile(rf"({_NUMBER})\s*([A-Za-z]*)")
_DURATION_PART = re.compile(rf"({_NUMBER})\s*(us|ms|min|s|m|h|d)\s*")
_DURATION = re.compile(rf"(?:{_NUMBER}\s*(?:us|ms|min|s|m|h|d)\s*)+")


def is_number(text: str) -> bool:
    """Whether a level is a plain number, by which levels have an order: ``4``, ``0.5``."""
    return text.isascii() and text.replace(".", "", 1).isdecimal()


def parse_size(text: str, *, unitless: int | None = None) -> Bytes:
    """Read a size such as ``40GB``, ``1.5 GiB`` or ``512B``; the fraction must give whole bytes.

    ``unitless``: the bytes that a bare number counts; None refuses one. Raises ValueError with a
    sentence for people.
    """
    match = _SIZE.fullmatch(text.strip())
    factor = _SIZE_NAMES.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise ValueError(f"{text!r} is not a size; write for example 512MB or 40GB")
    if not match[2]:
        if unitless is None:
            raise ValueError(f"{text!r} needs a unit: for example {text.strip()}MB")
        factor = unitless
    return Bytes(int(Decimal(match[1]) * factor))


def exact_size(size: int) -> str:
    """The shortest exact text in PostgreSQL's units: ``1536MB``, never ``1.5GB``."""
    for unit, factor in reversed(SIZE_UNITS.items()):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}B"


def format_size(size: float) -> str:
    """For people, in binary units with one decimal: ``62.3 GiB``."""
    for unit, factor in (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if abs(size) >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size:.0f} B"


def parse_duration(text: str) -> Seconds:
    """Read a time such as ``300s``, ``1.5h``, ``1h30m`` or ``250 ms``.

    Raises ValueError with a sentence for people.
    """
    stripped = text.strip()
    if re.fullmatch(_NUMBER, stripped):
        raise ValueError(f"{text!r} needs a unit: for example {stripped}s")
    if _DURATION.fullmatch(stripped) is None:
        raise ValueError(f"{text!r} is not a time; write for example 300s, 5m or 1h30m")
    total = sum(
        (Decimal(number) * _TIME_UNITS[unit] for number, unit in _DURATION_PART.findall(stripped)),
        Decimal(0),
    )
    return Seconds(float(total))


def format_duration(seconds: float) -> str:
    """For people: ``45 s``, ``4 min 12 s``, ``1 h 05 min``."""
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s" if whole % 60 else f"{whole // 60} min"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def rough_duration(seconds: float) -> str:
    """For people, of what is only foretold: ``45 s``, ``12 min``, ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def is_share(text: str) -> bool:
    """Whether a text is a share in per cent: ``25%``."""
    return re.fullmatch(rf"{_NUMBER}\s*%", text.strip()) is not None


def parse_share(text: str) -> Share:
    """Read a share such as ``2%`` or ``0.02``. Raises ValueError with a sentence for people."""
    stripped = text.strip()
    try:
        number = Decimal(stripped.removesuffix("%").rstrip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise ValueError(f"{text!r} is not a share; write for example 2% or 0.02")
    if stripped.endswith("%"):
        return Share(float(number / 100))
    if abs(number) >= 1:
        raise ValueError(f"{text!r} is not a share below 1; did you mean {stripped}%?")
    return Share(float(number))


def exact_share(share: float) -> str:
    """The exact text in per cent: ``2%``."""
    return f"{_plain(Decimal(repr(float(share))) * 100)}%"


def _plain(number: Decimal) -> str:
    """A decimal without exponent and without trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
