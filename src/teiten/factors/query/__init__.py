"""The queries of a workload, one by one; the workload's kind says which there are."""

from __future__ import annotations

from teiten.factors.contract import NamedByKind


class QueryFactor(NamedByKind):
    name = "query"
    what = "a query: the name of its file without .sql"
    missing = ("needs a workload of queries", "give --queries DIR")


FACTOR = QueryFactor()
