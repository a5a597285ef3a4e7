"""A kind of workload is a folder: one that times VACUUM is planned, and nothing else is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.errors import StudyError, UsageError
from teiten.kinds.contract import plan_of
from teiten.ledger import codec
from teiten.model.plan import Plan
from teiten.plan.dry import DryExecutor, actions
from teiten.plan.sites.remote import check_remote
from teiten.study.load import load_study
from tests.fixtures.more_rooms import VACUUM_STUDY, more_kinds
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import HOST


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "vacuum.toml"
    path.write_text(VACUUM_STUDY, encoding="utf-8")
    with more_kinds():
        yield path


def planned(study: Path, *overrides: str) -> Plan:
    return expanded(load_study(str(study), overrides=overrides))


def test_it_is_planned_and_kept(study: Path) -> None:
    plan = planned(study, "full=yes")
    (workload,) = plan.study.workloads
    assert (workload.kind, workload.options.full) == ("vacuum", True)  # type: ignore[attr-defined]
    assert [trial.cell.level("server") for trial in plan.trials[:2]] in (["17", "18"], ["18", "17"])
    assert plan.needs.measured_seconds == pytest.approx(6 * 3.0)
    assert codec.decode_plan(codec.encode_plan(plan)) == plan


def test_it_is_told_what_is_done(study: Path) -> None:
    plan = planned(study)
    executor = DryExecutor(plan)
    executor.rehearse(plan.trials[0])
    trial = executor.begin(plan.trials[0], 1)
    trial.measure(1)
    assert executor.actions[-1] == "VACUUM pgbench_accounts"
    assert "time VACUUM" in actions(plan, HOST, folder=Path("/here"), user="me")


def test_its_keys_are_its_own(study: Path) -> None:
    study.write_text(VACUUM_STUDY.replace("vacuum =", "vacum ="), encoding="utf-8")
    with pytest.raises(StudyError, match=r"vacum: unknown key. Did you mean 'vacuum'\?"):
        load_study(str(study))
    study.write_text(VACUUM_STUDY.replace("scale = 1", "runs = 3"), encoding="utf-8")
    with pytest.raises(StudyError, match="runs: unknown key"):
        load_study(str(study))


def test_it_takes_no_factor_of_others_and_says_what_it_needs_of_a_site(study: Path) -> None:
    text = VACUUM_STUDY.replace("[factors]", "[factors]\nclients = [1, 4]")
    study.write_text(text, encoding="utf-8")
    assert {trial.cell.level("clients") for trial in planned(study).trials} == {None}
    loaded = load_study(str(study))
    with pytest.raises(UsageError, match="accounts: not with servers or load generators on other"):
        check_remote(loaded, ())


def test_it_is_gone_with_its_folder(study: Path) -> None:
    assert plan_of("vacuum").told_by == "vacuum"
    with pytest.raises(StudyError, match="Known"):
        study.write_text(
            VACUUM_STUDY.replace("vacuum =", 'kind = "hoover"\nvacuum ='), encoding="utf-8"
        )
        load_study(str(study))
