"""Procedures: their form in a study, what a server cannot have, errors in words, findings."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest

from teiten.analysis.claims.checks import check_of, checks_in_print, checks_of, estimated
from teiten.analysis.model.claims import Claim, ClaimContrast, ClaimQuestion, ClaimStanding
from teiten.analysis.model.evidence import EvidenceTable
from teiten.analysis.model.observations import Observation
from teiten.analysis.model.predicate import Ground, Predicate, UnmetError
from teiten.analysis.verdict.contrasts import compared_sides
from teiten.claims.catalogue import claims_of
from teiten.claims.predicates.levels import (
    EffectOfLevels,
    LargestPart,
    OfLevels,
    OrderOfLevels,
    ValueAtLevel,
)
from teiten.datasets.access_log.model import AccessLogTables, day_of_log
from teiten.datasets.plan import plan_of as data_plan_of
from teiten.datasets.plan import query_seconds
from teiten.errors import StudyError, UsageError, WorkloadError
from teiten.execute.postgres.beside import filled, with_installation
from teiten.execute.probes import backend
from teiten.execute.probes.backend import Usage, backend_process, usage_of
from teiten.kinds.contract import plan_of
from teiten.kinds.procedure.load import told
from teiten.kinds.procedure.model import StepDo, procedure_of
from teiten.kinds.procedure.plan import PLAN
from teiten.model.installation import ModuleTools, Version
from teiten.model.plan import Plan, TemplateSpec
from teiten.model.study import Study
from teiten.model.text import Bilingual
from teiten.model.units import Bytes
from teiten.plan.cells import levels_of
from teiten.plan.sites.of import without_missing
from teiten.study.load import load_study
from tests.fixtures.invented_claims import a_claim
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import make_installation
from tests.unit.test_attached import server

LACKING = ModuleTools(None, Bilingual("postgres.h is missing", "postgres.hがない"))
WHOLE = ModuleTools(Path("/usr/bin/pg_config"), None)


def study(*changes: str) -> Study:
    return load_study("log-partitions", profile="quick", overrides=["scale=1", *changes])


def test_a_method_is_what_its_table_says() -> None:
    insert = procedure_of(study().workload("insert"))
    (step,) = insert.method("batches-declarative").steps
    assert (step.do, step.into, step.batch) == (StepDo.INSERT, "log", 100)
    text = insert.method("trigger-c").text()
    assert "{module}" in text and "-- for each row of: SELECT * FROM log_days" in text
    module = insert.method("trigger-c").module
    assert module is not None and "PG_FUNCTION_INFO_V1(log_insert)" in module.text


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ('[{ name = "a", sql = "x", copy = "t" }]', "one of sql, copy"),
        ('[{ name = "a", copy = "t" }]', "rows is a query"),
        ('[{ name = "a", sql = "x", batch = 2 }]', "batch is for insert"),
        ('[{ name = "a", sql = "x" }, { name = "a", sql = "y" }]', "two steps have one name"),
        ('[{ name = "a", zz = "x" }]', "unknown key. Known: name, sql, copy, insert,"),
        ("[]", "at least one entry"),
        ('[{ name = "a", sql = "x" }], against = "three"', "is against 'three'"),
    ],
)
def test_steps_that_contradict_are_refused(steps: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        f"""
        [study]
        name = "own"
        title = "Own"
        question = "?"
        contrast = "method"
        [factors]
        server = ["18"]
        [[workloads]]
        name = "insert"
        title = "Insert"
        kind = "procedure"
        changes_data = true
        scale = 1
        methods = [
            {{ name = "one", title = "One", steps = {steps} }},
            {{ name = "two", title = "Two", steps = [{{ name = "b", sql = "SELECT 1" }}] }},
        ]
        [workloads.data]
        kind = "access_log"
        days = 2
        """,
        encoding="utf-8",
    )
    with pytest.raises(StudyError, match=said):
        load_study(str(file))


def test_a_statement_is_planned_as_reading_its_tables_and_sent_rows_as_filling_them() -> None:
    loaded = load_study("maintenance", overrides=["workloads=all"])
    rule = plan_of("procedure")
    seconds = {
        workload.name: rule.measured_seconds(loaded.measure, workload)
        for workload in loaded.workloads
    }
    data = loaded.workload("vacuum").data
    assert seconds["vacuum"] == seconds["reindex"] == query_seconds(data)
    filling = data_plan_of(data.kind).fill_seconds(data)
    assert seconds["copy-in"] == seconds["dump"] == filling > 10 * query_seconds(data)


def test_rows_that_are_sent_are_compared_with_rows_that_are_sent() -> None:
    pairs = {new: old for old, new in compared_sides(expanded(study("layout=days-30")), "insert")}
    assert pairs["copy-declarative"] == "copy-one-table"
    assert pairs["batches-declarative"] == "batches-one-table"
    assert pairs["declarative"] == pairs["copy-one-table"] == "one-table"
    some = expanded(study("workloads=insert", "method=one-table,copy-declarative"))
    assert [*compared_sides(some, "insert")] == [("one-table", "copy-declarative")], "what is there"


def test_one_method_is_no_comparison() -> None:
    with pytest.raises(UsageError, match="at least two levels"):
        study("method=declarative")


def test_what_a_server_cannot_have_is_left_out_and_said() -> None:
    old = replace(make_installation("9.6.24"), version=Version(90624))
    found = without_missing(study(), [("9.6", old)], {"9.6": LACKING})
    left = levels_of(found, found.workload("insert"), "method")
    plain = ("one-table", "direct", "trigger-dynamic", "trigger-static")
    assert left == (*plain, "copy-one-table", "batches-one-table")
    said = [difference.en for difference in found.differences[len(study().differences) :]]
    assert any("(trigger-c)" in one and "postgres.h is missing" in one for one in said)
    assert any("(detach-concurrently)" in one and "PostgreSQL 14 or later" in one for one in said)
    assert without_missing(found, [("9.6", old)], {"9.6": LACKING}) == found


PROGRAMS = """
[study]
name = "programs"
title = "Programs"
question = "What does it take?"
contrast = "method"
conclusive = false

[factors]
server = ["18"]

[[workloads]]
name = "vacuum"
title = "VACUUM"
kind = "procedure"
changes_data = true
[workloads.data]
script = "tables.sql"
[[workloads.methods]]
name = "program"
title = "By vacuumdb"
steps = [{ name = "vacuum", PROGRAM }]
[[workloads.methods]]
name = "statement"
title = "By SQL"
steps = [{ name = "vacuum", sql = "VACUUM" }]
[[workloads.methods]]
name = "analyze"
title = "With ANALYZE"
steps = [{ name = "vacuum", sql = "VACUUM (ANALYZE)" }]

[measure]
blocks = 2
"""
VACUUMDB = 'program = "vacuumdb", arguments = ["--jobs=2", "{database}"]'


def programs(folder: Path, step: str = VACUUMDB) -> Study:
    (folder / "tables.sql").write_text("CREATE TABLE t AS SELECT 1 AS a;", encoding="utf-8")
    path = folder / "programs.toml"
    path.write_text(PROGRAMS.replace("PROGRAM", step), encoding="utf-8")
    return load_study(str(path))


def test_a_step_can_run_a_program(tmp_path: Path) -> None:
    method = procedure_of(programs(tmp_path).workload("vacuum")).method("program")
    (step,) = method.steps
    assert (step.do, step.text, step.arguments[1]) == (StepDo.PROGRAM, "vacuumdb", "{database}")
    assert method.programs == ("vacuumdb",) and "\nvacuumdb --jobs=2" in method.text()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('program = "/bin/sh"', "program"),
        ('program = "pg_dump; id"', "program"),
        ('program = "vacuumdb", sql = "VACUUM"', "needs one of sql"),
        ('sql = "VACUUM", arguments = ["--all"]', "arguments is for program"),
        ('program = "vacuumdb", rows = "SELECT 1"', "rows is a query for copy and insert"),
        ('crash = true, sql = "SELECT 1"', "needs one of sql"),
        ('crash = true, each = "SELECT 1"', "a crash is not for each row"),
        ('sql = "VACUUM", timed = false', "no step is timed"),
    ],
)
def test_what_is_no_step_of_a_program_is_refused(tmp_path: Path, step: str, said: str) -> None:
    with pytest.raises(StudyError, match=said):
        programs(tmp_path, step)


def test_a_method_is_left_out_whose_program_the_server_lacks(tmp_path: Path) -> None:
    study = programs(tmp_path)
    whole = replace(make_installation("18.4"), programs=frozenset({"postgres", "vacuumdb"}))
    assert without_missing(study, [("18", whole)], {}) == study
    bare = replace(whole, programs=frozenset({"postgres"}))
    found = without_missing(study, [("18", bare)], {})
    left = levels_of(found, found.workload("vacuum"), "method")
    assert left == ("statement", "analyze")
    (difference,) = found.differences
    assert "has no vacuumdb" in difference.en and "vacuumdbがない" in difference.ja


def test_nothing_is_left_out_where_all_is_there() -> None:
    here = study()
    assert without_missing(here, [("18", make_installation("18.4"))], {"18": WHOLE}) == here


def test_too_few_methods_are_refused_with_the_reason() -> None:
    chosen = study("method=trigger-c,one-table", "workloads=insert")
    with pytest.raises(UsageError, match=r"trigger-c .*postgres\.h is missing"):
        without_missing(chosen, [("18", make_installation("18.4"))], {"18": LACKING})


def test_what_a_step_needs_is_not_timed(tmp_path: Path) -> None:
    prepared = 'sql = "SELECT 1", timed = false }, { name = "crash", crash = true'
    workload = programs(tmp_path, prepared).workload("vacuum")
    method = procedure_of(workload).method("program")
    assert [step.timed for step in method.steps] == [False, True] and method.crashes
    assert "-- not timed: vacuum\nSELECT 1\n-- timed: crash\n-- a crash" in method.text()
    attached = replace(make_installation("18.4"), attached=server())
    left = list(PLAN.left_out(workload, attached, None))
    assert [level.level for level in left] == ["program"] and "Teiten starts" in left[0].why.en


def test_the_options_of_a_servers_cluster_stand_for_one_argument() -> None:
    data = study().workload("insert").data
    template = TemplateSpec(make_installation("18.4"), False, data, "named", Bytes(1))
    given = ("{initdb}", "--pgdata={folder}/new", "--new-bindir={programs}")
    *options, folder, programs = with_installation(given, template)
    assert {"--no-data-checksums", "--locale=C"} <= set(options) and folder == given[1]
    assert programs == f"--new-bindir={template.installation.bin_directory}"


def test_places_are_filled_and_other_braces_stay() -> None:
    assert filled("'{day}' {other} {{}}", {"day": "2014-01-01"}) == "'2014-01-01' {other} {{}}"


def test_the_kernel_tells_what_a_backend_used(tmp_path: Path) -> None:
    process = tmp_path / "7"
    process.mkdir()
    (process / "io").write_bytes(b"rchar: 1\nread_bytes: 8192\nwrite_bytes: 16384\n")
    (process / "schedstat").write_bytes(b"1500000000 2 3\n")
    assert usage_of(7, tmp_path) == Usage(1.5, 8192, 16384)
    (process / "schedstat").unlink()
    (process / "stat").write_bytes(b"7 (post gres) S " + b" ".join(b"%d" % at for at in range(49)))
    found = usage_of(7, tmp_path).cpu
    assert found is not None and found > 0
    assert usage_of(8, tmp_path) == usage_of(None) == Usage()


def test_only_the_very_backend_is_looked_at() -> None:
    own, now = os.getpid(), time.time()
    name = Path("/proc/self/comm").read_text(encoding="utf-8").strip()
    began = psutil.Process().create_time()
    assert backend_process(own, began) is None, f"{name} is not PostgreSQL"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "PROGRAMS", (name,))
        assert backend_process(own, began) == psutil.Process()
        assert backend_process(own, now + 60) is None, "began at another time"
        assert backend_process(2**22 + 1, began) is None


def test_a_full_lock_table_says_what_to_do() -> None:
    method = procedure_of(study().workload("insert")).method("declarative")

    class OutOfMemory(psycopg.errors.OutOfMemory):
        sqlstate = "53200"

    said = told(OutOfMemory("out of shared memory\nHINT: …"), method, "declarative.sql")
    assert isinstance(said, WorkloadError)
    assert "lock table is full" in said.message
    assert "max_locks_per_transaction" in said.hint
    lost = psycopg.OperationalError("server closed the connection")
    assert told(lost, method, "insert") is lost


def test_the_same_seed_makes_the_same_rows() -> None:
    tables = AccessLogTables(days=3, seed=1, products=10)
    assert day_of_log(tables, 1, 1000) == day_of_log(tables, 1, 1000)
    assert day_of_log(tables, 1, 1000) != day_of_log(replace(tables, seed=2), 1, 1000)
    assert "generate_series(1000::bigint, 1999::bigint)" in day_of_log(tables, 1, 1000)


# Findings

TIMES = {"direct": 1.0, "trigger-c": 2.0, "trigger-dynamic": 3.0, "trigger-static": 4.0}


@pytest.fixture(scope="module")
def plan() -> Plan:
    methods = ",".join(("one-table", *TIMES))
    return expanded(study(f"method={methods}", "workloads=insert"))


def ground(plan: Plan, times: dict[str, float]) -> Ground:
    """Two layouts, three blocks with some scatter."""
    server = plan.servers[0][0]
    observations = [
        Observation(
            "insert",
            (("server", server), ("layout", layout)),
            method,
            block,
            {
                "procedure_seconds": seconds * (1 + 0.01 * ((block * number) % 3)),
                "step_seconds:insert": seconds,
                "step_seconds:other": seconds * (3 + 0.1 * block),
            },
        )
        for layout in ("days-30", "days-90")
        for number, (method, seconds) in enumerate(times.items(), start=1)
        for block in (1, 2, 3)
    ]
    return Ground(EvidenceTable(plan, observations), 2)


def outcome(
    predicate: Predicate,
    plan: Plan,
    times: dict[str, float] = TIMES,
    contrast: ClaimContrast | None = None,
    metric: str = "procedure_seconds",
) -> set[ClaimStanding]:
    about = {"workload": "insert", "metric": metric, "contrast": contrast}
    found = a_claim(predicate=predicate, **about)
    return {one.standing for one in checks_of(found, ground(plan, times))}


def test_an_order_holds_or_does_not(plan: Plan) -> None:
    order = OrderOfLevels(everywhere=True, order=tuple(TIMES))
    assert outcome(order, plan) == {ClaimStanding.REPRODUCED}
    other = {**TIMES, "trigger-static": 2.5}
    assert outcome(order, plan, other) == {ClaimStanding.REPRODUCED, ClaimStanding.CONTRADICTED}


def test_an_effect_holds_or_does_not(plan: Plan) -> None:
    contrast = ClaimContrast("method", "direct", "trigger-c")
    held = outcome(EffectOfLevels(everywhere=True, low=1.5, high=2.5), plan, contrast=contrast)
    assert held == {ClaimStanding.REPRODUCED}
    refused = outcome(EffectOfLevels(everywhere=True, high=1.5), plan, contrast=contrast)
    assert refused == {ClaimStanding.CONTRADICTED}


def test_a_value_and_a_largest_step(plan: Plan) -> None:
    for bound, standing in ((1.5, ClaimStanding.REPRODUCED), (0.5, ClaimStanding.CONTRADICTED)):
        value = ValueAtLevel(everywhere=True, level="direct", high=bound)
        assert outcome(value, plan) == {standing}
    for parts, standing in (
        (("other", "insert"), ClaimStanding.REPRODUCED),
        (("insert", "other"), ClaimStanding.CONTRADICTED),
    ):
        part, other = parts
        largest = LargestPart(everywhere=True, level="direct", part=part, others=(other,))
        assert outcome(largest, plan, metric=f"step_seconds:{part}") == {standing}


def test_a_finding_needs_each_of_its_checks_at_alpha(plan: Plan) -> None:
    order = OrderOfLevels(everywhere=True, order=tuple(TIMES))
    about = {"workload": "insert", "metric": "procedure_seconds"}
    found = checks_of(a_claim(predicate=order, **about), ground(plan, TIMES))
    first = found[0]
    values = next(
        iter(order.questions(a_claim(predicate=order, **about), ground(plan, TIMES)))
    ).values
    alone = estimated(tuple(values.values()), plan.study.measure.alpha)
    assert len(found) > 1 and alone is not None
    assert first.low == pytest.approx(math.exp(alone[1]))


def timed(plan: Plan, claim: Claim) -> Ground:
    """Every planned trial of a claim's workload with a number of its metric and of its steps."""
    contrast = plan.study.contrast
    names = (claim.metric, "step_seconds:vacuum", "step_seconds:delete", "step_seconds:analyze")
    observations = [
        Observation(
            claim.workload,
            tuple((name, level) for name, level in trial.cell.levels if name != contrast),
            trial.cell.level(contrast) or "",
            trial.block,
            dict.fromkeys(names, 1.0 + 0.02 * (trial.block % 3)),
        )
        for trial in plan.trials
        if trial.cell.workload == claim.workload
    ]
    return Ground(EvidenceTable(plan, observations), 2)


@pytest.mark.parametrize("profile", ["standard", "published"])
def test_each_finding_on_inserting_and_removing_can_come_out_either_way(profile: str) -> None:
    """With the blocks and the levels that a profile has, and times that scatter by 2 %."""
    plan = expanded(load_study("log-partitions", profile=profile, overrides=["scale=1"]))
    alpha, blocks = plan.study.measure.alpha, plan.study.measure.blocks
    for claim in claims_of("log-partitions"):
        predicate = claim.predicate
        assert isinstance(predicate, OfLevels)
        asked = [
            one
            for one in predicate.questions(claim, timed(plan, claim))
            if isinstance(one, ClaimQuestion)
        ]
        assert asked and all(len(one.values) == blocks for one in asked), claim.id
        inside, outside = (_standings(asked, where, blocks, alpha) for where in (1.0, -1.0))
        assert inside == {ClaimStanding.REPRODUCED}, claim.id
        assert outside == {ClaimStanding.CONTRADICTED}, claim.id


def _standings(
    asked: Sequence[ClaimQuestion], where: float, blocks: int, alpha: float
) -> set[ClaimStanding]:
    scatter = [0.02 * (block % 3) for block in range(blocks)]
    return {
        check_of(
            replace(one, values={n: _at(one, where) + each for n, each in enumerate(scatter)}),
            alpha,
            estimated,
            among=len(asked),
        ).standing
        for one in asked
    }


def _at(asked: ClaimQuestion, where: float) -> float:
    """A logarithm within the bounds, or (where negative) outside of them."""
    if math.isfinite(asked.low) and math.isfinite(asked.high):
        half = (asked.high - asked.low) / 2
        return asked.low + half if where > 0 else asked.high + 2 * half
    return asked.low + where if math.isfinite(asked.low) else asked.high - where


def test_a_method_that_was_left_out_is_named(plan: Plan) -> None:
    with pytest.raises(UnmetError) as raised:
        outcome(ValueAtLevel(everywhere=True, level="declarative", high=1.0), plan)
    assert raised.value.reason.code == "method"


def test_the_printed_tables_say_what_the_findings_say() -> None:
    printed = {
        one.id: [check.ratio for check in checks_in_print(one)]
        for one in claims_of("log-partitions")
    }
    order = [1713 / 1064, 2390 / 1713, 8150 / 2390]
    assert printed["2013-log-insert-order"] == pytest.approx(order)
    assert printed["2013-log-delete-vacuum"] == pytest.approx([3420 / 300, 3420 / 197])
    for one in claims_of("log-partitions"):
        for check in checks_in_print(one):
            assert check.standing is ClaimStanding.REPRODUCED, one.id
            assert check.ratio is not None and math.isfinite(check.ratio)
