"""Which operations use index scans: what their plans say, on a server of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.servers import new_server, passable_folder
from teiten.datasets.script.model import ScriptTables
from teiten.kinds.pgbench.model import pgbench_of
from teiten.model.installation import Installation
from teiten.model.study import Study, Workload

NODE = "Index Scan"
CHECKS_KEYS = ("foreign-key",)
"""Operations whose foreign keys are checked by queries of the server's own, which no plan shows."""
_DRAWN = re.compile(r"\\set (\w+) random\w*\((\d+), (\d+)")
_PLANNED = re.compile(r"(?:SELECT|INSERT|UPDATE|DELETE|WITH|SET)\b", re.IGNORECASE)


def users_of_index_scans(study: Study, installation: Installation) -> frozenset[str]:
    """The operations of a sized study with an index scan in one of their plans."""
    settings = [setting for setting in study.settings if setting.value is not None]
    with (
        passable_folder("teiten-users-") as folder,
        new_server(installation, folder, settings) as cluster,
        cluster.connect() as connection,
    ):
        script = study.workloads[0].data.options_as(ScriptTables).script
        connection.execute(script.text.encode())
        connection.execute("VACUUM (FREEZE, ANALYZE)")
        users = {workload.name for workload in study.workloads if _scans(connection, workload)}
    checking = {workload.name for workload in study.workloads if workload.name in CHECKS_KEYS}
    return frozenset(users | checking)


def _scans(connection: Any, workload: Workload) -> bool:
    text = pgbench_of(workload).script.text
    drawn = _DRAWN.findall(text)
    values = {
        name: int(low) + (int(high) - int(low)) * place // (len(drawn) + 1)
        for place, (name, low, high) in enumerate(drawn, start=1)
    }
    with connection.transaction(force_rollback=True):
        return any(_scans_in(connection, statement) for statement in _statements(text, values))


def _scans_in(connection: Any, statement: str) -> bool:
    """Whether a statement's plan has the node; what sets a parameter for those after it is run."""
    if statement.upper().startswith("SET"):
        connection.execute(statement.encode())
        return False
    plan = connection.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode()).fetchone()[0]
    return _has_node(plan)


def _statements(text: str, values: Mapping[str, int]) -> Iterator[str]:
    sql = "\n".join(line for line in text.splitlines() if not line.startswith("\\"))
    for name in sorted(values, key=len, reverse=True):
        sql = re.sub(rf"(?<!:):{name}\b", str(values[name]), sql)
    yield from (part for part in map(str.strip, sql.split(";")) if _PLANNED.match(part))


def _has_node(plan: Any) -> bool:
    if isinstance(plan, list):
        return any(map(_has_node, plan))
    if not isinstance(plan, dict):
        return False
    return plan.get("Node Type") == NODE or any(map(_has_node, plan.values()))
