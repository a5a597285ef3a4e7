"""Server parameters of a study, by name and value, each read to its canonical form.

As in ``values``: ValueError holds a sentence that completes "KEY: …".
"""

from __future__ import annotations

import re
from typing import Any

from teiten.model import quantities

SIZED_SETTINGS = (
    "shared_buffers",
    "work_mem",
    "maintenance_work_mem",
    "max_wal_size",
    "max_connections",
)
"""The settings that may be ``auto``."""

RESERVED_SETTINGS = frozenset(
    {
        "config_file",
        "data_directory",
        "external_pid_file",
        "hba_file",
        "ident_file",
        "include",
        "include_dir",
        "include_if_exists",
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
"""Teiten's own: they keep a server private, and its log readable for the checks."""

_GUC_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_IEC_SIZE = re.compile(r"\d+(?:\.\d+)?\s*[KMGTkmgt]i[Bb]|\d+\.\d+\s*[kMGT]B")


def setting_name(value: Any) -> str:
    """A server parameter that a study may set, in lower case as PostgreSQL compares it."""
    if not isinstance(value, str) or _GUC_NAME.fullmatch(value) is None:
        raise ValueError(f"{value!r} is not the name of a server parameter")
    lowered = value.lower()
    if lowered in RESERVED_SETTINGS:
        raise ValueError(
            f"{lowered} is set by Teiten itself: its servers are private, and it reads their log"
        )
    return lowered


def setting_value(value: Any) -> str:
    """A server parameter's value in the form of postgresql.conf, without quotes.

    Sizes such as ``1.5GiB``, which PostgreSQL (fractions: before 12) does not know, become its own.
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        raise ValueError(f"must be a text, a number or true/false, not {value!r}")
    if any(character in value for character in "\n\r\0"):
        raise ValueError("a server parameter's value must be on one line")
    stripped = value.strip()
    if _IEC_SIZE.fullmatch(stripped):
        return quantities.exact_size(quantities.parse_size(stripped))
    return stripped
