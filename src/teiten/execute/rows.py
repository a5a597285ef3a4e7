"""The rows of a query that a study names: read once in a campaign, and kept in the ledger, so that
every trial draws from the same."""

from __future__ import annotations

import psycopg

from teiten.errors import WorkloadError, first_line
from teiten.execute.bench import CampaignRecord
from teiten.execute.sites.contract import Site
from teiten.execute.texts import texts_of
from teiten.model.rows import MOST_ROWS, VariableRows, checked, require_fit
from teiten.model.study import Workload

ROWS = "variable-rows"
"""The kind of the event that holds them."""
WITH = """
SELECT * FROM (
{query}
) AS list LIMIT {most}
"""


def rows_of(
    record: CampaignRecord, workload: Workload, rows: VariableRows | None, site: Site
) -> VariableRows | None:
    """The rows that a workload draws from; those of a query are asked of this server, unless the
    campaign has them. Raises WorkloadError where it gives none."""
    if rows is None or not rows.sql:
        return rows
    for event in record.events():
        if event.kind == ROWS and event.detail["workload"] == workload.name:
            names, values = event.detail["names"], event.detail["rows"]
            return VariableRows(rows.source, tuple(names), tuple(map(tuple, values)))
    asked = _asked(rows, workload, site)
    record.record_event(ROWS, workload=workload.name, names=asked.names, rows=asked.rows)
    return asked


def _asked(rows: VariableRows, workload: Workload, site: Site) -> VariableRows:
    query = WITH.format(query=rows.sql.strip().rstrip(";"), most=MOST_ROWS + 1)
    try:
        with site.connect() as connection:
            result = connection.execute(query.encode("utf-8")).pgresult
        names, values = ((), ()) if result is None else texts_of(result)
        known = checked(VariableRows(rows.source, tuple(names), tuple(values)))
        require_fit(known, workload.options.texts)
    except (ValueError, psycopg.DataError, psycopg.ProgrammingError) as error:
        raise WorkloadError(
            f"the variables of {workload.name}: {first_line(error)}",
            "its query is one SELECT, with a column for each variable and from 1 to"
            f" {MOST_ROWS:,} rows",
        ) from error
    return known
