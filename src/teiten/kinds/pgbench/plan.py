"""A load of pgbench, before anything runs."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import PlainValidator

from teiten.kinds.contract import KindPlan
from teiten.kinds.pgbench.metrics import CONTRASTED, METRICS
from teiten.kinds.pgbench.model import PgbenchOptions
from teiten.model.study import QueryMode
from teiten.study import values
from teiten.study.place import Place
from teiten.study.schema import Mode, Options, WorkloadTable
from teiten.study.scripts import read_script


class PgbenchTable(WorkloadTable):
    """The keys of a load of pgbench."""

    script: str
    query_mode: Mode = QueryMode.SIMPLE
    invariants: Annotated[tuple[str, ...], PlainValidator(values.invariants)] = ()
    pgbench_options: Options = ()


class Pgbench(KindPlan):
    metrics = METRICS
    contrasted = CONTRASTED
    options = PgbenchOptions
    table = PgbenchTable
    told_by = "script"
    changeable: ClassVar[tuple[str, ...]] = ("query_mode", "invariants", "pgbench_options")

    def options_of(self, place: Place, table: WorkloadTable) -> PgbenchOptions:
        assert isinstance(table, PgbenchTable)
        try:
            script = read_script(table.script, workload=table.name, folders=place.folders)
        except ValueError as error:
            raise place.error(
                "script",
                str(error),
                "name a file beside the study, one of pgbench's own scripts, or write it as a text"
                " of several lines",
            ) from error
        return PgbenchOptions(
            script=script,
            query_mode=table.query_mode,
            invariants=table.invariants,
            pgbench_options=table.pgbench_options,
        )


PLAN = Pgbench()
