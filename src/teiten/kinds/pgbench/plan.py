"""A load of pgbench, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator

from teiten.errors import UsageError
from teiten.given_paths import expanded
from teiten.kinds.contract import Instead, KindPlan, ToldStep
from teiten.kinds.pgbench.metrics import (
    CARRY_OVER_THROUGHPUT,
    CARRY_OVER_TYPICAL,
    CONTRASTED,
    LATENCY_MEAN,
    METRICS,
    TPS,
    WITHIN,
)
from teiten.kinds.pgbench.model import (
    NODES,
    REHEARSAL,
    PgbenchClients,
    PgbenchOptions,
    clients_of,
    pgbench_of,
    tries_again,
)
from teiten.kinds.pgbench.options import objection
from teiten.model.plan import PlannedLoad, PlannedTrial
from teiten.model.sql import changes_data, runs_programs
from teiten.model.starts import slice_seed
from teiten.model.study import QueryMode, Script, Study, Workload, WorkloadOptions
from teiten.study import values
from teiten.study.locate import Place
from teiten.study.schema import Clients, WorkloadTable
from teiten.study.scripts import SCHEMA, VARIABLES, from_here, read_script, rows_for, workload_name
from teiten.study.tables import Mode, Name, Options
from teiten.study.values import BUILTIN_SCRIPTS
from teiten.ways.registry import concurrent_trials, way_of, way_of_clients

STATEMENTS = "statements"
OF_NODES = (NODES, "engine", "distribution", "shards", "scenario", "entry")
"""Factors of tables that are spread over several servers."""
AS_WRITTEN = (
    *("query_mode", "invariants", "pgbench_options", "index_lookups", "clients_per_node"),
    *("random_rows", "idle_connections", "reconnect"),
)
"""Keys whose values are options of the same name."""
OF_A_WORKING_ONE = 4
"""How many idle connections take the memory of one that works."""


class PgbenchTable(WorkloadTable):
    """The keys of a load of pgbench."""

    script: str
    statements: dict[Name, str] = Field(default_factory=dict)
    variables: str | None = None
    clients: Clients = ()
    query_mode: Mode = QueryMode.SIMPLE
    invariants: Annotated[tuple[str, ...], PlainValidator(values.invariants)] = ()
    pgbench_options: Options = ()
    index_lookups: bool = False
    clients_per_node: bool = False
    random_rows: Annotated[int, Field(ge=1)] | None = None
    idle_connections: Annotated[int, Field(ge=0)] = 0
    reconnect: bool = False


class PgbenchKind(KindPlan):
    does = "is a load of pgbench"
    loading = "load the server with pgbench {version} from {where}"
    metrics = METRICS
    contrasted = CONTRASTED
    rate = TPS
    turnaround = LATENCY_MEAN
    rate_series: ClassVar[tuple[str, str]] = ("pgbench", TPS.name)
    options = PgbenchOptions
    load = PgbenchClients
    table = PgbenchTable
    told_by = "script"
    changeable: ClassVar[tuple[str, ...]] = (STATEMENTS, VARIABLES, *AS_WRITTEN)
    changeable_of_one: ClassVar[tuple[str, ...]] = ("script", "clients")
    level_keys: ClassVar[tuple[str, ...]] = ("clients",)
    brings: ClassVar[tuple[str, ...]] = ("clients", "query_mode", STATEMENTS, *OF_NODES)
    axis: ClassVar[str | None] = "clients"
    needs: ClassVar[tuple[str, ...]] = ("clients",)
    lasts = True
    paired_within = WITHIN.name
    carry_over: ClassVar[tuple[str, ...]] = (CARRY_OVER_THROUGHPUT.name, CARRY_OVER_TYPICAL.name)

    def unpaired(self, workload: Workload) -> str | None:
        options = pgbench_of(workload)
        if options.pgbench_options:
            return f"pgbench_options ({' '.join(options.pgbench_options)}) are for pgbench"
        for script in options.texts:
            if runs_programs(script.text):
                return f"{script.name} has its clients run programs (\\shell), as pgbench does"
        return None

    def options_of(self, place: Place, table: WorkloadTable) -> PgbenchOptions:
        assert isinstance(table, PgbenchTable)
        refused = objection(table.pgbench_options)
        if refused is not None:
            raise place.error("pgbench_options", *refused)
        try:
            script = read_script(table.script, workload=table.name, folders=place.folders)
        except ValueError as error:
            raise place.error(
                "script",
                str(error),
                "name a file (a study's stands beside it) or one of pgbench's own scripts; a study"
                " may have it as a text of several lines",
            ) from error
        statements = tuple(_statements(place, table, script))
        texts = tuple(text for _, text in statements) or (script,)
        return PgbenchOptions(
            script=script,
            statements=statements,
            variables=rows_for(place, table.variables, texts),
            **{key: getattr(table, key) for key in AS_WRITTEN},
        )

    def check(self, place: Place, workload: Workload) -> None:
        """pgbench's own scripts, and the checks of its balances, need pgbench's own tables."""
        options = pgbench_of(workload)
        if workload.data.kind == "pgbench":
            return
        if options.script.builtin:
            raise place.error(
                "data",
                f"pgbench's own script {options.script.name} runs on pgbench's tables",
                "leave data out, or write a script for these tables",
            )
        if options.invariants:
            raise place.error(
                "invariants",
                f"{options.invariants[0]} is of pgbench's own tables, and these are others",
                "leave it out",
            )

    def from_flag(self, key: str, value: Any) -> Any:
        if key == VARIABLES:
            return from_here(str(value))
        if key == STATEMENTS and isinstance(value, dict):
            return {level: from_here(str(source)) for level, source in value.items()}
        if key != self.told_by or _is_text(str(value)):
            return value
        return str(expanded(str(value)).absolute())

    def instead(self, running: Instead, value: str, *, by_flag: bool) -> Instead:
        """The named script takes the place of the study's workloads; each one of a folder does."""
        script = str(self.from_flag("script", value) if by_flag else value)
        shared = {key: value for key, value in running.workloads[0].items() if key == "scale"}
        if _is_text(script) or not Path(script).is_dir():
            only = _table(script, changes_data=script != "select-only")
            return Instead([{**shared, **only}], [only["name"]], ("workloads", 0))
        files = (path for path in sorted(Path(script).glob("*.sql")) if path.name != SCHEMA)
        tables = [{**shared, **_of_file(path)} for path in files]
        if not tables:
            raise UsageError(
                f"the folder {script} holds no file *.sql", "each of its files is a workload"
            )
        return Instead(tables, [table["name"] for table in tables], ("workloads",))

    def facts(self, workload: Workload) -> Iterator[str]:
        options = pgbench_of(workload)
        if options.variables is not None:
            yield f"each transaction draws {options.variables}"
        if options.idle_connections:
            yield f"idle connections to each server meanwhile: {options.idle_connections}"
        if options.reconnect:
            yield "each transaction connects anew; pgbench has that in TPS, not in latencies"

    def told_texts(self, workload: Workload) -> str | None:
        variables = pgbench_of(workload).variables
        if variables is None or not variables.sql:
            return None
        return f"the rows that {variables.source} gives; name a file *.csv"

    def processes(self, trial: PlannedTrial) -> int:
        """Idle ones take the memory that a connection begins with, and map no buffers."""
        return trial.load.connections + trial.load.idle // OF_A_WORKING_ONE

    def gives_up(self, workload: Workload) -> bool:
        return not tries_again(pgbench_of(workload).pgbench_options)

    def first_load(self, options: WorkloadOptions) -> PgbenchClients:
        assert isinstance(options, PgbenchOptions)
        return PgbenchClients(
            query_mode=options.query_mode,
            per_node=options.clients_per_node,
            idle=options.idle_connections,
            reconnect=options.reconnect,
        )

    def set(self, load: PlannedLoad, factor: str, level: str) -> PlannedLoad:
        assert isinstance(load, PgbenchClients)
        if factor == "query_mode":
            return replace(load, query_mode=QueryMode(level))
        if factor == STATEMENTS:
            return replace(load, statements=level)
        if factor == NODES:
            return _with_clients(load, load.clients * max(1, int(level))) if load.per_node else load
        return _with_clients(load, int(level)) if factor == "clients" else load

    def rehearsal(self) -> ToldStep:
        phrase = f"try its script with one transaction, for {REHEARSAL:g} s at most"
        return ToldStep("rehearsal", phrase, {"most": REHEARSAL})

    def warm_up(self, study: Study, workload: Workload) -> ToldStep:
        warmup = study.measure.warmup or 0.0
        return ToldStep("warm-up", f"{warmup:g} s of load, discarded", {"warmup": warmup})

    def measuring(self, study: Study, workload: Workload) -> ToldStep:
        measure = study.measure
        values = {
            "warmup": float(measure.warmup or 0.0),
            "seconds": float(measure.duration or 0.0),
            "slice": float(measure.slice_duration),
        }
        return ToldStep(
            "slices" if way_of(measure).parts(measure) else "measure",
            f"{measure.duration or 0:g} s of load",
            values,
        )

    def turn(self, study: Study, trial: PlannedTrial, number: int) -> str:
        measure, workload = study.measure, study.workload(trial.cell.workload)
        load = clients_of(trial)
        if way_of(measure).concurrent:
            seconds = f"{measure.duration or 0:g} s" + (" at first" if measure.lengthens else "")
            sides = concurrent_trials(study)
            servers = "both servers" if sides == 2 else f"{sides} servers in turn"
            if way_of_clients(measure, load.clients).in_step:
                servers = "one server at a time"
            return (
                f"paired transactions on {servers}: {_counted(load.clients, 'client')},"
                f" {seconds}, {workload.options.source}, random seed {trial.seed}"
            )
        parts = way_of(measure).parts(measure)
        part = f", slice {number} of {parts}" if parts else ""
        return (
            f"pgbench: {_counted(load.clients, 'client')}, {_counted(load.threads, 'thread')},"
            f" {measure.slice_duration:g} s, {workload.options.source},"
            f" random seed {slice_seed(trial.seed, number)}{part}"
        )


def _statements(place: Place, table: PgbenchTable, script: Script) -> Iterator[tuple[str, Script]]:
    """The texts of each level; a folder stands for its file of the script's name."""
    for level, source in table.statements.items():
        folders = (folder / expanded(source) for folder in place.folders)
        file = f"{source}/{script.name}" if any(map(Path.is_dir, folders)) else source
        try:
            text = read_script(file, workload=table.name, folders=place.folders)
            if text.builtin:
                raise ValueError(f"{text.name} is a load of pgbench, and no file")
        except ValueError as error:
            raise place.error((STATEMENTS, level), str(error), "name a file of SQL") from error
        yield level, replace(text, name=f"{level}/{text.name}")


def _of_file(path: Path) -> dict[str, Any]:
    """The workload of a script in a folder; values of its variables stand in a file beside it."""
    beside = path.with_suffix(".csv")
    variables = {"variables": str(beside)} if beside.is_file() else {}
    text = path.read_text(encoding="utf-8", errors="replace")
    return {**_table(str(path), changes_data=changes_data(text)), **variables}


def _table(script: str, *, changes_data: bool) -> dict[str, Any]:
    is_file = not _is_text(script)
    title = Path(script).stem if is_file else script if script in BUILTIN_SCRIPTS else "script"
    return {
        "name": workload_name(title),
        "title": title,
        "script": script,
        "changes_data": changes_data,
    }


def _with_clients(load: PgbenchClients, clients: int) -> PgbenchClients:
    # 2021 §4.4: half as many threads as clients
    return replace(load, clients=clients, threads=max(1, clients // 2))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _is_text(script: str) -> bool:
    """Whether a script is no file: one of pgbench's own, or the text itself."""
    return script in BUILTIN_SCRIPTS or "\n" in script or ";" in script


PLAN = PgbenchKind()
