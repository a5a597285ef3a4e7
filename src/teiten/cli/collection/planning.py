"""The campaigns of a collection planned for this machine: what can run, for how long, and which
findings it can judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.claims import ClaimOutcome, ClaimStanding, Reason
from teiten.analysis.model.collection import NOT_RUN
from teiten.claims.catalogue import claims_of
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned, check_planned, plan_sized, plan_study
from teiten.errors import MachineError, TeitenError
from teiten.model.quantities import format_size
from teiten.model.study import Sequential, Study
from teiten.model.units import Bytes, Seconds
from teiten.plan.durations import LEAST_BLOCKS, block_seconds
from teiten.study.collection import CampaignTable, CollectionTable
from teiten.study.load import load_study

MOST_BLOCKS = 150
"""The most blocks of a campaign: of a few levels, more than a night has."""
MOST_TRIALS = 4_000
OF_TRIALS = frozenset({"no-plans", "sizes", "serial", "too-small", "permitted"})
"""Reasons not to apply that are known only of trials that have run."""


@dataclass(frozen=True)
class PlannedCampaign:
    """A campaign of a collection with its first pass planned."""

    table: CampaignTable
    planned: Planned | None
    """None where it cannot even be planned."""
    lacking: str
    """The reason why it cannot run, with what helps; empty where it can."""
    outcomes: tuple[ClaimOutcome, ...] = ()
    """The findings of its study: those that no trial here can judge do not apply."""

    @property
    def runs(self) -> bool:
        return not self.lacking

    @property
    def first(self) -> Seconds:
        """The time of its first pass, with preparing."""
        return Seconds(0.0) if self.planned is None else self.planned.plan.needs.seconds

    @property
    def block(self) -> Seconds:
        return Seconds(0.0 if self.planned is None else block_seconds(self.planned.plan.study))

    @property
    def judged(self) -> int:
        """How many findings it can judge, as far as that is known before its trials."""
        return sum(self.why_not(outcome) is None for outcome in self.outcomes)

    def why_not(self, outcome: ClaimOutcome) -> Reason | None:
        """Why it cannot judge a finding; None where it can."""
        if not self.runs:
            return NOT_RUN
        reason = outcome.reason
        return None if outcome.applies or reason is None or reason.code in OF_TRIALS else reason


def plan_campaign(
    session: Session, collection: CollectionTable, table: CampaignTable
) -> PlannedCampaign:
    """Plan the first pass of a campaign; starts nothing."""
    planned: Planned | None = None
    why = ""
    outcomes = tuple(ClaimOutcome(claim, ClaimStanding.NOT_RUN) for claim in claims_of(table.study))
    try:
        study = first_study(collection, table)
        planned = plan_study(session, study, seed=None, checked=False)
        outcomes = assess(claims_of(study.name), planned.plan, planned.facts, ())
        check_planned(session, planned)
    except TeitenError as error:
        why = f"{error.message} ({error.hint})"
    return PlannedCampaign(table, planned, why, outcomes)


def first_study(collection: CollectionTable, table: CampaignTable) -> Study:
    """The study of a campaign with the blocks of its first pass, in a fixed design, by whose time
    trials and data are sized."""
    study = load_study(table.study, collection.flags(table))
    measure = replace(study.measure, blocks=blocks_of_first_pass(table), sequential=None)
    target = table.target or collection.target
    # the flags are those of a file, and nobody typed what they name
    return replace(study, measure=measure, target_seconds=target, on_command_line=())


def blocks_of_first_pass(table: CampaignTable) -> int:
    return table.blocks or LEAST_BLOCKS


def plan_whole(session: Session, collection: CollectionTable, table: CampaignTable) -> Planned:
    """Plan a campaign with every block that it may be given, sized by its first pass. Builds what
    the study has to have built. Raises TeitenError where it cannot run."""
    sized = plan_study(
        session, first_study(collection, table), seed=None, checked=False, building=True
    ).plan
    study, unit = sized.study, sized.pairs_of_a_start
    trials = sum(trial.block == 1 for trial in sized.trials)
    most = max(blocks_of_first_pass(table), min(MOST_BLOCKS, MOST_TRIALS // trials))
    blocks = max(unit, most // unit * unit)
    sequential = Sequential(budget=collection.budget, most_blocks=blocks)
    measure = replace(study.measure, blocks=blocks, sequential=sequential)
    return plan_sized(session, replace(study, measure=measure), seed=sized.seed)


def disk_needed(campaigns: Sequence[PlannedCampaign]) -> Bytes:
    """The disk for all of them one after another: the templates of all, which are kept, and what
    the most demanding one has besides."""
    kept: dict[str, int] = {}
    besides = 0
    for campaign in campaigns:
        if campaign.planned is None or not campaign.runs:
            continue
        plan, ready = campaign.planned.plan, campaign.planned.ready
        own = {
            template.fingerprint: template.expected_bytes
            for template in plan.templates
            if template.fingerprint not in ready
        }
        kept |= own
        besides = max(besides, plan.needs.disk - sum(own.values()))
    return Bytes(sum(kept.values()) + max(0, besides))


def check_disk(campaigns: Sequence[PlannedCampaign]) -> None:
    """Raise MachineError where the disk does not suffice for all of them, or none can run."""
    running = [
        campaign.planned for campaign in campaigns if campaign.planned is not None and campaign.runs
    ]
    if not running:
        raise MachineError(
            f"no campaign of the collection can run here: {campaigns[0].lacking}",
            "teiten collection plan says why, of each",
        )
    needed, free = disk_needed(campaigns), running[0].facts.disk.free
    if needed > free:
        raise MachineError(
            f"the collection needs {format_size(needed)} of disk, {format_size(free)} are free",
            "teiten clean; --workdir on another disk; or a copy of its TOML with smaller scales",
        )


def reasons(campaigns: Sequence[PlannedCampaign]) -> Counter[Reason]:
    """Count the findings that cannot be judged here, by the reason."""
    every = (campaign.why_not(outcome) for campaign in campaigns for outcome in campaign.outcomes)
    return Counter(reason for reason in every if reason is not None)
