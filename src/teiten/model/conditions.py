"""Conditions of a trial's servers that levels of factors set, besides parameters and data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from teiten.model.distribution import Distribution
from teiten.model.storage import FilePlacement
from teiten.model.units import Bytes


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions of a trial's servers: set by factors, kept by planned trials, read by sites."""

    server_cpus: tuple[int, ...] = ()
    """The processors that the server is pinned to; empty where it is not."""
    client_cpus: tuple[int, ...] = ()
    """The processors that the load generator is pinned to; empty where it is not."""
    directory: str | None = None
    """Where the cluster's data are; None for Teiten's working folder."""
    placement: FilePlacement | None = None
    """On which storage each part of the cluster lies; None for all of it in one folder."""
    memory_limit: Bytes | None = None
    """The memory that server and load generator together may use, the page cache of their files
    included; None for no limit."""
    distribution: Distribution | None = None
    """How its tables are spread over its servers; None where the first one has all of them."""
    applied: tuple[tuple[str, str], ...] = ()
    """Factors that are applied as a server starts (``factors/NAME/run.py``), with their levels."""

    def conditions(self) -> dict[str, Any]:
        """The fields above, by name: what a planned trial takes over from its setup."""
        return {field.name: getattr(self, field.name) for field in fields(Conditions)}
