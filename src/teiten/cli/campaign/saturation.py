"""``--find-saturation``: a provisional run that chooses the clients, then the campaign itself.

The provisional run is a campaign of its own with its own ledger, so that it survives a crash and is
resumed like any other. It remembers what was asked; when it has ended, the campaign is planned with
the clients that it found, and keeps them in its own ledger.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import TypeAdapter

from teiten.cli.campaign.attached import confirm_attached
from teiten.cli.campaign.begin import (
    begin,
    carry_out_new,
    confirm,
    forgotten_if_refused,
    name_of,
    repeating_command,
    tell_cautions,
)
from teiten.cli.campaign.carry_out import (
    CarriedOut,
    blaming_disk,
    create_ledger,
    measuring,
    run_trials,
    sweep_leftovers,
)
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned, make_plan, plan_sized, plan_study
from teiten.cli.plan.options import PlanOptions
from teiten.errors import LedgerError, TrialsFailedError, UsageError
from teiten.host.facts.machine import read_host_facts
from teiten.kinds.contract import plan_of
from teiten.kinds.metrics import rates
from teiten.ledger.store import Ledger
from teiten.model.plan import Plan
from teiten.model.progress import Standing
from teiten.model.quantities import rough_duration
from teiten.model.saturation import PROVISIONAL, SATURATION, Saturation, ShortTrial
from teiten.model.study import Study
from teiten.model.trial import Attempt
from teiten.plan.saturation import (
    found_saturation,
    in_rising_order,
    most_clients_of,
    next_clients,
    provisional_study,
    upper_levels,
)
from teiten.plan.sites.of import reached, runs_here
from teiten.plan.sizing import size
from teiten.study.load import load_study

ASKED = "provisional-asked"
CONTINUED = "provisional-continued"


def foretell(session: Session, study: str, options: PlanOptions) -> tuple[Planned, Planned]:
    """Plan the provisional run, and the campaign as large as it can become; starts nothing."""
    upper, _, provisional = _searching(session, study, options)
    return provisional, plan_study(session, upper, seed=options.seed, checked=False)


def run_with_saturation(session: Session, study: str, options: PlanOptions) -> CarriedOut:
    """Run the provisional run, then the campaign with the clients that it found."""
    upper, most, planned = _searching(session, study, options)
    confirm(session, planned, yes=options.yes)
    confirm_attached(session, planned.plan, yes=options.yes)
    name = f"{options.name or name_of(session, upper)}-{PROVISIONAL}"
    tell_cautions(session, planned)
    words = ["teiten", "run", study, *options.as_arguments()]
    folder = session.workdir.campaigns / name
    with measuring(session), create_ledger(session, planned, folder, shlex.join(words)) as ledger:
        ledger.record_event(ASKED, study=study, most=most, options=asdict(options))
    session.console.say(
        f"provisional run {name}: at most {len(planned.plan.trials)} short trials,"
        f" about {rough_duration(planned.plan.needs.seconds)}"
    )
    with forgotten_if_refused(session, name):
        return continue_with_saturation(session, folder)


def is_provisional(ledger: Ledger) -> bool:
    """Whether a ledger is a provisional run's."""
    return any(event.kind == ASKED for event in ledger.campaign_events())


def continue_with_saturation(session: Session, folder: Path) -> CarriedOut:
    """Run what the provisional run still needs, then the campaign.

    Raises LedgerError where its campaign has begun already: that one is resumed instead.
    """
    with measuring(session), blaming_disk(session.workdir.root):
        sweep_leftovers(session)
        with Ledger.open(folder) as ledger:
            events = ledger.campaign_events()
            asked = next(event.detail for event in events if event.kind == ASKED)
            begun = [event.detail["campaign"] for event in events if event.kind == CONTINUED]
            if begun:
                raise LedgerError(
                    f"the provisional run {ledger.name} has ended, and its campaign is {begun[0]}",
                    f"continue that one: teiten resume {begun[0]}",
                )
            rule = SaturationRule(ledger, int(asked["most"]))
            if len(rule().unneeded) < len(ledger.plan.trials):
                run_trials(session, ledger, folder, rule)
            saturations = rule.found()
            session.agreed.update(reached(ledger.plan.study))  # before the search
    session.console.say(*map(saturation_line, saturations))
    given: PlanOptions = TypeAdapter(PlanOptions).validate_python(asked["options"])
    options = chosen_options(given, saturations)
    planned = make_plan(session, asked["study"], options)
    command = repeating_command(asked["study"], options, planned.plan.seed)
    name = begin(session, planned, options.name, command, yes=True)  # agreed before the search
    delta = planned.plan.study.measure.delta
    with Ledger.open(session.workdir.campaigns / name) as ledger:
        for saturation in saturations:
            values = asdict(saturation)
            ledger.record_event(SATURATION, provisional=folder.name, delta=delta, **values)
    with Ledger.open(folder) as provisional:
        provisional.record_event(CONTINUED, campaign=name)
    return carry_out_new(session, name)


class SaturationRule:
    """The stopping rule of a provisional run: of each workload only the next trial is needed."""

    def __init__(self, ledger: Ledger, most: int) -> None:
        self._ledger = ledger
        self._most = most

    def __call__(self) -> Standing:
        plan = self._ledger.plan
        wanted = {
            (name, next_clients(probes, self._most, plan.study.measure.delta))
            for name, probes in self._probes().items()
        }
        unneeded = {
            trial.number
            for trial in plan.trials
            if (trial.cell.workload, trial.load.connections) not in wanted
        }
        return Standing(unneeded=frozenset(unneeded))

    def found(self) -> tuple[Saturation, ...]:
        """Raises TrialsFailedError where a workload has no valid trial at all."""
        delta = self._ledger.plan.study.measure.delta
        saturations = []
        for name, probes in self._probes().items():
            saturation = found_saturation(name, probes, self._most, delta)
            if saturation is None:
                raise TrialsFailedError(
                    f"the provisional run of {name} has no valid trial",
                    f"teiten report {self._ledger.name} lists its trials with their reasons (a busy"
                    " machine disturbs them: --set disturbed_share=20%); or choose the clients"
                    " yourself: --set clients=1,4,16",
                )
            saturations.append(saturation)
        return tuple(saturations)

    def _probes(self) -> dict[str, list[ShortTrial]]:
        """By workload the trials that have ended, in rising order, up to the first that has not."""
        plan = self._ledger.plan
        return probes_of(plan, self._ledger.attempts(*set(rates(plan).values())))


def probes_of(plan: Plan, attempts: Sequence[Attempt]) -> dict[str, list[ShortTrial]]:
    """By workload the trials of a provisional run that have ended."""
    rate_of = rates(plan)
    tried: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        tried[attempt.number].append(attempt)
    probes: dict[str, list[ShortTrial]] = {workload.name: [] for workload in plan.study.workloads}
    waiting: set[str] = set()
    for trial in plan.trials:
        name = trial.cell.workload
        mine = tried[trial.number]
        counted = [attempt for attempt in mine if attempt.counts]
        if not counted and len(mine) <= plan.study.measure.repeats:
            waiting.add(name)
        if name not in waiting:
            rate = counted[-1].metrics.get(rate_of[name]) if counted else None
            probes[name].append(ShortTrial(trial.load.connections, rate))
    return probes


def chosen_options(options: PlanOptions, saturations: Sequence[Saturation]) -> PlanOptions:
    """The options with which the campaign is planned, and with which it can be repeated."""
    levels = {saturation.workload: saturation.levels for saturation in saturations}
    return replace(_with_clients(options, levels), find_saturation=False)


def _with_clients(options: PlanOptions, levels: Mapping[str, Sequence[int]]) -> PlanOptions:
    """The options with the numbers of clients of each workload."""
    every = sorted({number for numbers in levels.values() for number in numbers})
    keys = {"clients": every} | {f"workloads.{name}.clients": levels[name] for name in levels}
    changes = (f"{key}={','.join(map(str, numbers))}" for key, numbers in keys.items())
    return replace(options, overrides=(*options.overrides, *changes))


def saturation_line(saturation: Saturation) -> str:
    """``read: saturated at 8 clients; levels 1, 2, 4, 8, 12, 16``"""
    at = "saturated at" if saturation.reached else "not saturated up to"
    tried = ", ".join(
        f"{probe.clients}: {probe.tps:,.0f} tps" if probe.tps is not None else f"{probe.clients}: -"
        for probe in saturation.probes
    )
    levels = ", ".join(map(str, saturation.levels))
    return f"{saturation.workload}: {at} {saturation.clients} clients ({tried}); clients {levels}"


def _searching(session: Session, study: str, options: PlanOptions) -> tuple[Study, int, Planned]:
    """The study as large as it can become, sized; the most clients of the search; its plan."""
    keys = (override.partition("=")[0].strip() for override in options.overrides)
    fixed = [key for key in keys if key == "clients" or key.endswith(".clients")]
    if fixed:
        raise UsageError(
            f"--find-saturation chooses the clients, and --set {fixed[0]} fixes them",
            "leave out one of the two",
        )
    facts = read_host_facts(session.workdir.root)
    loaded = load_study(study, options)
    if not runs_here(loaded):
        raise UsageError(
            "--find-saturation searches on this machine, and the study names other hosts",
            "leave it out, and choose the clients: --set clients=1,4,16",
        )
    for workload in loaded.workloads:
        kind = plan_of(workload.kind)
        if kind.rate is None:
            raise UsageError(
                f"--find-saturation chooses clients, and {workload.name} {kind.does}",
                "leave it out",
            )
    most = most_clients_of(loaded, facts)
    levels = {workload.name: upper_levels(most) for workload in loaded.workloads}
    upper = size(load_study(study, _with_clients(options, levels)), facts)
    planned = plan_sized(session, provisional_study(upper, most), seed=options.seed)
    return upper, most, replace(planned, plan=in_rising_order(planned.plan))
