"""Campaigns that are only read: of this working folder, or copied from another machine.

From a ledger to its analysis: for the verbs that report, export or decide.
"""

from __future__ import annotations

from pathlib import Path

from teiten.analysis.campaign import analyse
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.claims.catalogue import claims_of
from teiten.cli.main import Session
from teiten.errors import LedgerError
from teiten.given_paths import expanded
from teiten.ledger.campaigns import find_campaign
from teiten.ledger.reading import reading
from teiten.ledger.store import Ledger

FILES = (".sqlite", ".db")
"""Endings of what is meant for a ledger, and not for a campaign's name."""


def locate(session: Session, reference: str) -> Path:
    """A campaign's folder, or a ledger: by name, unique prefix, ``last`` or path.

    Raises LedgerError where none or several are meant.
    """
    path = expanded(reference)
    if path.is_file():
        return path.absolute()
    if path.suffix in FILES:
        raise LedgerError(
            f"there is no file {reference!r}",
            "name the ledger of a campaign (its folder has ledger.sqlite), or a campaign",
        )
    return find_campaign(session.workdir.campaigns, reference)


def read_campaign(path: Path) -> CampaignAnalysis:
    """The analysis of a ledger, without its time series; the ledger is never written."""
    with reading(path) as ledger:
        return analyse_campaign(ledger, series=False)


def analyse_campaign(ledger: Ledger, *, series: bool = True) -> CampaignAnalysis:
    """Analyse what the ledger holds now. ``series``: False where no time series are needed."""
    return analyse(
        name=ledger.name,
        teiten_version=ledger.teiten_version,
        created_at=ledger.created_at,
        command=ledger.command,
        plan=ledger.plan,
        facts=ledger.facts,
        cautions=ledger.cautions,
        server_facts=ledger.server_facts,
        trials=ledger.trials(series=series),
        events=ledger.events(),
        points=ledger.points(),
        claims=claims_of(ledger.plan.study.name),
    )
