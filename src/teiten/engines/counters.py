"""Commits of each node, counted by its own server."""

from __future__ import annotations

import time
from dataclasses import dataclass

from teiten.engines.contract import Servers
from teiten.model.plan import Node

# A transaction has an identifier from its first change on: whoever only reads, as Teiten's own
# telemetry does, takes none.
COUNTERS = """
SELECT txid_snapshot_xmax(txid_current_snapshot()),
       (SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()),
       (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database())
"""
SETTLES = 2.0
"""Seconds in which a server tells what sessions that have ended did."""
LOOKS = 0.2


@dataclass(frozen=True)
class NodeCounters:
    """At one moment."""

    identifiers: int
    """Identifiers given to transactions that changed something, aborted ones among them."""
    rollbacks: int
    prepared: int
    """Transactions that are prepared, and neither committed nor rolled back."""

    def commits_since(self, earlier: NodeCounters) -> int:
        """Transactions that changed something and were committed, where those that were rolled back
        had all changed something, as failed updates have."""
        aborted = self.rollbacks - earlier.rollbacks
        return max(0, self.identifiers - earlier.identifiers - aborted)


def read(servers: Servers) -> dict[Node, NodeCounters]:
    """Read the counters of every node; errors are psycopg's."""
    return {node: _of(servers, node) for node in servers.nodes}


def read_settled(servers: Servers) -> dict[Node, NodeCounters]:
    """Read the counters as ``read`` does, once no number moves any more, or after a while."""
    until, counters = time.monotonic() + SETTLES, read(servers)
    while time.monotonic() < until:
        time.sleep(LOOKS)
        last, counters = counters, read(servers)
        if counters == last:
            break
    return counters


def _of(servers: Servers, node: Node) -> NodeCounters:
    with servers.connect(node) as connection:
        row = connection.execute(COUNTERS).fetchone()
    assert row is not None
    return NodeCounters(*map(int, row))
