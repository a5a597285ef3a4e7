"""Methods of the log study on a real server: rows that all of them move, steps, space, WAL, CPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teiten.kinds.procedure.metrics import (
    BACKEND_CPU,
    PROCEDURE_TIME,
    PROCEDURE_WAL,
    PROGRAM_CPU,
    ROWS,
    SERVER_CPU,
    SIZE_CHANGE,
    WAL_TO_RECOVER,
)
from teiten.kinds.procedure.results import steps_of
from teiten.model.trial import Outcome, Trial
from tests.fixtures.campaigns import Teiten
from tests.fixtures.servers import left_processes, server_with_programs

INSERTED = ("one-table", "trigger-static", "copy-freeze", "stage-and-attach", "batches-declarative")
REMOVED = ("delete", "detach-concurrently")
DAY, DAYS = 1000, 3
CHANGES = (
    *("scale=1", f"data.days={DAYS}", "layout=days-30", "blocks=2", "disturbed_share=100%"),
    *("workloads=insert,remove", f"method={','.join((*INSERTED, *REMOVED))}"),
)


def test_every_method_moves_the_same_rows(teiten: Teiten, server: str) -> None:
    said = [word for one in CHANGES for word in ("--set", one)]
    flags = ("--profile", "quick", "--yes", "--seed", "3", "--servers", server)
    done = teiten.run("run", "log-partitions", *flags, *said)
    assert done.returncode == 0, done.stderr
    trials = by_method(teiten)
    assert set(trials) == {*INSERTED, *REMOVED}
    for method, trial in trials.items():
        assert trial.outcome is Outcome.COUNTED, trial.problems
        metrics = trial.metrics
        assert metrics[ROWS.name] == (DAY if method in REMOVED else DAY * DAYS)
        assert metrics[BACKEND_CPU.name] > 0 and metrics[PROCEDURE_WAL.name] > 0
        steps = steps_of(trial.facts)
        assert sum(step.seconds for step in steps) == metrics[PROCEDURE_TIME.name]
        row = 60  # bytes of data in a row at the least, for each of which WAL is written
        assert method in REMOVED or metrics[PROCEDURE_WAL.name] > row * DAY * DAYS
    names = {method: [one.name for one in steps_of(trials[method].facts)] for method in REMOVED}
    assert names == {"delete": ["delete", "vacuum", "analyze"], REMOVED[1]: ["detach", "drop"]}
    assert trials[REMOVED[1]].metrics[SIZE_CHANGE.name] < 0, "space is given back"
    assert trials["delete"].metrics[SIZE_CHANGE.name] >= 0, "the first pages of a table stay"
    report = (teiten.campaign() / "report" / "report.en.html").read_text(encoding="utf-8")
    assert "Methods compared" in report and "detach-concurrently" in report


def by_method(teiten: Teiten) -> dict[str, Trial]:
    methods = {trial.number: trial.cell.level("method") or "" for trial in teiten.plan().trials}
    return {methods[one.number]: one for one in teiten.trials()}


TWELVE = 12
RELATIONS = 4
"""A partition with three indexes, or their parents."""
QUESTION = (
    *(
        "layout=partitions-1,partitions-12",
        "method=plan-all,prepared,attach",
        "workloads=query,change",
    ),
    *("blocks=1", "disturbed_share=100%"),
)


def test_locks_are_counted_and_planning_is_the_servers_own(teiten: Teiten, server: str) -> None:
    """A prepared query of one of 12 partitions locks that one and its parent with their indexes,
    then all of them where the generic plan is made, then all tables."""
    said = [word for one in QUESTION for word in ("--set", one)]
    flags = ("--profile", "quick", "--yes", "--seed", "3", "--servers", server)
    done = teiten.run("run", "partition-count", *flags, *said)
    assert done.returncode == 0, done.stderr
    cells = {trial.number: trial.cell for trial in teiten.plan().trials}
    steps = {
        (cells[one.number].level("layout"), cells[one.number].level("method")): steps_of(one.facts)
        for one in teiten.trials()
    }
    locked = [
        (one.fast_path or 0) + (one.in_table or 0)
        for one in steps["partitions-12", "prepared"]
        if one.fast_path is not None
    ]
    assert locked == [2 * RELATIONS, RELATIONS * (1 + TWELVE), 1 + TWELVE]
    for one in steps["partitions-12", "plan-all"]:
        assert one.seconds > 0 and one.memory is not None and one.memory > 0
        assert one.planning is not None and one.planning > 0
    assert [one.times for one in steps["partitions-1", "attach"]] == [10, 10]
    report = (teiten.campaign() / "report" / "report.en.html").read_text(encoding="utf-8")
    assert "What each further partition costs" in report and "fast path" in report


PROGRAMS = """
[study]
name = "programs"
title = "Programs"
question = "What does a dump take?"
contrast = "method"
conclusive = false

[factors]
server = [{server}]

[[workloads]]
name = "dump"
title = "A dump"
kind = "procedure"
changes_data = true
counted = "SELECT count(*) FROM mine"
[workloads.data]
script = "tables.sql"

[[workloads.methods]]
name = "directory"
title = "As files"
[[workloads.methods.steps]]
name = "dump"
program = "pg_dump"
arguments = ["--format=directory", "--jobs=2", "--table=mine", "--file={{folder}}/my dump"]
[[workloads.methods.steps]]
name = "empty"
sql = "DROP TABLE mine"
[[workloads.methods.steps]]
name = "restore"
program = "pg_restore"
arguments = ["--dbname={{database}}", "{{folder}}/my dump"]

[[workloads.methods]]
name = "vacuum"
title = "VACUUM"
steps = [{{ name = "vacuum", program = "vacuumdb", arguments = ["--analyze", "--verbose"] }}]

[[workloads.methods]]
name = "copy"
title = "A copy of the cluster"
[[workloads.methods.steps]]
name = "copy"
program = "pg_basebackup"
arguments = ["--pgdata={{folder}}/copy", "--wal-method=none"]

[[workloads.methods]]
name = "not-root"
title = "A program that root may not run"
steps = [{{ name = "status", program = "pg_ctl", arguments = ["status", "-D", "{{data}}"] }}]

[[workloads]]
name = "broken"
title = "What fails"
kind = "procedure"
changes_data = true
[workloads.data]
script = "tables.sql"

[[workloads.methods]]
name = "nothing"
title = "Nothing"
steps = [{{ name = "nothing", sql = "SELECT 1" }}]

[[workloads.methods]]
name = "wrong"
title = "What is not there"
[[workloads.methods.steps]]
name = "restore"
program = "pg_restore"
arguments = ["--file=/dev/null", "{{folder}}/none"]

[measure]
blocks = 1
repeats = 0
disturbed_share = "100%"
"""


def program_study(teiten: Teiten, *servers: str) -> Path:
    folder = teiten.workdir.root
    (folder / "tables.sql").write_text(
        "CREATE TABLE mine AS SELECT g, repeat('x', 100) FROM generate_series(1, 50000) g;",
        encoding="utf-8",
    )
    path = folder / "programs.toml"
    path.write_text(PROGRAMS.format(server=", ".join(map(json.dumps, servers))), encoding="utf-8")
    return path


def test_steps_run_programs_of_the_servers_installation(teiten: Teiten) -> None:
    """As its user, with their output kept, their time and that of the server; one that fails fails
    its trial and says why."""
    own = server_with_programs("pg_dump", "pg_restore", "vacuumdb", "pg_basebackup", "pg_ctl")
    if own is None:
        pytest.skip("no server here has pg_dump, vacuumdb and pg_basebackup beside it")
    study = program_study(teiten, str(own.bin_directory))
    done = teiten.run("run", study, "--yes")
    assert done.returncode == 4, done.stderr
    assert "2 of 6 trials have no counted result" in done.stderr, "those of one workload"
    trials = by_method(teiten)
    for method in ("directory", "vacuum", "copy", "not-root"):
        assert trials[method].outcome is Outcome.COUNTED, trials[method].problems
        assert trials[method].metrics[PROGRAM_CPU.name] > 0
        assert SERVER_CPU.name in trials[method].metrics
    assert trials["directory"].metrics[SERVER_CPU.name] > 0
    assert trials["directory"].metrics[ROWS.name] == 0, "the restored table has all rows"
    dump, empty, restore = steps_of(trials["directory"].facts)
    assert min(dump.program_cpu or 0, restore.program_cpu or 0) > 0 == (empty.program_cpu or 0)
    assert restore.wal > 50_000 * 100 > dump.wal
    kept = {Path(name).name: teiten.campaign() / name for _, name in trials["vacuum"].evidence}
    assert "vacuuming" in kept["vacuumdb-1.err"].read_text(encoding="utf-8")
    wrong = trials["wrong"]
    assert wrong.outcome is Outcome.FAILED
    (problem,) = wrong.problems
    assert "step restore: pg_restore ended with exit code 1: " in problem.detail
    assert "/none" in problem.detail and "No such file" in problem.detail
    report = (teiten.campaign() / "report" / "report.en.html").read_text(encoding="utf-8")
    assert "program, CPU ms" in report
    assert not left_processes([teiten.workdir.root])


MAINTENANCE = "restore,recovery,decoding,upgrade-link"


def test_maintenance_restores_recovers_decodes_and_upgrades(teiten: Teiten) -> None:
    """What comes before a timed step counts for nothing; the crash is no problem of its trial."""
    own = server_with_programs("pg_dump", "pg_restore", "pg_upgrade", "pg_basebackup", "initdb")
    if own is None:
        pytest.skip("no server here has pg_upgrade and pg_restore beside it")
    changes = (
        *(f"workloads={MAINTENANCE}", "checksums=off,on", "contrast=checksums"),
        *("blocks=1", "disturbed_share=100%", "conclusive=false"),
    )
    few = [word for change in changes for word in ("--set", change)]
    flags = ("--servers", str(own.bin_directory), "--profile", "quick", "--yes")
    done = teiten.run("run", "maintenance", *flags, *few)
    assert done.returncode == 0, done.stderr
    trials = by_method(teiten)
    assert set(trials) == set(MAINTENANCE.split(",")) and len(teiten.trials()) == 2 * len(trials)
    for trial in teiten.trials():
        assert trial.outcome is Outcome.COUNTED, trial.problems
        (step,) = steps_of(trial.facts)
        assert step.seconds == trial.metrics[PROCEDURE_TIME.name] > 0.01
    (recovery,) = steps_of(trials["recovery"].facts)
    assert (recovery.to_recover or 0) > 600_000 * 40, "WAL of each new order line"
    assert recovery.server_cpu is not None and recovery.server_cpu > 0
    assert trials["recovery"].metrics[WAL_TO_RECOVER.name] == recovery.to_recover
    wal = max(
        step.wal for name in ("decoding", "recovery") for step in steps_of(trials[name].facts)
    )
    assert wal < 1_000_000, "that of the steps before is not theirs"
    logs = [teiten.campaign() / name for kind, name in trials["recovery"].evidence if "log" in kind]
    assert any("automatic recovery in progress" in log.read_text("utf-8") for log in logs)
    assert not left_processes([teiten.workdir.root])
