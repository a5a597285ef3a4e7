"""Server parameters of a trial, the sizes that they mean, and those that a server would refuse."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from teiten.model.installation import Version
from teiten.model.quantities import parse_size
from teiten.model.units import KIB, MIB, Bytes

_UNITLESS = {
    "shared_buffers": 8 * KIB,
    "max_wal_size": MIB,
    "work_mem": KIB,
    "maintenance_work_mem": KIB,
}
"""Bytes that a number without a unit counts in (pg_settings.unit)."""

ABOUT_FLUSHES = frozenset(
    {"commit_delay", "commit_siblings", "fsync", "synchronous_commit", "wal_sync_method"}
)
"""Parameters that decide how long a commit waits for the disk."""
OWN_NAMES = frozenset(
    {
        "data_directory",
        "external_pid_file",
        "hba_file",
        "ident_file",
        "lc_messages",
        "listen_addresses",
        "log_destination",
        "log_line_prefix",
        "logging_collector",
        "port",
        "unix_socket_directories",
        "unix_socket_group",
        "unix_socket_permissions",
    }
)
"""Parameters that Teiten sets and a study may not: a server would be open to others, or its log not
be understood."""
DIRECTIVES = frozenset({"include", "include_dir", "include_if_exists"})
"""Words of postgresql.conf that read another file."""
SPARE_CONNECTIONS = 10
"""Beyond the clients: superusers, the sampler, the checks."""
DEFAULTS = {
    "shared_buffers": "128MB",
    "work_mem": "4MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "1GB",
    "max_connections": "100",
    "max_worker_processes": "8",
    "max_parallel_workers": "8",
    "max_parallel_workers_per_gather": "2",
    "max_locks_per_transaction": "64",
    "max_prepared_transactions": "0",
}
"""PostgreSQL's own, for what a study does not set."""


def size_setting(settings: Mapping[str, str], name: str) -> Bytes:
    """The bytes that a parameter means; PostgreSQL's default where it is not set or not a size."""
    for text in (settings.get(name), DEFAULTS[name]):
        with suppress(ValueError):
            return parse_size(text or "", unitless=_UNITLESS[name])
    raise AssertionError(f"no default of {name}")


def count_setting(settings: Mapping[str, str], name: str) -> int:
    """A parameter that is a number; PostgreSQL's default where it is not set or not a number."""
    text = settings.get(name, "").strip()
    return int(text) if text.isdecimal() else int(DEFAULTS[name])


@dataclass(frozen=True)
class Refusal:
    """One complaint of a server about one of its parameters."""

    server: str
    """The level of the factor server."""
    version: Version
    name: str
    value: str
    """Empty where the parameter is unknown: no value would do."""
    message: str
    """In the server's own words."""
    unknown: bool = False
    """It does not know the parameter at all."""
    known: tuple[str, ...] = ()
    """The parameters that it knows, where it does not know this one."""
    hint: str = ""
    """The server's own: ``Available values: …``."""
