"""The counters of the client's host, where servers run on another. They are marked as its own,
because shares are of its processors. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from teiten.model.trial import Series

CLIENT = "client"
"""The series of the client's host, and the beginning of its metrics' names."""
PGBENCH_SHARE = "pgbench_cpu_share"


def with_client(server: Mapping[str, float], client: Mapping[str, float]) -> dict[str, float]:
    """The totals of both hosts. No pgbench runs on the server's."""
    own = {name: value for name, value in server.items() if name != PGBENCH_SHARE}
    return {**own, **client_metrics(client)}


def client_metrics(totals: Mapping[str, float]) -> dict[str, float]:
    return {f"{CLIENT}_{name}": value for name, value in totals.items() if _is_told(name)}


def _is_told(name: str) -> bool:
    return name.startswith("cpu_") or name in {"context_switches", PGBENCH_SHARE}


def client_series(series: Sequence[Series]) -> Iterator[Series]:
    return (replace(one, source=CLIENT) for one in series if one.source == "os")
