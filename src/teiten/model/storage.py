"""Storage classes that a study names, and on which of them the parts of a cluster lie."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from teiten.model.units import Bytes

ALL = "all"
_WORD = re.compile(r"(?P<part>[a-z]+)-(?P<storage>[A-Za-z0-9][A-Za-z0-9_.-]*)")


class Part(StrEnum):
    """A part of a cluster that can lie on a storage of its own."""

    DATA = "data"
    """The data directory: catalogues, transaction status, configuration."""
    WAL = "wal"
    TABLES = "tables"
    INDEXES = "indexes"
    TEMPORARY = "temporary"
    """Temporary files: ``temp_tablespaces``."""


TABLESPACES = {
    Part.TABLES: "teiten_tables",
    Part.INDEXES: "teiten_indexes",
    Part.TEMPORARY: "teiten_temporary",
}
"""The tablespace of a part; its folder beside the data directory has the part's name."""
WAL_FOLDER = "wal"


@dataclass(frozen=True)
class Emulation:
    """A slow device that this machine does not have: a file with a file system of its own, whose
    transfers are limited. None: not limited in this."""

    size: Bytes
    read_iops: float | None = None
    write_iops: float | None = None
    read_bandwidth: Bytes | None = None
    """Bytes per second."""
    write_bandwidth: Bytes | None = None
    """Bytes per second."""

    @property
    def limits(self) -> tuple[tuple[str, float], ...]:
        """Those that there are, by name."""
        named = ("read_iops", "write_iops", "read_bandwidth", "write_bandwidth")
        values = ((name, getattr(self, name)) for name in named)
        return tuple((name, float(value)) for name, value in values if value is not None)


@dataclass(frozen=True)
class StorageClass:
    """A storage by the user's name for it."""

    name: str
    path: str
    """The folder; of an emulated one where its file is made, empty for Teiten's working folder."""
    emulation: Emulation | None = None


@dataclass(frozen=True)
class FilePlacement:
    """Where the parts of a trial's cluster lie: names of storage classes."""

    name: str
    """The level of the factor placement."""
    storages: tuple[tuple[Part, str], ...]
    """The storage of every part, in their order."""

    def of(self, part: Part) -> str:
        return dict(self.storages)[part]

    @property
    def used(self) -> tuple[str, ...]:
        """The storage classes, each once."""
        return tuple(dict.fromkeys(name for _, name in self.storages))


def words_of(level: str) -> tuple[tuple[str, str], ...]:
    """The parts that a level names, each with its storage: ``wal-fast+indexes-fast``.

    Raises ValueError with a sentence that completes "placement: …".
    """
    storages: dict[str, str] = {}
    known = (ALL, *(part.value for part in Part))
    for word in level.split("+"):
        match = _WORD.fullmatch(word.strip())
        if match is None or match["part"] not in known:
            raise ValueError(
                f"{level!r} is no placement; write PART-STORAGE, joined by +, such as"
                f" wal-fast+indexes-fast; parts: {', '.join(known)}"
            )
        if match["part"] in storages:
            raise ValueError(f"{level!r} places {match['part']} twice")
        storages[match["part"]] = match["storage"]
    return tuple(storages.items())


def storages_named(levels: Iterable[str]) -> tuple[str, ...]:
    """All storage classes that levels name, each once."""
    return tuple(dict.fromkeys(name for level in levels for _, name in words_of(level)))


def resolved(level: str, known: Sequence[str]) -> FilePlacement:
    """Every part of a level. Where it does not say ``all-STORAGE``, the rest lies on the one other
    storage that is known.

    Raises ValueError where it is not known on which.
    """
    words: Mapping[str, str] = dict(words_of(level))
    rest = words.get(ALL) or _other(level, words, known)
    parts = tuple((part, words.get(part.value, rest)) for part in Part)
    return FilePlacement(level, parts)


def _other(level: str, words: Mapping[str, str], known: Sequence[str]) -> str:
    if len(words) == len(Part):
        return words[Part.DATA.value]
    others = [name for name in known if name not in words.values()]
    if len(others) != 1:
        raise ValueError(
            f"{level!r} does not say where the rest lies; with {len(known)} storage classes write,"
            f" for example, all-{known[-1] if known else 'slow'}+{level}"
        )
    return others[0]


READ, WRITTEN = "read_bytes_per_second", "written_bytes_per_second"
READS, WRITES = "reads_per_second", "writes_per_second"
BUSY, QUEUE = "busy_share", "queue_length"
COLUMNS = (READ, WRITTEN, READS, WRITES, BUSY, QUEUE)
"""The counters of a device in the measured time."""
STORAGE = "storage"
"""The first part of such a metric's name."""
FSYNCS = "fsync-intervals"
"""The event that tells how fast storage is written, by the interval of fsync."""


def storage_metric(storage: str, column: str) -> str:
    """The name of a trial's metric: ``storage:slow:busy_share``."""
    return f"{STORAGE}:{storage}:{column}"


def is_of_storage(metric: str, column: str) -> bool:
    """Whether a metric is this column of any storage class."""
    return metric.startswith(f"{STORAGE}:") and metric.endswith(f":{column}")
