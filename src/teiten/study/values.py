"""The values of a study file, each read to its canonical form.

Every reader takes what TOML or the command line gives and raises ValueError with a sentence that
completes "KEY: …".
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from typing import Any

from teiten.model.study import GUC_PREFIX, CachePolicy, QueryMode
from teiten.model.text import Bilingual
from teiten.model.units import Seconds, Share
from teiten.study import quantities
from teiten.suggest import did_you_mean

AUTO = "auto"
"""A value that is derived from the machine when the study is planned."""

PLAIN_FACTORS = ("server", "clients", "checksums", "query_mode")
BUILTIN_SCRIPTS = ("tpcb-like", "simple-update", "select-only")
INVARIANTS = ("tpcb-balances",)
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
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_IEC_SIZE = re.compile(r"\d+(?:\.\d+)?\s*[KMGTkmgt]i[Bb]|\d+\.\d+\s*[kMGT]B")


def text(value: Any) -> Bilingual:
    """``{ en = "…", ja = "…" }``, or one text for both languages."""
    if isinstance(value, Bilingual):
        return value
    if isinstance(value, str):
        return Bilingual(value.strip(), value.strip())
    if isinstance(value, dict) and value and set(value) <= {"en", "ja"}:
        if not all(isinstance(part, str) for part in value.values()):
            raise ValueError("en and ja must be texts")
        only = next(iter(value.values()))
        return Bilingual(value.get("en", only).strip(), value.get("ja", only).strip())
    raise ValueError('must be a text, or a table { en = "…", ja = "…" }')


def name(value: Any) -> str:
    """A name that can stand in a file name, a flag and a key."""
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise ValueError(
            f"{value!r} is not a name; write letters, digits, - and _, and a letter or digit first"
        )
    return value


def scale(value: Any) -> int | None:
    """pgbench's scale factor, or ``auto``."""
    return None if value == AUTO else whole(value, least=1)


def fillfactor(value: Any) -> int:
    return whole(value, least=10, most=100)


def whole(value: Any, *, least: int, most: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"must be a whole number, not {value!r}")
    if value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"must be {bounds}, not {value}")
    return value


def duration(value: Any) -> Seconds:
    """A time of zero or more."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f'needs a unit: for example "{value}s"')
    if not isinstance(value, str):
        raise ValueError(f'must be a time such as "300s" or "5m", not {value!r}')
    return quantities.parse_duration(value)


def whole_seconds(value: Any, *, least: int = 0) -> Seconds | None:
    """A time that pgbench's -T can take, or ``auto``."""
    if value == AUTO:
        return None
    seconds = duration(value)
    if not float(seconds).is_integer():
        raise ValueError(f"{value!r} is not a whole number of seconds, as pgbench needs it")
    if seconds < least:
        raise ValueError(f"must be at least {least}s, not {value!r}")
    return seconds


def measured_seconds(value: Any) -> Seconds | None:
    return whole_seconds(value, least=1)


def target(value: Any) -> Seconds:
    seconds = duration(value)
    if seconds < 60:
        raise ValueError(f"must be at least 1m, not {value!r}")
    return seconds


def delta(value: Any) -> Share:
    share = _share(value)
    if not 0 < share < 1:
        raise ValueError(
            f"must be above 0% and below 100%, not {quantities.exact_share(share)}:"
            " it is the smallest difference that matters"
        )
    return share


def alpha(value: Any) -> Share:
    share = _share(value)
    if not 0 < share < 0.5:
        raise ValueError(
            f"must be above 0% and below 50%, not {quantities.exact_share(share)}:"
            " it is the share of false alarms that you accept"
        )
    return share


def disturbed_share(value: Any) -> Share:
    share = _share(value)
    if not 0 < share <= 1:
        raise ValueError(f"must be above 0% and at most 100%, not {quantities.exact_share(share)}")
    return share


def cache_policy(value: Any) -> CachePolicy:
    return CachePolicy(_one_of(value, [str(policy) for policy in CachePolicy]))


def query_mode(value: Any) -> QueryMode:
    return QueryMode(_one_of(value, [str(mode) for mode in QueryMode]))


def words(value: Any) -> tuple[str, ...]:
    """A list of texts; one text stands for a list of one."""
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("must be a list of texts")
    return tuple(parts)


def texts(value: Any) -> tuple[Bilingual, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list of texts")
    return tuple(text(part) for part in value)


def invariants(value: Any) -> tuple[str, ...]:
    return tuple(_one_of(part, INVARIANTS) for part in words(value))


def options(value: Any) -> tuple[str, ...]:
    """Options of a program: a list, or one text as a shell would split it."""
    parts = tuple(shlex.split(value)) if isinstance(value, str) else words(value)
    if any("\0" in part or "\n" in part for part in parts):
        raise ValueError("an option must not hold a line end")
    return parts


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
    if value in PLAIN_FACTORS:
        return str(value)
    known = (*PLAIN_FACTORS, f"{GUC_PREFIX}NAME")
    raise ValueError(
        f"{value!r} is not a factor.{did_you_mean(str(value), known)} Known: {', '.join(known)}"
    )


def levels(factor: str, value: Any) -> tuple[str, ...]:
    """A factor's levels in canonical form; empty for clients ``auto``.

    One value stands for a list of one.
    """
    if factor == "clients" and value == AUTO:
        return ()
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not values:
        raise ValueError("needs at least one level")
    result = tuple(_level(factor, each) for each in values)
    _refuse_repeated(factor, result)
    return result


def clients(value: Any) -> tuple[str, ...]:
    return levels("clients", value)


def server(value: Any) -> str:
    """A reference to an installation: ``17``, ``18.4``, ``system:15``, a path or an alias."""
    if isinstance(value, float):
        raise ValueError(f'write a version as a text, "{value}": 18.10 would be read as 18.1')
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f'{value!r} does not name a server; write for example "17" or "18.4"')
    return str(value).strip()


def _level(factor: str, value: Any) -> str:
    if factor == "server":
        return server(value)
    if factor == "clients":
        return str(_client_count(value))
    if factor == "checksums":
        return _on_off(value)
    if factor == "query_mode":
        return str(query_mode(value))
    return setting_value(value)


def _client_count(value: Any) -> int:
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{value!r} is not a number of clients; write whole numbers from 1 on")
    return value


def _on_off(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return _one_of(value, ("off", "on"))


def _one_of(value: Any, known: Sequence[str]) -> str:
    if value not in known:
        raise ValueError(
            f"must be one of {', '.join(known)}, not {value!r}.{did_you_mean(str(value), known)}"
        )
    return str(value)


def _share(value: Any) -> Share:
    if isinstance(value, float) and math.isfinite(value):
        return Share(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f'must be a share such as "2%", not {value!r}')
    return quantities.parse_share(value)


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
