"""The values of a study file, each read to its canonical form.

Every reader takes what TOML or the command line gives and raises ValueError with a sentence that
completes "KEY: …".
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from teiten.addresses import holds_secret
from teiten.given_paths import expanded
from teiten.model import quantities
from teiten.model.attached import is_address
from teiten.model.memory import MACHINE
from teiten.model.settings import DIRECTIVES, OWN_NAMES
from teiten.model.storage import Emulation, StorageClass
from teiten.model.text import Bilingual
from teiten.model.units import GIB, MIB, Bytes, Seconds, Share
from teiten.suggest import did_you_mean
from teiten.ways.registry import rules

Member = TypeVar("Member", bound=StrEnum)
AUTO = "auto"
"""A value that is derived from the machine when the study is planned."""
LEAST_MEMORY = 128 * MIB
"""Below it not even a server with its defaults has a page cache."""
LEAST_RATE = 1 * MIB
"""Per second: below it a server does not even start in its time."""

BUILTIN_SCRIPTS = ("tpcb-like", "simple-update", "select-only")
INVARIANTS = ("tpcb-balances",)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_FRACTION = re.compile(r"\d+(?:\.\d+)?")


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


def titled(title: Bilingual, name: str) -> Bilingual:
    """A title, or where none is written the name."""
    return title if title else Bilingual(name, name)


def name(value: Any) -> str:
    """A name that can stand in a file name, a flag and a key."""
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise ValueError(
            f"{value!r} is not a name; write letters, digits, - and _, and a letter or digit first"
        )
    return value


def scale(value: Any) -> int | float | None:
    """A scale factor, or ``auto``. A fraction, as a number or as a text, is for data that has any;
    whoever reads the kind of the data checks that."""
    if value == AUTO:
        return None
    if isinstance(value, str) and _FRACTION.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, float):
        if not 0 < value < math.inf:
            raise ValueError(f"must be above 0, not {value:g}")
        return int(value) if value.is_integer() else value
    return whole(value, least=1)


def growth(value: Any) -> Share:
    """A size by another one, such as ``160%``."""
    return _share_that(lambda share: 0 < share <= 100, "be above 0%", value)


def visible(value: Any) -> bool | Share:
    """Yes, no, or the share of pages that are then known to be visible: ``50%``."""
    if isinstance(value, bool):
        return value
    return _share_that(lambda share: 0 <= share <= 1, "be from 0% to 100%", value)


MOST_TIMES = 1000


def rows(value: Any) -> int:
    """``10x``: how many times over rows are to be there."""
    text = str(value).strip().removesuffix("x")
    if not text.isdecimal() or not 1 <= int(text) <= MOST_TIMES:
        raise ValueError(f"must be a number of times from 1x to {MOST_TIMES}x, not {value!r}")
    return int(text)


def major(value: Any) -> int:
    """A major version of PostgreSQL from 10 on: ``10``, ``"11"``."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    return whole(value, least=10, most=99)


def host_name(value: Any) -> str:
    """A host as ssh takes it, an address, or a program's name: one word that is no option."""
    if not isinstance(value, str) or not value.strip() or value.strip().startswith("-"):
        raise ValueError(f"{value!r} is no name; write for example user@host")
    word = value.strip()
    if any(character.isspace() or ord(character) < ord(" ") for character in word):
        raise ValueError(f"{value!r} holds a blank; write for example user@host")
    return word


def listed(form: Callable[[Any], str], value: Any) -> tuple[str, ...]:
    """One value, or a list of them, each in its form."""
    if value == []:
        raise ValueError("names none")
    return tuple(map(form, value if isinstance(value, list) else [value]))


def host_folder(value: Any) -> str:
    """A folder of a host: absolute, or below the user's home."""
    if not isinstance(value, str) or not value.startswith(("/", "~/")):
        raise ValueError(f'{value!r} is not a folder of a host; write for example "/mnt/teiten"')
    if any(ord(character) < ord(" ") for character in value):
        raise ValueError(f"{value!r} holds a control character")
    return value.rstrip("/") or "/"


def folder(value: Any) -> str:
    """A folder of this machine, made absolute; whether it is there is asked when the study is
    planned."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'{value!r} is not a folder; write its path, for example "/mnt/ssd"')
    if any(ord(character) < ord(" ") for character in value):
        raise ValueError(f"{value!r} holds a control character")
    return os.path.normpath(expanded(value.strip()).absolute())


def size(value: Any) -> Bytes | None:
    """A size such as ``20GB``."""
    return _bytes(value, 'a size such as "20GB"')


def memory(value: Any) -> Bytes | None:
    """A limit such as ``2GiB``, or ``machine``."""
    if value == MACHINE:
        return None
    return _bytes(value, f'a size such as "2GiB", or "{MACHINE}"', LEAST_MEMORY)


def rate(value: Any) -> Bytes | None:
    """Bytes per second, such as ``20MiB`` or ``20MiB/s``; ``machine`` for all that there is."""
    if value == MACHINE:
        return None
    return _bytes(value, f'a rate such as "20MiB/s", or "{MACHINE}"', LEAST_RATE, "/s")


def _bytes(value: Any, form: str, least: int = 0, per: str = "") -> Bytes:
    if not isinstance(value, str):
        raise ValueError(f"must be {form}, not {value!r}")
    number = quantities.parse_size(value.removesuffix(per))
    if number < least:
        raise ValueError(f"must be at least {quantities.exact_size(least)}{per}, not {value!r}")
    return number


def whole(value: Any, *, least: int, most: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"must be a whole number, not {value!r}")
    if value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"must be {bounds}, not {value}")
    return value


def count(value: Any, what: str) -> int:
    """A number of clients, or of cores."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{value!r} is not a number of {what}; write whole numbers from 1 on")
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


def window(value: Any) -> Seconds:
    """The length of a window of profiling: pgbench's -T, and samples enough to say something."""
    seconds = whole_seconds(value, least=2)
    if seconds is None:
        raise ValueError('must be a time such as "10s"')
    return seconds


def target(value: Any) -> Seconds:
    seconds = duration(value)
    if seconds < 60:
        raise ValueError(f"must be at least 1m, not {value!r}")
    return seconds


def budget(value: Any) -> Seconds:
    seconds = duration(value)
    if seconds <= 0:
        raise ValueError(f"must be above 0s, not {value!r}")
    return seconds


def delta(value: Any) -> Share:
    why = ": it is the smallest difference that matters"
    return _share_that(lambda share: 0 < share < 1, "be above 0% and below 100%", value, why)


def alpha(value: Any) -> Share:
    why = ": it is the share of false alarms that you accept"
    return _share_that(lambda share: 0 < share < 0.5, "be above 0% and below 50%", value, why)


def disturbed_share(value: Any) -> Share | None:
    """None of ``auto``: the way's own."""
    if value == AUTO:
        return None
    return _share_that(lambda share: 0 < share <= 1, "be above 0% and at most 100%", value)


def member(kind: type[Member], value: Any) -> Member:
    """A member of an enumeration, by its text."""
    return kind(one_of(value, [str(known) for known in kind]))


def way(value: Any) -> str | None:
    """None of ``auto``: paired transactions where they can be had."""
    known = [rule.name for rule in rules().values() if rule.in_file]
    name = one_of(value, [AUTO, *known])
    return None if name == AUTO else name


def preferred_way(value: Any) -> str:
    return one_of(value, [rule.name for rule in rules().values() if rule.in_file])


def words(value: Any) -> tuple[str, ...]:
    """A list of texts; one text stands for a list of one."""
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("must be a list of texts")
    return tuple(parts)


def libraries(value: Any) -> tuple[str, ...]:
    """Names of extensions, which are those of their libraries."""
    return tuple(name(part) for part in words(value))


def texts(value: Any) -> tuple[Bilingual, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list of texts")
    return tuple(text(part) for part in value)


def invariants(value: Any) -> tuple[str, ...]:
    return tuple(one_of(part, INVARIANTS) for part in words(value))


def options(value: Any) -> tuple[str, ...]:
    """Options of a program: a list, or one text as a shell would split it."""
    parts = tuple(shlex.split(value)) if isinstance(value, str) else words(value)
    if any("\0" in part or "\n" in part for part in parts):
        raise ValueError("an option must not hold a line end")
    return parts


def one_of(value: Any, known: Sequence[str]) -> str:
    if value not in known:
        raise ValueError(
            f"must be one of {', '.join(known)}, not {value!r}.{did_you_mean(str(value), known)}"
        )
    return str(value)


def _share_that(fits: Callable[[Share], bool], must: str, value: Any, why: str = "") -> Share:
    share = _share(value)
    if not fits(share):
        raise ValueError(f"must {must}, not {quantities.exact_share(share)}{why}")
    return share


def _share(value: Any) -> Share:
    if isinstance(value, float) and math.isfinite(value):
        return Share(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f'must be a share such as "2%", not {value!r}')
    return quantities.parse_share(value)


_PASSWORD = re.compile(r"(?<!['\w])password\"?\s*=?\s*(?:E?'|\$\w*\$)", re.IGNORECASE)
"""Before a value that is written out."""


def reference(value: Any) -> str:
    """A server: ``17``, ``18.4``, ``system:15``, a path, an alias, and
    ``postgresql://…``, for which only an alias stands. Raises ValueError."""
    if isinstance(value, float):
        raise ValueError(f'write a version as a text, "{value}": 18.10 would be read as 18.1')
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f'{value!r} does not name a server; write for example "17" or "18.4"')
    return _without_password(str(value).strip())


def node_addresses(value: Any) -> tuple[str, ...]:
    """Servers that run already, by their URIs. Raises ValueError."""
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be a list of addresses: postgresql://role@host:port/database")
    for address in value:
        if not isinstance(address, str) or not is_address(address):
            raise ValueError(
                f"{address!r} is no address; write postgresql://role@host:port/database"
            )
    return tuple(_without_password(address.strip()) for address in value)


def statements(value: Any) -> str:
    """SQL for servers that run already. Raises ValueError where a password stands in it."""
    if not isinstance(value, str):
        raise ValueError("must be a text of SQL statements")
    if _PASSWORD.search(value):
        raise ValueError(
            "a password stands in the statements, and a study file goes to ledger and report;"
            " write the variable :'password' in its place, which is the one of the node's address"
        )
    return value.strip()


def _without_password(text: str) -> str:
    """A study file is copied into ledger and report: no password may stand in it."""
    if is_address(text) and holds_secret(text):
        raise ValueError(
            "the address holds a password, and a study file goes to ledger and report; leave it"
            " out, and give it by PGPASSWORD, in ~/.pgpass or a service file"
        )
    return text


EMULATE = "emulate"
USUAL_DEVICE = Bytes(4 * GIB)
LEAST_DEVICE = Bytes(256 * MIB)
"""A file system with a measurement's file on it."""
DEVICE_KEYS = (
    *("size", "in", "iops", "read_iops", "write_iops"),
    *("bandwidth", "read_bandwidth", "write_bandwidth"),
)


def storage(value: Any) -> StorageClass:
    """A folder, or ``emulate:size=4GB,iops=400,bandwidth=40MB``, still without its name, which is
    the key beside it."""
    head, _, rest = str(value).strip().partition(":")
    if head != EMULATE:
        return StorageClass("", folder(value))
    given = dict(_device_options(rest))
    size = quantities.parse_size(given["size"]) if "size" in given else USUAL_DEVICE
    if size < LEAST_DEVICE:
        raise ValueError(f"size={given['size']} is too small for an emulated device: 256MB or more")
    emulation = Emulation(
        size,
        read_iops=_count(given, "read_iops"),
        write_iops=_count(given, "write_iops"),
        read_bandwidth=_rate(given, "read_bandwidth"),
        write_bandwidth=_rate(given, "write_bandwidth"),
    )
    return StorageClass("", folder(given["in"]) if "in" in given else "", emulation)


def _device_options(text: str) -> Iterator[tuple[str, str]]:
    for word in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (part.strip() for part in word.partition("="))
        if key not in DEVICE_KEYS:
            raise ValueError(
                f"{key!r} is no property of an emulated device.{did_you_mean(key, DEVICE_KEYS)}"
                f" Known: {', '.join(DEVICE_KEYS)}"
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
    rate = quantities.parse_size(text.removesuffix("/s"))
    if rate < 1:
        raise ValueError(f"{key}={text}: write bytes per second, for example 40MB")
    return rate


SIZED_SETTINGS = (
    "shared_buffers",
    "work_mem",
    "maintenance_work_mem",
    "max_wal_size",
    "max_connections",
)
"""The settings that may be ``auto``."""

_GUC_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_IEC_SIZE = re.compile(r"\d+(?:\.\d+)?\s*[KMGTkmgt]i[Bb]|\d+\.\d+\s*[kMGT]B")


def setting_name(value: Any) -> str:
    """A server parameter that a study may set, in lower case as PostgreSQL compares it."""
    if not isinstance(value, str) or _GUC_NAME.fullmatch(value) is None:
        raise ValueError(f"{value!r} is not the name of a server parameter")
    lowered = value.lower()
    if lowered in (*OWN_NAMES, *DIRECTIVES, "config_file"):
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
