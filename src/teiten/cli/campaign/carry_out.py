"""Carrying out a campaign, from its first trial or from where it was cut off, to its report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from teiten import __version__
from teiten.analysis.across.fingerprint import machine_fingerprint
from teiten.analysis.model.findings import CampaignAnalysis, VerdictKind
from teiten.analysis.model.replication import REPLICATION
from teiten.claims.catalogue import claims_of
from teiten.cli.campaign.attached import tell_left
from teiten.cli.campaign.decision import decide, ending_lines
from teiten.cli.campaign.noise import keep_measured_noise
from teiten.cli.campaign.progress import watching
from teiten.cli.campaign.read import analyse_campaign
from teiten.cli.campaign.uncounted import busy_machine_line, refuse_uncounted, uncounted_lines
from teiten.cli.failures import with_causes
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned
from teiten.cli.text.noise import noise_lines
from teiten.cli.text.outcome import outcome_lines
from teiten.errors import (
    InterruptedCampaignError,
    MachineError,
    TeitenError,
    TrialsFailedError,
    UsageError,
)
from teiten.execute.bench import ThisMachine
from teiten.execute.client.log_folder import sweep_logs
from teiten.execute.postgres.sweep import sweep
from teiten.execute.real import RealExecutor
from teiten.execute.scheduler import StoppingRule, prepare_campaign, run_campaign
from teiten.host.facts.disks import block_devices
from teiten.host.facts.kept import known_check
from teiten.host.facts.machine import read_host_facts
from teiten.host.system.causes import full_disk, machine_error, quoted_cause
from teiten.host.system.signals import one_interruption
from teiten.host.system.users import server_user
from teiten.ledger.lock import HeldLock, workdir_lock
from teiten.ledger.store import Ledger
from teiten.ledger.texts import UnknownTextError
from teiten.model.noise import NOISE, NoiseFloor
from teiten.model.pairs_check import PAIRS_CHECK
from teiten.model.progress import RESUMED, given_blocks
from teiten.plan.sites.of import all_here
from teiten.report.sentences import notice_of_profile, verdict_sentence
from teiten.report.texts import texts
from teiten.study.load import load_study
from teiten.ways.registry import way_of


@dataclass(frozen=True)
class CarriedOut:
    """How a campaign ended."""

    analysis: CampaignAnalysis
    reports: tuple[Path, ...]
    noise: tuple[NoiseFloor, ...] = ()
    """Noise floors of a campaign of a server against itself."""


def measuring(session: Session) -> HeldLock:
    """The right to measure in this working folder. Raises LedgerError naming who has it."""
    return workdir_lock(session.workdir.root)


def note_resumed(session: Session, ledger: Ledger) -> None:
    """Record that a campaign goes on, on which machine and by which Teiten: a virtual machine may
    have another size than when it began, and another version may measure otherwise."""
    here = all_here(ledger.plan)
    machine = machine_fingerprint(read_host_facts(session.workdir.root)) if here else None
    ledger.record_event(RESUMED, machine=machine, teiten=__version__)


@contextmanager
def blaming_disk(folder: Path) -> Iterator[None]:
    """Tell a full disk first, where there is one: it is the cause of whatever failed."""
    try:
        yield
    except (MachineError, TrialsFailedError, OSError) as error:
        failure = machine_error(error) if isinstance(error, OSError) else error
        message = failure.message if isinstance(failure, TeitenError) else str(error)
        # what is put in order afterwards often fails as well
        everything = "; ".join(map(str, with_causes(error)))
        cause = full_disk(folder) or quoted_cause(everything, folder)
        if cause is None:
            raise
        known = cause.message.partition(":")[0]
        raise MachineError(
            message if known in message else f"{cause.message}; {message}", cause.hint
        ) from error


def sweep_leftovers(session: Session) -> None:
    """End servers and give back folders that a Teiten that died has left."""
    session.console.say(*(*sweep(session.workdir), *sweep_logs()))


@contextmanager
def create_ledger(
    session: Session, planned: Planned, folder: Path, command: str
) -> Iterator[Ledger]:
    """Write the ledger of a new campaign, called as its folder, with what is known of the machine's
    noise, and how the length of its trials was chosen."""
    with Ledger.create(
        folder,
        plan=planned.plan,
        name=folder.name,
        facts=planned.facts,
        cautions=planned.cautions,
        command=command,
    ) as ledger:
        ledger.record_event("campaign-started")
        for floor in planned.noise:
            ledger.record_event(NOISE, **asdict(floor))
        if way_of(planned.plan.study.measure).concurrent:
            check = known_check(session.workdir.caches, planned.facts)
            if check is not None:
                ledger.record_event(PAIRS_CHECK, **asdict(check))
        if planned.replication is not None:
            ledger.record_event(REPLICATION, **asdict(planned.replication))
        yield ledger


def carry_out(session: Session, folder: Path) -> CarriedOut:
    """Run what the ledger in ``folder`` does not hold yet, then report.

    Raises InterruptedCampaignError, and TrialsFailedError where a planned trial has no counted
    attempt after its repeats; the report is written in that case too.
    """
    with measuring(session), blaming_disk(session.workdir.root):
        sweep_leftovers(session)
        with Ledger.open(folder) as ledger:
            claims_of(ledger.plan.study.name)  # kept: what changes meanwhile is not read
            run_trials(session, ledger, folder)
            analysis = analyse_campaign(ledger)
            noise = keep_measured_noise(ledger, session.workdir.caches)
    from teiten.cli.reports import write_reports

    session.console.say("writing the report")
    reports = tuple(write_reports(analysis, folder))
    carried = CarriedOut(analysis, reports, noise)
    _tell(session, carried)
    return carried


def reread(session: Session, ledger: Ledger, reports: tuple[Path, ...]) -> CarriedOut:
    """Tell the outcome of an ended campaign; nothing is written. Raises TrialsFailedError."""
    carried = CarriedOut(analyse_campaign(ledger, series=False), reports)
    _tell(session, carried)
    return carried


def run_trials(
    session: Session,
    ledger: Ledger,
    folder: Path,
    rule: StoppingRule | None = None,
    whole: str = "",
) -> None:
    """Run what the ledger does not hold yet; the working folder's lock is held.

    ``rule``: None for that of the study's design; ``whole``: how the collection stands to which the
    campaign belongs.

    Raises InterruptedCampaignError.
    """
    with (
        having_texts(ledger),
        watching(session.console, ledger.plan, ledger.name) as watcher,
        one_interruption() as interruption,
    ):
        watcher.whole = whole
        watcher.pace.given(given_blocks(ledger.plan, ledger.campaign_events()))
        watcher.pace.already_ended(ledger.finished())
        named = (Path(path) for path, _ in ledger.plan.needs.directories)
        devices = {
            disk for place in (session.workdir.root, *named) for disk in block_devices(place)
        }
        executor = RealExecutor(
            record=ledger,
            campaign=folder,
            machine=ThisMachine(session.workdir, server_user(), tuple(sorted(devices))),
            observer=watcher,
            say=session.console.detail,
            tell=session.console.say,
            check_interruption=interruption.check,
            passwords=session.passwords,
        )
        try:
            prepare_campaign(ledger, executor, watcher, interruption.check)
            decides = rule or partial(decide, ledger, watcher)
            run_campaign(
                ledger, executor, watcher, interruption.check, decides, holding=interruption.held
            )
        except KeyboardInterrupt:
            ledger.record_event("interrupted")
            ended = len({number for number, _, _ in ledger.finished()})
            raise InterruptedCampaignError(
                f"interrupted after {ended} of {len(ledger.plan.trials)} trials"
                + ("; all of them are kept" if ended else ""),
                f"teiten resume {ledger.name} continues it",
            ) from None
        finally:
            executor.finish()
            tell_left(session, folder.name)


def _tell(session: Session, carried: CarriedOut) -> None:
    """Say how a campaign ended. Raises TrialsFailedError."""
    analysis = carried.analysis
    session.console.say(*notice_of_profile(texts("en"), analysis.plan.study))
    session.console.say(*filter(None, (busy_machine_line(analysis), *ending_lines(analysis))))
    judged = [contrast for contrast in analysis.contrasts if contrast.metric.judged]
    for contrast in judged:
        session.console.detail(verdict_sentence(analysis, contrast, "en"))
    people = session.console.people
    session.console.say(*outcome_lines(analysis, people.width if people.is_terminal else None))
    for floor in carried.noise:
        session.console.say(*noise_lines(floor))
    counted = any(trial.counts for trial in analysis.trials)
    if counted and any(contrast.overall.kind is VerdictKind.INCONCLUSIVE for contrast in judged):
        session.console.say(*uncounted_lines(analysis))
    try:
        refuse_uncounted(analysis)
    except TrialsFailedError:  # the verb does not print where the report is then
        session.console.say(f"report: {carried.reports[0]}")
        raise


OF_TEXTS = ("script=", "data.", "variables=", "workloads.")
"""How changes begin that say which texts there are."""


@contextmanager
def having_texts(ledger: Ledger) -> Iterator[None]:
    """Have the plan's texts for as long as the campaign runs. Raises UsageError where the files
    have changed since it began, and StudyError where they are gone."""
    study = ledger.plan.study
    with ExitStack() as kept:
        if not study.keep_texts:
            overrides = [change for change in study.overrides if change.startswith(OF_TEXTS)]
            again = load_study(str(study.file or study.name), overrides=overrides)
            try:
                kept.enter_context(ledger.having_texts(again))
            except UnknownTextError as error:
                raise UsageError(
                    f"{error.args[0]} is not what it was when {ledger.name} began, and its ledger"
                    " holds only fingerprints of statements",
                    "bring the file back, or begin a new campaign",
                ) from error
        yield
