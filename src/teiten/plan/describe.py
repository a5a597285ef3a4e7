"""A plan in words: what will be done to the machine, and by whom."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.model.study import CachePolicy, DataSet, WorkloadKind


def actions(
    plan: Plan, facts: HostFacts, *, folder: Path, user: str, ready: Collection[str] = ()
) -> tuple[str, ...]:
    """Everything that running the plan does to the machine, one sentence each.

    ``folder``: Teiten's working folder; ``user``: as whom servers run; ``ready``: fingerprints of
    templates that exist.
    """
    return tuple(_actions(plan, facts, folder, user, ready))


def _actions(
    plan: Plan, facts: HostFacts, folder: Path, user: str, ready: Collection[str]
) -> Iterator[str]:
    yield from _templates(plan, folder, ready)
    restored = [each.name for each in plan.study.workloads if each.changes_data]
    if restored:
        yield (
            f"copy a template to {folder / 'clusters'} before every trial of"
            f" {' and '.join(restored)}, once for the other workloads; remove the copies at the end"
        )
    else:
        yield f"copy each template to {folder / 'clusters'} once; remove the copies at the end"
    most = "" if plan.study.measure.sequential is None else "at the most "
    yield (
        f"start and stop one PostgreSQL server at a time, as user {user},"
        f" {most}{len(plan.trials)} times;"
        " it is reached through a private Unix socket only: no network port is opened"
    )
    yield _page_cache(plan, facts)
    kinds = {workload.kind for workload in plan.study.workloads}
    if WorkloadKind.PGBENCH in kinds:
        yield f"load the server with pgbench {plan.pgbench.version} from this machine"
    if WorkloadKind.QUERIES in kinds:
        yield "time queries one by one, and explain each with ANALYZE apart from its timing"
    yield f"write the ledger, logs and the report to {folder / 'campaigns'}"
    yield "nothing else: no package is installed, no setting of the system is changed"


def _templates(plan: Plan, folder: Path, ready: Collection[str]) -> Iterator[str]:
    for template in plan.templates:
        checksums = f"checksums {'on' if template.checksums else 'off'}"
        words = (
            f"PostgreSQL {template.installation.version}, {described(template.data)}, {checksums}"
        )
        if template.fingerprint in ready:
            yield f"use the template that is there: {words}"
        else:
            made = _made_by(template.data)
            yield f"make a template by initdb and {made} in {folder / 'templates'}: {words}"


def described(data: DataSet) -> str:
    """A data set in a few words."""
    if data.script is not None:
        return f"the tables of {data.script.name}"
    return f"scale {data.scale}, fillfactor {data.fillfactor}"


def _made_by(data: DataSet) -> str:
    return f"the script {data.script.name}" if data.script is not None else "pgbench -i"


def _page_cache(plan: Plan, facts: HostFacts) -> str:
    match plan.study.measure.caches:
        case CachePolicy.DROP if facts.can_drop_page_cache:
            return "drop the whole page cache of the system before each start of a server"
        case CachePolicy.DROP | CachePolicy.EVICT:
            return "take the cluster's own files out of the page cache before each start"
        case _:
            return "leave the page cache alone"
