"""``teiten claims``: the list, a campaign's outcomes, and what does not exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from teiten.analysis.claims.outcomes import of_major
from teiten.claims.catalogue import claims_of
from teiten.cli.main import teiten
from teiten.errors import LedgerError, UsageError
from tests.fixtures.planned import planned
from tests.fixtures.synthetic import write_synthetic_ledger


@pytest.fixture(scope="module")
def workdir(module_folder: Path) -> Path:
    write_synthetic_ledger(module_folder / "campaigns" / "one", trials=120, samples=1200)
    return module_folder


def run(workdir: Path, *arguments: str) -> Result:
    command = ["--workdir", str(workdir), "claims", *arguments]
    return CliRunner().invoke(teiten, command, standalone_mode=False)


def test_the_list_needs_no_campaign(workdir: Path) -> None:
    said = run(workdir).stdout
    assert all(f"{claim.id}\n" in said for claim in claims_of())
    assert "PGECons WG1 2013 §2.4.3 (3), slide 9, table 2.3" in said
    assert "99.93 % (printed;" in said and "95.81 %" in said
    assert "needs: the workload read; PostgreSQL 13, 14" in said
    assert "表2.2" in run(workdir, "observe", "--lang", "ja").stdout


def test_outcomes_of_a_campaign(workdir: Path) -> None:
    said = run(workdir, "observe", "--run", "one").stdout
    assert "2021-read-14-slower  not applicable here" in said
    assert "needs PostgreSQL 13, 14; here 17, 18" in said
    # The invented TPS go on rising beyond the two cores of the invented machine.
    assert "2021-read-plateau-at-cores  contradicted" in said


def test_a_campaigns_own_study_comes_first(workdir: Path) -> None:
    """Findings of other studies, which do not apply to it, come after those that were asked for."""
    said = json.loads(run(workdir, "--run", "one", "--json").stdout)
    own = [one["study"] == "observe" for one in said]
    assert own == sorted(own, reverse=True) and any(own) and not all(own)


def test_as_json(workdir: Path) -> None:
    listed = json.loads(run(workdir, "--json").stdout)
    assert [one["id"] for one in listed] == [one.id for one in claims_of()]
    assert "outcome" not in listed[0]
    printed = {one["id"]: one["in_print"] for one in listed}
    assert printed["2021-read-14-slower"]["interval"] is not None
    outcomes = {one["id"]: one for one in json.loads(run(workdir, "--run", "one", "--json").stdout)}
    slower = outcomes["2021-read-14-slower"]
    assert (slower["outcome"], slower["checks"]) == ("not-applicable", [])
    assert slower["reason"] == {"code": "servers", "needed": "13, 14", "here": "17, 18"}
    plateau = outcomes["2021-read-plateau-at-cores"]
    assert plateau["deciding"]["outcome"] == "contradicted"
    assert plateau["deciding"] in plateau["checks"]


def test_what_does_not_exist_is_said(workdir: Path) -> None:
    refused = run(workdir, "obsreve").exception
    assert isinstance(refused, UsageError)
    assert "Did you mean 'observe'?" in refused.message
    assert isinstance(run(workdir, "--run", "nothing").exception, LedgerError)


def test_promises_of_release_notes_are_listed_by_version(workdir: Path) -> None:
    promised = json.loads(run(workdir, "--promises", "15,18", "--json").stdout)
    assert {one["promise"] for one in promised} == {"15", "18"}
    assert "PostgreSQL 18 release notes" in run(workdir, "--promises", "18").stdout
    assert len(json.loads(run(workdir, "--promises", "all", "--json").stdout)) > len(promised)
    with pytest.raises(UsageError, match="no promise of these versions"):
        CliRunner().invoke(
            teiten,
            ["--workdir", str(workdir), "claims", "--promises", "9"],
            standalone_mode=False,
            catch_exceptions=False,
        )


@pytest.mark.parametrize(
    ("asked", "level"),
    [("18", "18"), ("<18", "17"), (">=17", "17"), ("<17", None), (">=19", None)],
)
def test_a_promise_is_asked_across_its_version(asked: str, level: str | None) -> None:
    assert of_major(planned(), asked) == level
