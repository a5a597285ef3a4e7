"""Numbers and units as reports print them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "ja"]
NUMBER = r"(?:[<>≥≤] ?)?[+−-]?\d[\d,]*(?:\.\d+)?"
UNITS = {
    "ns": 1e9, "µs": 1e6, "ms": 1e3, "s": 1.0, "秒": 1.0, "ミリ秒": 1e3, "min": 1 / 60, "分": 1 / 60,
    "%": 100.0, "B": 1.0, "KiB": 2.0**-10, "MiB": 2.0**-20, "GiB": 2.0**-30, "KB/s": 1e-3,
    "kB": 1e-3, "MB": 1e-6,
}  # fmt: skip
DIMENSIONS = {
    **dict.fromkeys(("ns", "µs", "ms", "s", "秒", "ミリ秒", "min", "分"), "time"),
    **dict.fromkeys(("B", "KiB", "MiB", "GiB", "kB", "MB"), "bytes"),
    "KB/s": "rate",
    "%": "share",
}
UNIT = re.compile(
    r"(?<![A-Za-z-])(ns|µs|ms|s|秒|ミリ秒|min|分|%|KiB|MiB|GiB|KB/s|kB|MB|B)(?![A-Za-z])"
)
OF_CAPTION = re.compile(r"(?:, |、|\()(ns|µs|ms|s|秒|min|分|%|[KMG]iB|B)(?=,|、|\)|$)")
SLOT = re.compile(rf"(?<![A-Za-z0-9_.,/-])(?:{NUMBER})(?![A-Za-z0-9_/-]|[.,]\d|\.[A-Za-z])")


def unit_behind(text: str, end: int) -> str:
    """The unit right behind a number, or behind a space."""
    after = UNIT.match(text, end + text.startswith(" ", end))
    return after[1] if after else ""


def unit_of_caption(caption: str) -> str:
    """The unit of all numbers of a table."""
    found = OF_CAPTION.search(caption)
    return found[1] if found else ""


REACH = (0.001, 1000.0, 99_900.0, 999.0, 1.0)
"""Beyond it a ratio, a percentage, or a share is told by it; of plans a share below 1 %."""


@dataclass(frozen=True)
class Printed:
    """A number as it stands in a text."""

    value: float
    step: float
    """One of its last digit."""
    bound: str = ""
    """< or > before it."""

    def is_of(self, value: float, *, slack: float = 0.0) -> bool:
        """Whether it is the value, rounded."""
        if self.bound in {"<", ">"} and self.value not in REACH:
            return False
        if self.bound in {">", "≥"}:
            return value > self.value - slack
        if self.bound in {"<", "≤"}:
            return value < self.value + slack
        if not math.isfinite(value):
            return False
        return abs(self.value - value) <= self.step * 0.5 + slack + 1e-9 * abs(value)


def printed(text: str) -> Printed:
    """``−1,234.5`` ``+3.5 %`` ``> 1,000``"""
    found = re.search(r"([<>≥≤]?) ?([+−-]?)(\d[\d,]*)(?:\.(\d+))?", text)
    if found is None:
        raise ValueError(f"no number: {text!r}")
    bound, sign, whole, decimals = found.groups()
    value = float(whole.replace(",", "") + "." + (decimals or "0"))
    return Printed(-value if sign in {"−", "-"} else value, 10.0 ** -len(decimals or ""), bound)


def in_base(text: str, unit: str) -> Printed:
    """A printed number in base units."""
    number, scale = printed(text), UNITS.get(unit, 1.0)
    return Printed(number.value / scale, number.step / scale, number.bound)
