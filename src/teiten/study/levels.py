"""Factors with their levels, and server parameters, each read to its canonical form.

As in ``values``: ValueError holds a sentence that completes "KEY: …".
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from teiten.addresses import holds_secret
from teiten.given_paths import expanded
from teiten.model.attached import holds_address, is_address
from teiten.model.study import GUC_PREFIX
from teiten.study import quantities
from teiten.study.values import AUTO, name, one_of, query_mode
from teiten.suggest import did_you_mean

PLAIN_FACTORS = (
    "server",
    "clients",
    "query",
    "checksums",
    "query_mode",
    "cores",
    "directory",
    "layout",
    "parameters",
)
OTHER_NAMES = {"filesystem": "directory"}
"""Of factors, by what else they are called."""
AUTOMATIC = ("clients", "cores")
"""Factors whose levels may be ``auto``."""

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


def factor_name(value: Any) -> str:
    if isinstance(value, str) and value.startswith(GUC_PREFIX):
        return GUC_PREFIX + setting_name(value.removeprefix(GUC_PREFIX))
    value = OTHER_NAMES.get(value, value) if isinstance(value, str) else value
    if value in PLAIN_FACTORS:
        return str(value)
    known = (*PLAIN_FACTORS, f"{GUC_PREFIX}NAME")
    raise ValueError(
        f"{value!r} is not a factor.{did_you_mean(str(value), known)} Known: {', '.join(known)}"
    )


def levels(factor: str, value: Any) -> tuple[str, ...]:
    """A factor's levels in canonical form; empty for ``auto``.

    One value stands for a list of one.
    """
    if factor in AUTOMATIC and value == AUTO:
        return ()
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not values:
        raise ValueError("needs at least one level")
    if factor == "server" and any(holds_address(str(each)) for each in values):
        raise ValueError(
            "give the address a name: --servers NAME=postgresql://…, or an alias under [servers]"
        )
    result = tuple(_level(factor, each) for each in values)
    _refuse_repeated(factor, result)
    return result


def clients(value: Any) -> tuple[str, ...]:
    return levels("clients", value)


def cores(value: Any) -> tuple[str, ...]:
    return levels("cores", value)


def queries(value: Any) -> tuple[str, ...]:
    return levels("query", value)


def server(value: Any) -> str:
    """A server: ``17``, ``18.4``, ``system:15``, a path, an alias, ``postgresql://…``."""
    if isinstance(value, float):
        raise ValueError(f'write a version as a text, "{value}": 18.10 would be read as 18.1')
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f'{value!r} does not name a server; write for example "17" or "18.4"')
    return _without_password(str(value).strip())


def _without_password(reference: str) -> str:
    """A study file is copied into ledger and report: no password may stand in it."""
    if is_address(reference) and holds_secret(reference):
        raise ValueError(
            "the address holds a password, and a study file goes to ledger and report; leave it"
            " out, and give it by PGPASSWORD, in ~/.pgpass or a service file"
        )
    return reference


@dataclass(frozen=True)
class ServerAlias:
    """What an alias stands for: a server, and the levels of other factors that belong to it."""

    server: str
    levels: tuple[tuple[str, str], ...] = ()


def server_alias(value: Any) -> ServerAlias:
    """``17``, or a table ``{ server = "17", checksums = "on", "guc:work_mem" = "64MB" }``."""
    if not isinstance(value, dict):
        return ServerAlias(server(value))
    if "server" not in value:
        raise ValueError('a table needs the key server, for example { server = "18" }')
    found: dict[str, str] = {}
    for key, level in value.items():
        if key == "server":
            continue
        factor = factor_name(key)
        if factor in ("server", "clients", "query", "layout", "parameters"):
            raise ValueError(f"{factor} cannot belong to a server's alias")
        found[factor] = _level(factor, level)
    return ServerAlias(server(value["server"]), tuple(found.items()))


def _level(factor: str, value: Any) -> str:
    match factor:
        case "server":
            found = server(value)
        case "clients" | "cores":
            found = str(_count(value, factor))
        case "directory":
            found = _folder(value)
        case "query":
            found = _query_name(value)
        case "layout" | "parameters":
            found = name(value)
        case "checksums":
            found = _on_off(value)
        case "query_mode":
            found = str(query_mode(value))
        case _:
            found = setting_value(value)
    return found


def _count(value: Any, what: str) -> int:
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{value!r} is not a number of {what}; write whole numbers from 1 on")
    return value


def _folder(value: Any) -> str:
    """A folder as an absolute path; whether it is there is asked when the study is planned."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'{value!r} is not a folder; write its path, for example "/mnt/ssd"')
    if any(ord(character) < ord(" ") for character in value):
        raise ValueError(f"{value!r} holds a control character")
    return os.path.normpath(expanded(value.strip()).absolute())


def _query_name(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f"{value!r} does not name a query: the name of its file without .sql")
    return str(value).strip()


def _on_off(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return one_of(value, ("off", "on"))


def _refuse_repeated(factor: str, found: Sequence[str]) -> None:
    seen: dict[object, str] = {}
    for level in found:
        key = _compared(factor, level)
        if key in seen:
            same = "" if seen[key] == level else f" (the same as {seen[key]})"
            raise ValueError(f"the level {level}{same} stands there twice")
        seen[key] = level


def _compared(factor: str, level: str) -> object:
    """By what two levels are the same: ``1GB`` and ``1024MB`` are."""
    if not factor.startswith(GUC_PREFIX):
        return level
    try:
        return int(quantities.parse_size(level)) if level[-1:] in "Bb" else level.lower()
    except ValueError:
        return level.lower()
