"""Errors of the database outside of the load: a failed trial with its reason, and a campaign that
goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.model.installation import Installation
from teiten.model.trial import Outcome
from tests.fixtures.campaigns import Teiten

PREWARM = """
CREATE TABLE t AS SELECT 1 AS a;
CREATE FUNCTION pg_prewarm(relation oid) RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  CASE current_setting('work_mem')
    WHEN '8MB' THEN PERFORM pg_sleep(10);
    WHEN '16MB' THEN PERFORM pg_terminate_backend(pg_backend_pid());
    ELSE NULL;
  END CASE;
  RETURN 1;
END $$;
"""
"""The function that is called to prewarm: at two levels of the contrast it does what it should not.
It is chosen before the extension's, whose parameter has another type."""
REASONS = {
    "8MB": "canceling statement due to statement timeout",
    "16MB": "terminating connection",
}
STUDY = """
[study]
name = "failing"
title = "Failing"
question = "Does the campaign go on?"
contrast = "guc:work_mem"

[factors]
server = ["own"]
"guc:work_mem" = ["4MB", "8MB", "16MB"]

[servers]
own = {server}

[[workloads]]
name = "one"
title = "One"
queries = "one"
changes_data = false
[workloads.data]
script = "tables.sql"

[settings]
shared_buffers = "16MB"

[measure]
settle = "0s"
blocks = 2
disturbed_share = "100%"
repeats = 0
"""


@pytest.fixture
def teiten(emptied: Teiten) -> Teiten:
    return emptied


def test_a_failure_in_prewarm_is_a_failed_trial(
    teiten: Teiten, tmp_path: Path, installation: Callable[[str], Installation]
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "one.sql").write_text("SELECT count(*) FROM t", encoding="utf-8")
    (tmp_path / "tables.sql").write_text(PREWARM, encoding="utf-8")
    server = f'"{installation("18").bin_directory}"'
    path = tmp_path / "failing.toml"
    path.write_text(STUDY.format(server=server), encoding="utf-8")
    result = teiten.run("run", path, "--guc", "statement_timeout=2s", "--set", "prewarm=yes")
    trials = teiten.trials()
    assert len(trials) == 6, result.stderr
    assert "defect" not in result.stderr and "Traceback" not in result.stderr
    assert result.returncode == 4, result.stderr
    levels = {trial.number: trial.cell.level("guc:work_mem") for trial in teiten.plan().trials}
    for trial in trials:
        level = levels[trial.number] or ""
        if level not in REASONS:
            assert trial.outcome is Outcome.COUNTED, trial.problems
            continue
        assert trial.outcome is Outcome.FAILED
        assert trial.problems[0].code == "prewarm-failed"
        assert REASONS[level] in trial.problems[0].detail
        assert "server log" in dict(trial.evidence)
