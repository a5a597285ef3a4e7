"""Procedures, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from teiten.datasets.plan import plan_of as data_plan_of
from teiten.datasets.plan import query_seconds
from teiten.given_paths import expanded
from teiten.kinds.contract import KindPlan, LevelLeftOut, ToldStep
from teiten.kinds.procedure.metrics import CONTRASTED, METRICS, STEP_TIME
from teiten.kinds.procedure.model import (
    METHOD,
    Method,
    ProcedureOptions,
    ProcedureStep,
    StepDo,
    procedure_of,
)
from teiten.model.installation import Installation, ModuleTools
from teiten.model.plan import PlannedTrial
from teiten.model.study import Measure, Script, Study, Workload, WorkloadOptions
from teiten.model.text import Bilingual
from teiten.model.units import Seconds
from teiten.study.locate import Place
from teiten.study.schema import WorkloadTable
from teiten.study.scripts import read_sql
from teiten.study.tables import Major, Name, Text, TomlTable, Words

FILLING = (StepDo.COPY, StepDo.INSERT, StepDo.PROGRAM)
"""Steps to which rows come from outside."""
CRASH_SINCE = 10
"""The oldest major version whose WAL to be recovered can be asked for."""


class StepTable(TomlTable):
    """A step: one of ``sql``, ``copy``, ``insert``, ``plan``, ``program`` and ``crash``."""

    name: Name
    sql: str = ""
    copy_into: str = Field("", alias="copy")
    insert: str = ""
    plan: str = ""
    program: Annotated[str, Field(pattern=r"^([a-z][a-z0-9_]*)?$")] = ""
    arguments: Annotated[list[str], Field(default_factory=list)]
    crash: bool = False
    timed: bool = True
    rows: str = ""
    batch: Annotated[int, Field(ge=1, le=1000)] = 1
    each: str = ""
    times: Annotated[int, Field(ge=1, le=100_000)] = 1
    locks: bool = False
    before: str = ""
    options: str = ""

    @property
    def _forms(self) -> dict[StepDo, str | bool]:
        return {
            StepDo.EXECUTE: self.sql,
            StepDo.PLAN: self.plan,
            StepDo.PROGRAM: self.program,
            StepDo.COPY: self.copy_into,
            StepDo.INSERT: self.insert,
            StepDo.CRASH: self.crash,
        }

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        forms = "needs one of sql, copy (a table), insert (a table), plan, program and crash"
        fills = bool(self.copy_into or self.insert)
        for message, holds in (
            (forms, sum(map(bool, self._forms.values())) == 1),
            ("arguments is for program", self.program or not self.arguments),
            ("rows is a query for copy and insert, which need it", bool(self.rows) == fills),
            ("batch is for insert", self.insert or self.batch == 1),
            ("times is for sql and plan", self.sql or self.plan or self.times == 1),
            ("locks is for sql", self.sql or not self.locks),
            ("before and options are for copy", self.copy_into or not self.before + self.options),
            ("a crash is not for each row of a query", not (self.crash and self.each)),
        ):
            if not holds:
                raise ValueError(message)
        return self

    def step(self) -> ProcedureStep:
        return ProcedureStep(
            self.name,
            next(do for do, form in self._forms.items() if form),
            self.sql or self.plan or self.program or self.rows,
            self.copy_into or self.insert,
            self.batch,
            self.each,
            self.times,
            self.locks,
            self.before,
            self.options,
            tuple(self.arguments),
            self.timed,
        )


class MethodTable(TomlTable):
    name: Name
    title: Text
    setup: Words = ()
    steps: Annotated[list[StepTable], Field(min_length=1)]
    cleanup: Words = ()
    needs: Major = None
    partitioned: bool = True
    against: str = ""
    module: str = ""
    own_server: bool = False


class ProcedureTable(WorkloadTable):
    """The keys of a workload of procedures."""

    methods: Annotated[list[MethodTable], Field(min_length=1)]
    counted: str = ""
    sized: str = ""


class Procedures(KindPlan):
    does = "times the steps of procedures"
    loading = "set a method up, then time its steps"
    metrics = METRICS
    contrasted = CONTRASTED
    measures: ClassVar[tuple[str, ...]] = (STEP_TIME,)
    options = ProcedureOptions
    table = ProcedureTable
    brings: ClassVar[tuple[str, ...]] = (METHOD,)
    own_factor: ClassVar[str | None] = METHOD

    def options_of(self, place: Place, table: WorkloadTable) -> ProcedureOptions:
        assert isinstance(table, ProcedureTable)
        if not table.changes_data:
            raise place.error(
                "changes_data",
                "procedures change data",
                "write changes_data = true: every trial begins with a fresh copy",
            )
        methods = tuple(_method(place, at, method) for at, method in enumerate(table.methods))
        names = [method.name for method in methods]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise place.error("methods", f"there are two methods {twice!r}", "rename one of them")
        for method in methods:
            if method.against and (method.against not in names or method.against == method.name):
                raise place.error(
                    "methods",
                    f"the method {method.name!r} is against {method.against!r}",
                    f"name another of its methods: {', '.join(names)}",
                )
        return ProcedureOptions(methods, table.counted, table.sized)

    def titles(self, options: WorkloadOptions) -> Mapping[str, Bilingual]:
        assert isinstance(options, ProcedureOptions)
        return {method.name: method.title for method in options.methods}

    def wants_modules(self, workload: Workload) -> bool:
        return any(method.module for method in procedure_of(workload).methods)

    def left_out(
        self, workload: Workload, server: Installation, tools: ModuleTools | None
    ) -> Iterator[LevelLeftOut]:
        for method in procedure_of(workload).methods:
            why = _lacking(method, server, tools)
            if why is not None:
                yield LevelLeftOut(METHOD, method.name, method.title, why)

    def measured_seconds(self, measure: Measure, workload: Workload) -> Seconds:
        """Estimate a trial's seconds, of the mean of the methods."""
        return _seconds_of_steps(workload, timed=True)

    def load_seconds(self, measure: Measure, workload: Workload) -> Seconds:
        """With what is not timed: steps, and set-ups, each of which reads the tables."""
        methods = procedure_of(workload).methods
        set_up = sum(bool(method.setup) for method in methods) / len(methods)
        setting_up = set_up * query_seconds(workload.data)
        untimed = _seconds_of_steps(workload, timed=False)
        return Seconds(setting_up + untimed + self.measured_seconds(measure, workload))

    def processes(self, trial: PlannedTrial) -> int:
        return 2

    def facts(self, workload: Workload) -> Iterator[str]:
        yield f"{len(procedure_of(workload).methods)} methods, each in a trial of its own"

    def warm_up(self, study: Study, workload: Workload) -> ToldStep:
        return ToldStep("warm-up", "the method's set-up, not timed, and a CHECKPOINT")

    def measuring(self, study: Study, workload: Workload) -> ToldStep:
        return ToldStep(
            "procedure", "the steps of one method, timed unless the study says otherwise"
        )

    def turn(self, study: Study, trial: PlannedTrial, number: int) -> str:
        options = procedure_of(study.workload(trial.cell.workload))
        method = options.method(trial.cell.level(METHOD) or "")
        steps = (step.name if step.timed else f"{step.name} (not timed)" for step in method.steps)
        return f"method {method.name}: {', '.join(steps)}"


def _seconds_of_steps(workload: Workload, *, timed: bool) -> Seconds:
    """Estimate the seconds of a trial's steps, of the mean of the methods: one to which rows come
    from outside takes as long as filling the tables, any other one as reading them."""
    filling = data_plan_of(workload.data.kind).fill_seconds(workload.data)
    reading = query_seconds(workload.data)
    methods = procedure_of(workload).methods
    steps = (step for method in methods for step in method.steps if step.timed is timed)
    seconds = sum(filling if step.do in FILLING else reading for step in steps)
    return Seconds(seconds / len(methods))


def _method(place: Place, at: int, table: MethodTable) -> Method:
    names = [step.name for step in table.steps]
    if len(set(names)) < len(names):
        raise place.error(("methods", at, "steps"), "two steps have one name", "rename one of them")
    if not any(step.timed for step in table.steps):
        raise place.error(
            ("methods", at, "steps"), "no step is timed", "leave timed = false out of one of them"
        )
    return Method(
        name=table.name,
        title=table.title,
        steps=tuple(step.step() for step in table.steps),
        setup=tuple(read_sql(place, ("methods", at, "setup"), text) for text in table.setup),
        cleanup=tuple(read_sql(place, ("methods", at, "cleanup"), text) for text in table.cleanup),
        needs=table.needs,
        partitioned=table.partitioned,
        against=table.against,
        module=_module(place, ("methods", at, "module"), table.module),
        own_server=table.own_server,
    )


def _lacking(method: Method, server: Installation, tools: ModuleTools | None) -> Bilingual | None:
    """Why a server cannot have a method; None where it can."""
    lacking = ", ".join(filter(server.surely_lacks_program, method.programs))
    oldest = max(method.needs or 0, CRASH_SINCE if method.crashes else 0)
    if server.version.major_number < oldest:
        return Bilingual(
            f"it needs PostgreSQL {oldest} or later", f"PostgreSQL {oldest}以降が必要である"
        )
    if lacking:
        return Bilingual(f"{server.name} has no {lacking}", f"{server.name}に{lacking}がない")
    if method.programs and server.attached is not None:
        return Bilingual(
            "it runs programs beside the server, which is attached",
            "サーバと同じホストでプログラムを実行するが、サーバは接続先として指定されたものである",
        )
    if (method.crashes or method.own_server) and server.attached is not None:
        return Bilingual(
            "it needs a server that Teiten starts, and this one is attached",
            "Teitenが起動するサーバが必要だが、サーバは接続先として指定されたものである",
        )
    return tools.lacking if method.module is not None and tools is not None else None


PLAN = Procedures()


def _module(place: Place, key: Sequence[str | int], value: str) -> Script | None:
    """A file with C functions; None where none is named. Raises what ``place.error`` makes."""
    if not value:
        return None
    for folder in place.folders:
        path = folder / expanded(value)
        if path.suffix == ".c" and path.is_file():
            try:
                return Script(path.name, False, path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                raise place.error(
                    key, f"{path} cannot be read: {error}", "a module is a text of C in UTF-8"
                ) from error
    raise place.error(key, f"there is no file {value!r}", "name a file *.c with C functions")
