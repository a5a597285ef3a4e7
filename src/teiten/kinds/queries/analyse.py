"""From the trials of workloads of queries to their results."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from teiten.analysis.model.findings import Measured
from teiten.kinds.contract_analyse import KindAnalysis, Unlike, unlike_rows
from teiten.kinds.queries.explained import query_plans
from teiten.kinds.queries.model import queries_of
from teiten.kinds.queries.results import QueriesFound
from teiten.kinds.queries.workload_results import query_results
from teiten.model.sql import commands
from teiten.model.study import Workload


class QueriesAnalysis(KindAnalysis):
    def identity(self, workload: Workload) -> dict[str, Any]:
        variables = queries_of(workload).variables
        drawn = {} if variables is None else {"variables": variables.digest}
        return {**super().identity(workload), **drawn}

    def results(self, measured: Measured) -> QueriesFound:
        plans = query_plans(measured.plan, measured.views)
        return QueriesFound(plans, query_results(measured, plans))

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        one, other = queries_of(a), queries_of(b)
        there = {query.name: query.text for query in other.queries}
        for query in one.queries:
            same = there.get(query.name, query.text)
            yield Unlike("query", _short(query.text), _short(same), query.name)
        yield unlike_rows(queries_of(a).variables, queries_of(b).variables)
        yield Unlike("timeout", one.timeout, other.timeout)


def _short(text: str) -> str:
    """To tell whether two are the same, without comments and spacing."""
    return hashlib.sha256(" ".join(commands(text)).encode()).hexdigest()[:12]


ANALYSIS = QueriesAnalysis()
