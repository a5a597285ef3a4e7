"""Servers that Teiten did not start: reached by an address, and asked what they permit."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADDRESS = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
_NAMED = re.compile(r"([^\s=:/,]+)=(postgres(?:ql)?://.*)", re.IGNORECASE | re.DOTALL)


PAGE = 8192
"""Bytes of the usual unit of shared_buffers."""


@dataclass(frozen=True)
class ServerParameter:
    """A parameter as pg_settings shows it."""

    name: str
    setting: str
    unit: str | None
    """kB, 8kB, ms …; None for a parameter without one."""
    kind: str
    """pg_settings.vartype: bool, integer, real, string, enum."""
    by_session: bool
    """The role may set it for its own sessions; the others need a restart, or other rights."""

    @property
    def text(self) -> str:
        """For people: ``16384 × 8kB``, ``64 MB``, ``on``."""
        if not self.unit or not self.setting.lstrip("-").isdecimal():
            return self.setting
        joint = " × " if self.unit[0].isdigit() else " "
        return f"{self.setting}{joint}{self.unit}"


@dataclass(frozen=True)
class AttachedServer:
    """An attached server as it described itself when the campaign was planned.

    No password is in it: it goes to ledgers and reports.
    """

    address: str
    """The connection URI as it was named, without a password."""
    role: str
    superuser: bool
    can_checkpoint: bool
    can_prewarm: bool
    data_checksums: bool
    free_connections: int
    """Connections within max_connections and the role's own limit, less those in use by others."""
    other_sessions: int
    """Sessions of others when it was asked."""
    encrypted: bool
    """The connection is: SSL or GSSAPI."""
    local: bool
    """Its processes run on this machine, and can be seen."""
    loopback: bool
    """It is reached by a Unix socket or a loopback address."""
    sees_buffers: bool = False
    """The role may make pg_buffercache and read it, which the server has."""
    parameters: tuple[ServerParameter, ...] = ()
    """Those that the study sets or varies, as far as this server has them."""

    @property
    def shared_buffers(self) -> int | None:
        """In bytes; None where it was not asked."""
        parameter = self.parameter("shared_buffers")
        return None if parameter is None else int(parameter.setting) * PAGE

    def parameter(self, name: str) -> ServerParameter | None:
        return next(
            (parameter for parameter in self.parameters if parameter.name.lower() == name.lower()),
            None,
        )


def is_address(text: str) -> bool:
    """Whether a reference to a server is a connection URI."""
    return _ADDRESS.match(text.strip()) is not None


def holds_address(text: str) -> bool:
    """Whether there is a connection URI anywhere in a text."""
    return _ADDRESS.search(text) is not None


def named_address(text: str) -> tuple[str, str] | None:
    """Name and URI of ``prod=postgresql://…``; None for any other text."""
    match = _NAMED.fullmatch(text.strip())
    return (match[1], match[2]) if match else None
