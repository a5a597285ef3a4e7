"""A storage class as it is written: a folder, or ``emulate:size=4GB,iops=400,bandwidth=40MB``.

As in ``values``: ValueError holds a sentence that completes "KEY: …".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from teiten.model.quantities import parse_size
from teiten.model.storage import Emulation, StorageClass
from teiten.model.units import GIB, MIB, Bytes
from teiten.study.values import folder
from teiten.suggest import did_you_mean

EMULATE = "emulate"
USUAL_SIZE = Bytes(4 * GIB)
LEAST_SIZE = Bytes(256 * MIB)
"""A file system with a measurement's file on it."""
KEYS = (
    *("size", "in", "iops", "read_iops", "write_iops"),
    *("bandwidth", "read_bandwidth", "write_bandwidth"),
)


def storage(value: Any) -> StorageClass:
    """A folder, or an emulated device, still without its name, which is the key beside it."""
    head, _, rest = str(value).strip().partition(":")
    if head != EMULATE:
        return StorageClass("", folder(value))
    given = dict(_pairs(rest))
    size = parse_size(given["size"]) if "size" in given else USUAL_SIZE
    if size < LEAST_SIZE:
        raise ValueError(f"size={given['size']} is too small for an emulated device: 256MB or more")
    emulation = Emulation(
        size,
        read_iops=_count(given, "read_iops"),
        write_iops=_count(given, "write_iops"),
        read_bandwidth=_rate(given, "read_bandwidth"),
        write_bandwidth=_rate(given, "write_bandwidth"),
    )
    return StorageClass("", folder(given["in"]) if "in" in given else "", emulation)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for word in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (part.strip() for part in word.partition("="))
        if key not in KEYS:
            raise ValueError(
                f"{key!r} is no property of an emulated device.{did_you_mean(key, KEYS)}"
                f" Known: {', '.join(KEYS)}"
            )
        if not equals or not value:
            raise ValueError(f"{key} needs a value: emulate:{key}=…")
        yield key, value


def _count(given: Mapping[str, str], key: str) -> float | None:
    text = given.get(key, given.get("iops"))
    if text is None:
        return None
    if not text.isdecimal() or not int(text):
        raise ValueError(f"{key}={text}: write a whole number of transfers per second, from 1")
    return float(text)


def _rate(given: Mapping[str, str], key: str) -> Bytes | None:
    text = given.get(key, given.get("bandwidth"))
    if text is None:
        return None
    rate = parse_size(text.removesuffix("/s"))
    if rate < 1:
        raise ValueError(f"{key}={text}: write bytes per second, for example 40MB")
    return rate
