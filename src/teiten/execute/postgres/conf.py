"""postgresql.conf: what initdb chose, what Teiten needs, and what the study asks, with reasons."""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import UsageError
from teiten.model.settings import DIRECTIVES, OWN_NAMES
from teiten.model.study import Setting

LINE = re.compile(r"^\s*([A-Za-z_][\w.$]*)\s*(?:=\s*|\s+)(.*?)\s*$")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*(?:\.[A-Za-z_][A-Za-z0-9_$]*)?", re.ASCII)
VALUE = re.compile(r"'((?:[^'\\]|''|\\.)*)'|([^#\s']+)")


@dataclass(frozen=True)
class Required:
    """A parameter that Teiten sets itself, whatever the study says."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True)
class Opening:
    """Where a server listens beside its private socket, and who is let in there."""

    address: str
    client: str
    """The one address, or those of a network: ``198.18.0.0/16``."""
    role: str
    database: str
    method: str
    """The method of authentication: scram-sha-256, or md5 before 10."""
    reason: str = "reached by the client host"

    def __post_init__(self) -> None:
        """Raise ValueError for anything that is no address: both come from hosts, and stand in
        files that decide who is let in."""
        ipaddress.ip_address(self.address)
        ipaddress.ip_network(self.client, strict=False)


def host_rules(opening: Opening) -> str:
    """pg_hba.conf of an open server: ourselves by the socket, and a role from an address."""
    length = "" if "/" in opening.client else "/128" if ":" in opening.client else "/32"
    words = (opening.database, opening.role, f"{opening.client}{length}", opening.method)
    return f"local all all trust\nhost {' '.join(words)}\n"


def required_settings(
    socket_directory: Path, port: int, opening: Opening | None = None
) -> tuple[Required, ...]:
    """Give the parameters that safety needs: only we reach the server, and can read its log."""
    listen = Required("listen_addresses", "", "reached through a private Unix socket only")
    if opening is not None:
        listen = Required("listen_addresses", opening.address, opening.reason)
    return (
        listen,
        Required("unix_socket_directories", str(socket_directory), "a folder that only we enter"),
        Required("unix_socket_permissions", "0700", "the socket is the servers' user's alone"),
        Required("port", str(port), "a number that was free"),
        Required("logging_collector", "off", "Teiten keeps the log"),
        Required("log_destination", "stderr", "Teiten keeps the log"),
        Required("log_line_prefix", "%m [%p] ", "the log is scanned for errors"),
        Required("lc_messages", "C", "the log is scanned for errors"),
    )


def render(
    settings: Sequence[Setting],
    required: Sequence[Required] = (),
    initdb: Mapping[str, str] | None = None,
) -> str:
    """The text of postgresql.conf.

    ``initdb``: the parameters that initdb chose, kept where neither Teiten nor the study sets
    them. Raises UsageError where a name or a value cannot stand in the file, or the name is one of
    Teiten's own.
    """
    check(settings)
    taken = {setting.name.lower() for setting in settings} | {own.name for own in required}
    kept = [(name, value) for name, value in (initdb or {}).items() if name.lower() not in taken]
    sections = {
        "What initdb chose": [_assigned(name, value, "") for name, value in kept],
        "Needed by Teiten": [_assigned(own.name, own.value, own.reason) for own in required],
        "The study": [
            _assigned(setting.name, setting.value, f"{setting.reason.en} [{setting.source}]")
            for setting in settings
        ],
    }
    lines = ["# Written by Teiten for one trial; each start writes it anew.", ""]
    for title, assignments in sections.items():
        if assignments:
            lines += [f"# {title}", *itertools.chain.from_iterable(assignments), ""]
    return "\n".join(lines)


def check(settings: Iterable[Setting]) -> None:
    """Raise UsageError for a setting that cannot stand in postgresql.conf."""
    for setting in settings:
        name = setting.name
        if NAME.fullmatch(name) is None or name.lower() in DIRECTIVES:
            raise UsageError(
                f"setting {name!r} ({setting.source}): not a name of a server parameter",
                "names look like shared_buffers or pg_stat_statements.track",
            )
        if name.lower() in OWN_NAMES:
            raise UsageError(
                f"setting {name} ({setting.source}): Teiten sets this parameter itself",
                "leave it out; servers listen on a private Unix socket only",
            )
        if any(character in (setting.value or "") for character in "\n\r\0"):
            raise UsageError(
                f"setting {name} ({setting.source}): the value holds a line break or a NUL",
                "write the value on one line",
            )


def quote(value: str) -> str:
    r"""A value in the quotes of postgresql.conf (guc-file.l: '' and \\ stand for themselves)."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def parse(text: str) -> dict[str, str]:
    """The parameters of a postgresql.conf without includes: name to value, the last one wins."""
    result: dict[str, str] = {}
    for line in text.split("\n"):
        match = LINE.match(line)
        if match is None:
            continue
        value = VALUE.match(match.group(2))
        if value is not None:
            result[match.group(1)] = _unquote(value)
    return result


def _unquote(match: re.Match[str]) -> str:
    quoted, bare = match.groups()
    if quoted is None:
        return bare or ""
    return re.sub(r"''|\\(.)", lambda pair: pair.group(1) or "'", quoted)


def _assigned(name: str, value: str | None, reason: str) -> list[str]:
    """The lines of a comment and of an assignment."""
    if value is None:
        raise ValueError(f"setting {name} has no value: the study was not sized")
    comment = [f"# {line}" for line in reason.splitlines() if line.strip()]
    return [*comment, f"{name} = {quote(value)}"]
