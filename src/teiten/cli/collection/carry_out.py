"""A collection carried out: campaign after campaign, each with the blocks that it is given."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from teiten.analysis.across.collection import atlas_of, findings_of, open_verdicts
from teiten.analysis.claims.forecast import (
    Allotment,
    CampaignProgress,
    first_pass,
    next_allotment,
    open_findings,
)
from teiten.analysis.model.claims import JUDGED, ClaimStanding
from teiten.analysis.model.collection import CollectedCampaign, CollectionResult
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.verdict.stopping import own_seconds
from teiten.claims.catalogue import claims_of
from teiten.cli.campaign.attached import confirm_attached
from teiten.cli.campaign.carry_out import (
    blaming_disk,
    create_ledger,
    measuring,
    note_resumed,
    run_trials,
    sweep_leftovers,
)
from teiten.cli.campaign.read import analyse_campaign, read_campaign
from teiten.cli.collection.planning import (
    PlannedCampaign,
    blocks_of_first_pass,
    plan_campaign,
    plan_whole,
)
from teiten.cli.collection.state import CollectionState, write_state
from teiten.cli.main import Session
from teiten.cli.reports import write_reports
from teiten.errors import InterruptedCampaignError, TeitenError
from teiten.host.system.causes import full_disk
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.store import Ledger
from teiten.model.facts import HostFacts
from teiten.model.plan import Level, Plan
from teiten.model.progress import (
    ALLOTTED,
    MoreBlocks,
    given_blocks,
    is_published,
    level_of,
    levels_of,
)
from teiten.model.quantities import rough_duration
from teiten.model.trial import Outcome
from teiten.model.units import Bytes, Seconds
from teiten.study.collection import CampaignTable
from teiten.study.document import read_document
from teiten.study.values import titled


@dataclass
class Night:
    """A collection while it runs: each campaign as its ledger has it."""

    session: Session
    state: CollectionState
    campaigns: dict[str, CampaignAnalysis]
    """The analyses of those that have begun, by their names in the collection."""
    planned: dict[str, PlannedCampaign]
    """The plans of those that have not."""
    failed: list[str] = field(default_factory=list)
    """Those that failed while they ran; the state's ``lacking`` says why."""

    @property
    def tables(self) -> dict[str, CampaignTable]:
        return {table.called: table for table in self.state.collection.table.campaigns}

    @property
    def spent(self) -> Seconds:
        return Seconds(sum(analysis.wall for analysis in self.campaigns.values()))

    @property
    def left(self) -> Seconds:
        return Seconds(max(0.0, self.state.budget - self.spent))

    def whole(self) -> str:
        """How the collection stands, in a line."""
        counts = result_of(self).counts
        decided = counts[ClaimStanding.REPRODUCED] + counts[ClaimStanding.CONTRADICTED]
        judged = sum(counts[standing] for standing in JUDGED)
        return (
            f"{self.state.name}: {len(self.campaigns)} of {len(self.tables)} campaigns begun,"
            f" {decided} of {judged} findings decided,"
            f" {rough_duration(self.spent)} of {rough_duration(self.state.budget)}"
        )

    def folder(self, called: str) -> Path:
        """The folder of a campaign."""
        return self.session.workdir.campaigns / self.state.campaign(called)

    def read(self, called: str) -> None:
        """Read a campaign as its ledger has it now, where it has begun."""
        if (self.folder(called) / FILE_NAME).is_file():
            self.campaigns[called] = read_campaign(self.folder(called))
            self.planned.pop(called, None)


def read_night(session: Session, state: CollectionState) -> Night:
    """Read the ledgers of a collection; asks nothing of the machine."""
    night = Night(session, state, {}, {})
    for called in night.tables:
        night.read(called)
    return night


def carry_out_collection(session: Session, state: CollectionState) -> Night:
    """Run a collection until its budget is spent, or nothing is left that time decides.

    A campaign that cannot run, or fails, is noted, and the others go on. Raises
    InterruptedCampaignError, MachineError where the disk is full, and LedgerError where another
    campaign is being measured.
    """
    session.workdir.prepare()
    with measuring(session):  # throughout: a campaign of others between ours would fail them
        night = read_night(session, replace(state, lacking={}))  # what failed is tried again
        for called, table in night.tables.items():
            if called not in night.campaigns:
                night.planned[called] = plan_campaign(session, state.collection.table, table)
        plans = [campaign.planned.plan for campaign in night.planned.values() if campaign.planned]
        confirm_attached(session, *plans, yes=session.agreed_to_all)
        lacking = {called: plan.lacking for called, plan in night.planned.items() if plan.lacking}
        night.state = replace(night.state, lacking=lacking)
        write_state(session.workdir.collections, night.state)
        while allotment := next_allotment(_progress(night), night.left):
            _run_or_note(night, allotment)
            night.read(allotment.name)
    return night


def _run_or_note(night: Night, allotment: Allotment) -> None:
    """Run what a campaign was given; where it fails, note why."""
    session, whole = night.session, night.whole()
    session.console.say(whole)
    try:
        with blaming_disk(session.workdir.root):
            _run(night, allotment, whole)
    except InterruptedCampaignError as error:
        hint = f"teiten collection resume {night.state.name} continues it"
        raise InterruptedCampaignError(error.message, hint) from error
    except TeitenError as error:
        if full_disk(session.workdir.root) is not None:
            raise
        session.console.warn(f"{allotment.name}: {error.message}", error.hint)
        night.failed.append(allotment.name)
        _note(night, allotment.name, error.message)


def ending(night: Night) -> str:
    """Why nothing more is run, for people."""
    waiting = [campaign for campaign in _progress(night) if not campaign.given]
    result = result_of(night)
    findings, verdicts = len(result.open), len(result.open_verdicts)
    if waiting:
        short = ", ".join(campaign.name for campaign in waiting)
        return f"the budget ended before the first pass of {short}; --budget gives more"
    if not findings + verdicts:
        judged = "every finding of the campaigns that ran" if night.failed else "every finding"
        return f"{judged} that applies here is decided"
    counts = ((findings, "finding"), (verdicts, "verdict"))
    counted = (f"{count} {what}{'s' * (count != 1)}" for count, what in counts if count)
    return (
        f"{' and '.join(counted)} open: nothing is foretold to be decided in the"
        f" {rough_duration(night.left)} that are left; --budget gives more"
    )


def _note(night: Night, called: str, why: str) -> None:
    night.state = replace(night.state, lacking={**night.state.lacking, called: why})
    write_state(night.session.workdir.collections, night.state)


def _run(night: Night, allotment: Allotment, whole: str) -> None:
    """Give a campaign its blocks, begun where it has not, and run them. ``whole``: how the
    collection stands."""
    session, state = night.session, night.state
    folder = night.folder(allotment.name)
    begun = allotment.name in night.campaigns
    if not begun:
        planned = plan_whole(session, state.collection.table, night.tables[allotment.name])
        with create_ledger(session, planned, folder, state.command):
            pass
    sweep_leftovers(session)
    with Ledger.open(folder) as ledger:
        if begun:
            note_resumed(session, ledger)
        if allotment.blocks is not None:
            ledger.record_event(ALLOTTED, **allotment.blocks.detail)
        session.console.say(f"campaign {folder.name}: {_in_words(ledger.plan, allotment.blocks)}")
        run_trials(session, ledger, folder, whole=whole)


def _in_words(plan: Plan, blocks: MoreBlocks | None) -> str:
    """``4 more blocks of 2 of its 20 levels``."""
    if blocks is None:
        return "the rest of its blocks"
    plural = "s" * (blocks.more != 1)
    if blocks.levels is None:
        return f"{blocks.more} block{plural}"
    levels = f"{len(blocks.levels)} of its {len(levels_of(plan))} levels"
    return f"{blocks.more} more block{plural} of {levels}"


def _progress(night: Night) -> list[CampaignProgress]:
    """The campaigns that can go on, in the collection's order."""
    campaigns = []
    for called in night.tables:
        analysis = night.campaigns.get(called)
        if called in night.state.lacking:
            continue
        if analysis is None and called in night.planned:
            campaigns.append(_of_plan(called, night.planned[called]))
        elif analysis is not None and not is_published(analysis.events):
            campaigns.append(_of_ledger(night, called))
    return campaigns


def _of_plan(called: str, planned: PlannedCampaign) -> CampaignProgress:
    first = blocks_of_first_pass(planned.table)
    preparing = Seconds(max(0.0, planned.first - first * planned.block))
    return CampaignProgress(called, {}, False, first, first, preparing, planned.block)


def _of_ledger(night: Night, called: str) -> CampaignProgress:
    analysis = night.campaigns[called]
    plan, measure = analysis.plan, analysis.plan.study.measure
    given = given_blocks(plan, analysis.events)
    levels = seconds_of_levels(analysis)
    findings = [*open_findings(analysis.claims, measure.alpha, plan.blocks_of_a_number)]
    if night.state.collection.table.atlas:
        findings += open_verdicts(analysis)
    return CampaignProgress(
        called,
        given=given,
        unfinished=bool(given) and not analysis.complete,
        first=blocks_of_first_pass(night.tables[called]),
        most=measure.blocks,
        preparing=Seconds(0.0),
        block=Seconds(sum(levels.values())),
        levels=levels,
        open=tuple(findings),
        unit=plan.pairs_of_a_start,
    )


def has_first_pass(night: Night, called: str) -> bool:
    """Whether a campaign has run the blocks with which it begins."""
    analysis, first = night.campaigns[called], blocks_of_first_pass(night.tables[called])
    ended = {trial.number for trial in analysis.trials}
    return analysis.complete or all(
        trial.number in ended for trial in analysis.plan.trials if trial.block <= first
    )


def blocks_of(analysis: CampaignAnalysis) -> int:
    """How many blocks have begun."""
    return len({trial.block for trial in analysis.trials})


def seconds_of_levels(analysis: CampaignAnalysis) -> Mapping[Level, Seconds]:
    """Compute what each level takes in one block: the mean of its trials that have run; of a level
    without any, that of all."""
    plan = analysis.plan
    levels = {trial.number: level_of(plan, trial) for trial in plan.trials}
    ran = [trial for trial in analysis.trials if trial.outcome is not Outcome.FAILED]
    if not ran:
        return {}
    own, took = own_seconds(plan, ran), defaultdict[Level, list[float]](list)
    for trial, seconds in zip(ran, own, strict=True):
        took[levels[trial.number]].append(seconds)
    usual = fmean(own)
    return {
        level: Seconds(
            count / plan.study.measure.blocks * (fmean(took[level]) if level in took else usual)
        )
        for level, count in Counter(levels.values()).items()
    }


def result_of(night: Night) -> CollectionResult:
    """Collect the findings of the campaigns so far."""
    state, table = night.state, night.state.collection.table
    collected = tuple(_collected(night, called) for called in night.tables)
    studies = dict.fromkeys(campaign.study for campaign in table.campaigns)
    read = night.campaigns
    machines: dict[object, HostFacts] = {}
    for facts in (analysis.facts for analysis in read.values()):
        machines.setdefault((facts.cpu.model, facts.cpu.logical, facts.memory.total), facts)
    findings = findings_of(
        (claim for claim in claims_of() if claim.study in studies),
        collected,
        {called: analysis.claims for called, analysis in read.items()},
        plans={called: analysis.plan for called, analysis in read.items()},
        levels={called: seconds_of_levels(analysis) for called, analysis in read.items()},
    )
    return CollectionResult(
        state.name,
        table.title,
        state.created_at,
        tuple(machines.values()),
        state.command,
        state.budget,
        night.spent,
        collected,
        tuple(findings),
        tuple(atlas_of(read)) if table.atlas else (),
    )


def _collected(night: Night, called: str) -> CollectedCampaign:
    table, analysis = night.tables[called], night.campaigns.get(called)
    study = read_document(table.study).tables.study
    return CollectedCampaign(
        called,
        study.name,
        titled(study.title, study.name),
        night.state.campaign(called) if analysis else "",
        tuple(str(server.version) for _, server in analysis.plan.servers) if analysis else (),
        blocks_of(analysis) if analysis else 0,
        analysis.wall if analysis else Seconds(0.0),
        analysis.facts.cpu.logical if analysis else 0,
        analysis.plan.needs.memory if analysis else Bytes(0),
        night.state.lacking.get(called, ""),
        table.remark,
        analysis.plan if analysis else None,
    )


def write_campaign_reports(night: Night) -> None:
    """Write the report of each campaign that has run."""
    for folder in map(night.folder, night.campaigns):
        night.session.console.say(f"writing the report of {folder.name}")
        with Ledger.open(folder, read_only=True) as ledger:
            analysis = analyse_campaign(ledger)
        write_reports(analysis, folder)


def foretold_first_pass(campaigns: Sequence[PlannedCampaign]) -> Seconds:
    """Sum the time of the first pass of all that can run."""
    running = (campaign for campaign in campaigns if campaign.runs)
    return Seconds(sum(first_pass(_of_plan(planned.table.called, planned)) for planned in running))
