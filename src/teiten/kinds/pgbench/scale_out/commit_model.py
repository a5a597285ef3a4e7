"""The commits that n nodes share, where a transaction changes k rows that are chosen at random.

Each row lies on one of n nodes with equal chance, by itself. A node takes part in a transaction
unless all k rows lie elsewhere: 1 − (1 − 1/n)ᵏ. Each participant commits, and writes its WAL to its
disk. Where commits are what limits, n nodes do at most as much as their commits allow (2013 §5.6.2,
table 5.7; the table's figures for 3 and 4 nodes do not follow from this).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

ROWS: Mapping[str, int] = {"tpcb-like": 3, "simple-update": 1}
"""Rows that pgbench's own scripts choose at random and change, by a script's name. The row that
they add to the history lies with the account's."""
PRINTED: Mapping[int, Fraction] = {
    1: Fraction(1),
    2: Fraction(7, 4),
    3: Fraction(13, 9),
    4: Fraction(7, 4),
}
"""The report's participants by nodes, as printed in table 5.7 for k = 3."""


def participants(nodes: int, rows: int) -> Fraction:
    """The expected number of nodes on which a transaction changes something.

    Raises ValueError where either number is below 1.
    """
    if nodes < 1 or rows < 1:
        raise ValueError(f"needs a node and a row at the least, not {nodes} and {rows}")
    return nodes * (1 - (1 - Fraction(1, nodes)) ** rows)


def commits_per_node(nodes: int, rows: int) -> Fraction:
    """Commits that a node sees for each transaction of the whole."""
    return participants(nodes, rows) / nodes


def best_scaling(nodes: int, rows: int) -> Fraction:
    """How many times the throughput of one node, where commits are all that limits."""
    return 1 / commits_per_node(nodes, rows)
