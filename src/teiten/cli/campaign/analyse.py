"""From a ledger to its analysis: for the verbs that report, export or decide."""

from __future__ import annotations

from teiten.analysis.campaign import analyse
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.claims.catalogue import claims_of
from teiten.ledger.store import Ledger


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
