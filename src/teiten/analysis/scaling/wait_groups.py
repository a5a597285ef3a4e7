"""Wait events by the resource that they wait for, in the names of PostgreSQL 9.6 to 18."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

RUNNING = "CPU"
"""Backends without a wait event."""
FOR_THE_CLIENT = "client:clientread"
"""The wait event of an active backend between two messages of a statement: not a server's
resource."""


class WaitGroup(StrEnum):
    RUNNING = "running"
    FLUSH = "flush"
    """WAL made durable, and those who queue behind the one who does it."""
    WRITE = "write"
    """WAL and data written without being made durable at once."""
    READ = "read"
    LOCK = "lock"
    OTHER = "other"


EVENTS = {
    WaitGroup.FLUSH: {
        "io:walsync",
        "io:walinitsync",
        "io:walsyncmethodassign",
        "lwlock:walwrite",
        "lwlock:walwritelock",
    },
    WaitGroup.WRITE: {
        "io:walwrite",
        "io:walinitwrite",
        "io:datafileextend",
        "io:datafileflush",
        "io:datafileimmediatesync",
        "io:datafilesync",
        "io:datafiletruncate",
        "io:datafilewrite",
        "io:buffilewrite",
        "io:slruflushsync",
        "io:slrusync",
        "io:slruwrite",
    },
    WaitGroup.READ: {
        "io:aioiocompletion",
        "io:aioiouringexecution",
        "io:aioiouringsubmit",
        "io:buffileread",
        "io:datafileprefetch",
        "io:datafileread",
        "io:slruread",
        "io:walread",
        "ipc:bufferio",
        "lwlock:bufferio",
        "lwlock:buffer_io",
    },
}
GROUPS = {event: group for group, events in EVENTS.items() for event in events}
LOCK_TYPES = ("lock:", "lwlock:", "lwlocknamed:", "lwlocktranche:", "bufferpin:", "buffer:")


def group_of(event: str) -> WaitGroup:
    """The group of ``Type:Event``; the case differs between versions (WALSync, WalSync)."""
    if event == RUNNING:
        return WaitGroup.RUNNING
    name = event.lower().replace("lwlocknamed:", "lwlock:").replace("lwlocktranche:", "lwlock:")
    if name in GROUPS:
        return GROUPS[name]
    return WaitGroup.LOCK if name.startswith(LOCK_TYPES) else WaitGroup.OTHER


def shares(waits: Mapping[str, float]) -> dict[WaitGroup, float]:
    """The part of the active backends' time in each group; empty where no backend was seen."""
    counted = {
        event: value
        for event, value in waits.items()
        if value > 0 and event.lower() != FOR_THE_CLIENT
    }
    total = sum(counted.values())
    if not total > 0:
        return {}
    found = dict.fromkeys(WaitGroup, 0.0)
    for event, value in counted.items():
        found[group_of(event)] += value / total
    return found
