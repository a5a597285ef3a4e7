"""Published ledgers still give the findings that are printed: each outcome and each interval."""

from __future__ import annotations

import json
import lzma
from math import isfinite
from pathlib import Path
from typing import Any

import pytest

from teiten.analysis.model.claims import Check
from teiten.cli.campaign.read import read_campaign
from teiten.ledger.published import reduced, restore
from tests.conftest import ROOT

LEDGERS = sorted((ROOT / "docs" / "replication").glob("**/ledgers/*.sqlite.xz"))
assert LEDGERS


def printed(ledger: Path) -> dict[str, dict[str, Any]]:
    """The findings of the ledger's campaign, as the collection beside it prints them."""
    text = (ledger.parents[1] / "findings.json").read_text(encoding="utf-8")
    campaign = ledger.name.removesuffix(".sqlite.xz")
    findings = json.loads(text)["findings"]
    return {finding["id"]: finding for finding in findings if finding["campaign"] == campaign}


def ends(check: Check) -> list[float | None] | None:
    """An interval as JSON has it, without an infinite end."""
    low, high = check.low, check.high
    return None if low is None else [low, high if high is not None and isfinite(high) else None]


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda path: path.name.removesuffix(".sqlite.xz"))
def test_a_published_ledger_gives_the_findings_that_are_printed(
    ledger: Path, tmp_path: Path
) -> None:
    campaign = ledger.name.removesuffix(".sqlite.xz")
    restore(ledger.read_bytes(), tmp_path / campaign)
    outcomes = {outcome.claim.id: outcome for outcome in read_campaign(tmp_path / campaign).claims}
    expected = printed(ledger)
    assert expected
    for name, finding in expected.items():
        outcome = outcomes[name]
        assert outcome.standing == finding["outcome"], name
        for check, shown in zip(outcome.checks, finding["checks"], strict=True):
            assert ends(check) == pytest.approx(shown["interval"]), name


def test_a_restored_ledger_is_published_as_it_was(tmp_path: Path) -> None:
    published = min(LEDGERS, key=lambda path: path.stat().st_size).read_bytes()
    restore(published, tmp_path / "campaign")
    assert lzma.decompress(reduced(tmp_path / "campaign")) == lzma.decompress(published)
