"""A plan as text for people, and the steps of its trials, said by the loop that runs them.

Text of ``teiten plan --find-saturation`` before the plan: both runs are upper bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from teiten.cli.plan.make import Planned
from teiten.cli.text.cautions import brief_cautions
from teiten.cli.text.layout import bullets, columns, paragraph
from teiten.cli.text.noise import needed_text
from teiten.errors import TeitenError
from teiten.execute.executor import Facts
from teiten.execute.trial import TrialRun, run_trial
from teiten.kinds.contract import plan_of
from teiten.model.memory import SHARED_BUFFERS, shares_of
from teiten.model.nodes import EmulatedNodes, NodePart
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.quantities import exact_share, format_duration, format_size
from teiten.model.study import GUC_PREFIX, Factor, Measure
from teiten.model.trial import Step, Trial
from teiten.model.units import Seconds
from teiten.plan.dry import DryExecutor
from teiten.plan.ordering import contrasted_parameters
from teiten.plan.sites.of import all_start, host_rows, server_text, starts, working_folder_text
from teiten.report.sentences import notice_of_profile
from teiten.report.texts import caution_text, texts
from teiten.ways.registry import way_of

NUMBERS = frozenset({"trial", "block", "clients", "pgbench seed"})
"""Columns of the list of trials that are aligned right."""


def plan_lines(
    planned: Planned,
    folder: Path,
    actions: tuple[str, ...],
    *,
    lack: TeitenError | None = None,
    order: bool = False,
    whole: bool = False,
) -> Iterator[str]:
    """Everything about the plan. ``folder``: the working folder; ``lack``: why it cannot run here,
    which comes before all else, as cautions do; ``order``: with the list of all trials; ``whole``:
    with each caution, step and action, else with what they come to."""
    plan: Plan = planned.plan
    study = plan.study
    yield f"{study.title.en} ({study.name}), profile {study.profile}, seed {plan.seed}"
    yield from paragraph(study.question.en)
    for notice in notice_of_profile(texts("en"), study):
        yield from paragraph(notice)
    yield from _problem_lines(planned, lack, whole=whole)
    yield ""
    yield from columns(_overview(plan))
    yield from _build_lines(planned)
    yield ""
    yield from _trial_lines(plan, order=order)
    yield ""
    yield "Needs"
    yield from columns(_needs(planned, folder))
    if planned.noise:
        yield ""
        yield "Foretold, from the noise that teiten null has measured here"
        for floor in planned.noise:
            floor_text = (
                f"{floor.workload}, {floor.clients} clients, noise floor {floor.deviation:.2%}"
            )
            yield from bullets([f"{floor_text}: {needed_text(floor)}"])
    if whole:
        yield from step_lines(plan)
    yield ""
    yield "What running it will do" + ("" if whole else " (step by step: teiten --verbose plan)")
    yield from bullets(actions if whole else tuple(merged(actions)))


def merged(actions: tuple[str, ...]) -> Iterator[str]:
    """Actions that differ only behind their colon once, with their number: what they have in common
    is what is done to the machine."""
    alike: dict[str, list[str]] = {}
    for action in actions:
        alike.setdefault(action.partition(": ")[0], []).append(action)
    for beginning, (first, *others) in alike.items():
        times = f"{beginning}, {len(others) + 1} times, the first: {first.partition(': ')[2]}"
        yield times if others else first


def _problem_lines(planned: Planned, lack: TeitenError | None, *, whole: bool) -> Iterator[str]:
    if lack is not None:
        yield ""
        yield "It cannot run here"
        yield from bullets([f"{lack.message}. {lack.hint}"])
    if planned.cautions:
        yield ""
        yield "Cautions"
    if whole:
        worded = [caution_text(caution, "en") for caution in planned.cautions]
        yield from bullets([f"{what} {advice}".strip() for what, advice in worded])
    else:
        yield from bullets(brief_cautions(planned.cautions))


def _trial_lines(plan: Plan, *, order: bool) -> Iterator[str]:
    blocks = len(plan.blocks)
    number = f"{len(plan.trials)}, in {blocks} {'block' if blocks == 1 else 'blocks'}"
    if not order:
        yield f"Trials ({number}) in random order: --order lists them"
        return
    yield f"Trials ({number}), in this order"
    names = [factor.name for factor in plan.study.factors]
    turns = ("start", "turns") if way_of(plan.study.measure).side_by_side else ()
    rows: list[tuple[str, ...]] = [("trial", "block", "workload", *names, "pgbench seed", *turns)]
    for trial in plan.trials:
        levels = (trial.cell.level(name) or "" for name in names)
        own = (str(trial.restart), " ".join(map(str, trial.turns))) if turns else ()
        known = (str(trial.number), str(trial.block), trial.cell.workload, *levels)
        rows.append((*known, str(trial.seed), *own))
    right = [at for at, heading in enumerate(rows[0]) if heading in NUMBERS]
    yield from columns(rows, right=right)


def _build_lines(planned: Planned) -> Iterator[str]:
    if not planned.builds:
        return
    yield ""
    yield "Built from source first"
    for build in planned.builds:
        seconds = format_duration(round(build.seconds))
        yield from bullets([f"{build.name}: {build.described}, about {seconds}"])


def _overview(plan: Plan) -> Iterator[tuple[str, str]]:
    study, measure = plan.study, plan.study.measure
    for level, installation in plan.servers:
        yield f"server {level}", server_text(plan, installation)
        for name, value in dict(study.server_levels).get(level, ()):
            yield "", f"with {name.removeprefix(GUC_PREFIX)} = {value}"
    yield from host_rows(plan)
    yield "pgbench", f"{plan.pgbench.version} at {plan.pgbench.path}"
    for factor in study.factors:
        contrasted = ", contrasted: the first is old" if factor.name == study.contrast else ""
        yield f"factor {factor.name}", ", ".join(_levels(plan, factor)) + contrasted
    for parameters in study.parameters:
        listed = ", ".join(f"{name} = {value}" for name, value in parameters.settings)
        yield f"parameters {parameters.name}", listed or "as the study sets them"
    for workload in study.workloads:
        data = workload.data
        own = [f"{name} {', '.join(levels)}" for name, levels in workload.levels]
        facts = [workload.options.source, str(data), *own, *plan_of(workload.kind).facts(workload)]
        yield f"workload {workload.name}", ", ".join(facts)
    timed = ""
    if any(plan_of(workload.kind).lasts for workload in plan.study.workloads):
        duration, warmup = (format_duration(t or 0) for t in (measure.duration, measure.warmup))
        timed = f"{duration} after {warmup} of warm-up, "
    yield "measured", timed + _blocks(measure)
    loaded = loaded_text(plan)
    if loaded:
        yield "", loaded
    if measure.memory is not None:
        yield (
            "memory",
            f"{format_size(measure.memory)} for server, load generator and page cache together",
        )
    if study.nodes is not None:
        yield "each node", _node(study.nodes)
    yield (
        "judged",
        f"differences from {exact_share(measure.delta)} on matter,"
        f" confidence {exact_share(round(1 - measure.alpha, 12))}",
    )


def _node(nodes: EmulatedNodes) -> str:
    """Describe a node emulated as a machine of its own; what cannot be emulated is left out."""
    rates = (("reading", nodes.read), ("writing", nodes.write))
    speeds = (f"{name} {format_size(rate)}/s" for name, rate in rates if rate is not None)
    had = {
        NodePart.NETWORK: "an address",
        NodePart.MEMORY: nodes.memory and format_size(nodes.memory),
        NodePart.CPUS: nodes.cpus
        and ("1 processor" if nodes.cpus == 1 else f"{nodes.cpus} processors"),
        NodePart.STORAGE: ", ".join(speeds),
    }
    parts = [text for part, text in had.items() if text and not nodes.lacks(part)]
    return f"emulated as a machine: {', '.join(parts)}" if parts else "a plain server"


def _levels(plan: Plan, factor: Factor) -> Iterator[str]:
    """The levels as they are written; of a share also what it comes to."""
    values = shares_of(plan)
    for level in factor.levels:
        shares = values.get(level, ()) if factor.name == f"{GUC_PREFIX}{SHARED_BUFFERS}" else ()
        yield f"{level} ({', '.join(shares)})" if shares else level


def linked_text(plan: Plan) -> str:
    """Which servers of rounds are linked in a new order of their objects, and which are not."""
    seconds_of = {
        server.name: server.relink_seconds for _, server in plan.servers if starts(server)
    }
    linked = [name for name, seconds in seconds_of.items() if seconds is not None]
    others = [name for name in seconds_of if name not in linked]
    text = f"; linked with its objects in a new order: {', '.join(linked)}" if linked else ""
    if others:
        text += f"; as installed, because no build of Teiten kept its objects: {', '.join(others)}"
    return text


def loaded_text(plan: Plan) -> str:
    """How the sides of a pair are loaded; empty where it is one after the other."""
    anew = "which start anew" if all_start(plan) else "with connections made anew"
    copies = f", on new copies of the data{linked_text(plan)}" if plan.study.measure.rounds else ""
    study = plan.study
    way, names = way_of(study.measure), contrasted_parameters(study)
    loaded = way.described(plan, anew, copies)
    if study.starts_of_all > 1:
        base, *others = study.contrasted_levels
        loaded += (
            f"; a start has {base} and at most {study.sides_of_a_start - 1} of the"
            f" {len(others)} other levels, drawn anew so that {study.starts_of_all} blocks have"
            " each of them once"
        )
    if way.one_server and names and not study.measure.by_session:
        what = "it" if len(names) == 1 else "all of these"
        loaded += (
            f"; {', '.join(names)}: a server for each level, because a session cannot set {what}"
            " on every server of the plan"
        )
    return loaded


def _blocks(measure: Measure) -> str:
    if measure.sequential is None:
        return f"{measure.blocks} blocks"
    budget = format_duration(measure.sequential.budget or 0)
    return f"blocks until decided, at most {measure.blocks} in {budget}"


def _needs(planned: Planned, folder: Path) -> Iterator[tuple[str, str]]:
    needs, facts = planned.plan.needs, planned.facts
    yield (
        "  time",
        f"about {format_duration(needs.seconds)}, of which"
        f" {format_duration(needs.measured_seconds)} are measured",
    )
    free = format_size(facts.disk.free)
    place = working_folder_text(planned.plan, folder)
    yield "  disk", f"{format_size(needs.disk)} in {place} ({free} are free)"
    for path, size in needs.directories:
        disk = next(directory.disk for directory in facts.directories if directory.path == path)
        yield (
            "",
            f"{format_size(size)} in {path} ({disk.file_system}, {format_size(disk.free)} are"
            " free)",
        )
    available = format_size(facts.memory.available)
    yield "  memory", f"{format_size(needs.memory)} ({available} are available)"


def foretold_lines(plan: Plan, campaign: Plan) -> Iterator[str]:
    """The plan of the provisional run, then that the plan below is the largest that can follow."""
    clients = sorted({trial.load.connections for trial in plan.trials})
    both = plan.needs.seconds + campaign.needs.seconds
    yield "A provisional run first, which chooses the clients (--find-saturation)"
    yield from bullets(
        [
            f"at most {len(plan.trials)} trials of"
            f" {format_duration(plan.study.measure.duration or 0)}, about"
            f" {format_duration(plan.needs.seconds)}: {', '.join(map(str, clients))} clients of"
            f" each workload, on {', '.join(level for level, _ in plan.servers[:1])}",
            "a workload's search ends when two doublings in a row raise TPS by no more than"
            f" {exact_share(plan.study.measure.delta)}",
            "the plan below has the most and the greatest numbers of clients that can be chosen;"
            f" both together take {format_duration(both)} at most",
        ]
    )
    yield ""


def step_lines(plan: Plan) -> Iterator[str]:
    """The first trial of each workload; of its slices the first."""
    first: dict[str, PlannedTrial] = {}
    for trial in plan.trials:
        first.setdefault(trial.cell.workload, trial)
    for trial in first.values():
        yield ""
        yield f"Trial {trial.number}, step by step ({trial.cell})"
        yield from bullets(steps_of(plan, trial))


def steps_of(plan: Plan, trial: PlannedTrial) -> list[str]:
    """One line for each step of a trial."""
    executor = DryExecutor(plan)
    watch = _Watch(executor)
    run_trial(TrialRun(executor, watch, watch.record), trial, 1)
    return watch.lines


@dataclass
class _Watch:
    """Joins the steps with what they would do; told nothing else by a dry run."""

    executor: DryExecutor
    lines: list[str] = field(default_factory=list)
    _measured: bool = False

    def record(self, trial: PlannedTrial, step: Step, facts: Facts) -> None:
        del trial, facts
        if step is not Step.MEASURE or not self._measured:
            self.lines.append(self.executor.actions[-1])
        self._measured = self._measured or step is Step.MEASURE

    def preparing(self, what: str) -> None: ...
    def trial_started(self, trial: PlannedTrial, attempt: int, ended: int, total: int) -> None: ...
    def step_started(self, trial: PlannedTrial, step: Step) -> None: ...
    def progress(self, second: Seconds, tps: float, latency: Seconds) -> None: ...
    def trial_finished(self, trial: Trial) -> None: ...
