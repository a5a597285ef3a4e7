"""The answer of a gate: its workloads with their outcomes, and in words for a terminal, for a pull
request, and as annotations. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from teiten.analysis.model.findings import CampaignAnalysis, Verdict
from teiten.analysis.verdict.contrasts import pairs_to_interval
from teiten.analysis.verdict.gate import (
    GateLine,
    GateOutcome,
    GateReason,
    GateVerdicts,
    gate_lines,
    gate_outcome,
)
from teiten.analysis.verdict.sequential import is_a_matter_of_pairs
from teiten.analysis.verdict.verdict import LEFT_BEHIND
from teiten.cli.campaign.decision import StillNeeded, counted_pairs, still_needed
from teiten.cli.plan.text import linked_text
from teiten.factors.registry import rule
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.quantities import rough_duration
from teiten.model.study import GUC_PREFIX
from teiten.model.units import Share
from teiten.report.effects import change, interval_percent, percent_decimals, plain_percent
from teiten.report.names import Names
from teiten.report.numbers import NOTHING, spaced
from teiten.report.sentences import verdict_word
from teiten.report.texts import texts
from teiten.study.sides import AGAIN, BASE, HEAD


@dataclass(frozen=True)
class GateAnswer:
    """A gate whose campaign has ended."""

    analysis: CampaignAnalysis
    lines: tuple[GateLine, ...]

    @property
    def outcome(self) -> GateOutcome:
        return gate_outcome(self.lines)

    @property
    def delta(self) -> Share:
        return self.analysis.plan.study.measure.delta

    @property
    def servers(self) -> Mapping[str, str]:
        """The server of each side, for people."""
        plan = self.analysis.plan
        known, own = dict(plan.servers), dict(plan.study.server_levels)
        return {side: _named(known[side], own.get(side, ())) for side in (BASE, HEAD)}


def _named(server: Installation, levels: Iterable[tuple[str, str]]) -> str:
    """``18.4``, ``commit-1a2b3c4d5e (19devel)``, ``old on 18.4``, ``work_mem = 4MB on 18.4``"""
    version = str(server.version)
    name = server.name if version in server.name else f"{server.name} ({version})"
    own = [
        level if rule(factor).of_workloads else f"{factor.removeprefix(GUC_PREFIX)} = {level}"
        for factor, level in levels
    ]
    return f"{', '.join(dict.fromkeys(own))} on {name}" if own else name


def answer_of(analysis: CampaignAnalysis) -> GateAnswer:
    """The answer of the campaign of a gate."""
    return GateAnswer(analysis, gate_lines(analysis.contrasts, head=HEAD, again=AGAIN))


WORDS = {
    GateOutcome.REGRESSION: "regression",
    GateOutcome.NONE: "no regression",
    GateOutcome.CANNOT_TELL: "cannot tell",
}
COMMANDS = {GateOutcome.REGRESSION: "error", GateOutcome.CANNOT_TELL: "warning"}
"""Annotations of GitHub Actions; what is well has none."""
QUIETER = (
    "give it a runner with nothing beside it; teiten doctor tells what disturbs this one, and"
    " teiten null measures its noise"
)
APART = "--way classic, in which one side at a time is under load, and a longer --budget"
LONGER = "a longer --budget; nobody can foretell how much longer"


def answer_lines(answer: GateAnswer) -> Iterator[str]:
    """A line for each workload, or for each level by which it is decided, verdict first."""
    for line, verdicts, place in _decisive(answer):
        yield f"{word(line, verdicts)}: {_said(verdicts, place)}"


def _decisive(answer: GateAnswer) -> Iterator[tuple[GateLine, GateVerdicts, str]]:
    """List the verdicts that decide each workload, with its name and, of a level, the level's."""
    names = Names(answer.analysis.plan, texts("en"))
    for line in answer.lines:
        for verdicts in line.decisive:
            level = (names.varied_context(verdicts.context),) if verdicts.context else ()
            yield line, verdicts, spaced(", ".join((line.workload, *level)))


def word(line: GateLine, verdicts: GateVerdicts) -> str:
    """``regression (slower by at least 2 %)``"""
    if line.reason is GateReason.EQUAL_SIDES_DIFFER:
        return f"{WORDS[line.outcome]} (the base differs from itself)"
    return f"{WORDS[line.outcome]} ({spaced(verdict_word(texts('en'), verdicts.head))})"


def needed(answer: GateAnswer) -> str:
    """A sentence on what a gate that cannot tell would need."""
    return "; ".join(dict.fromkeys(_needed(answer)))


def title(answer: GateAnswer) -> str:
    """The answer over all workloads: ``no regression of 2 % or more``."""
    share = spaced(plain_percent(texts("en"), answer.delta))
    match answer.outcome:
        case GateOutcome.REGRESSION:
            return "regression"
        case GateOutcome.NONE:
            return f"no regression of {share} or more"
        case _:
            return f"this runner cannot tell whether there is a regression of {share}"


def markdown(answer: GateAnswer) -> str:
    """A table for a pull request: a line for each workload, or for each level by which it is
    decided, verdict first, noise beside."""
    plan = answer.analysis.plan
    rows = [
        (
            f"**{word(line, verdicts)}**",
            place,
            _effect(verdicts.head),
            _effect(verdicts.control),
            counted_pairs(plan, verdicts.head.pairs),
        )
        for line, verdicts, place in _decisive(answer)
    ]
    header = ("verdict", "workload", "head against base", "base against itself", "evidence")
    table = [header, ("---",) * len(header), *rows]
    sides = " and ".join(f"{side} {name}" for side, name in answer.servers.items())
    metric = texts("en").either(f"metric.{answer.lines[0].head.metric.name}", "")
    about = [
        f"{metric} of {sides}; δ = {plain_percent(texts('en'), answer.delta)}, all sides loaded in"
        f" the same starts, new copies of the data in each{linked_text(plan)}."
        f" Campaign {answer.analysis.name}, {rough_duration(answer.analysis.wall)}."
    ]
    if answer.outcome is GateOutcome.CANNOT_TELL:
        about.insert(0, f"What would be needed: {needed(answer)}.")
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    return spaced("\n".join([f"### Gate: {title(answer)}", "", *lines, "", *about])) + "\n"


def annotation_lines(answer: GateAnswer) -> Iterator[str]:
    """The commands by which GitHub Actions shows a line beside a pull request."""
    for line, verdicts, place in _decisive(answer):
        command = COMMANDS.get(line.outcome)
        if command is not None:
            heading, text = _escaped(word(line, verdicts)), _escaped(_said(verdicts, place))
            yield f"::{command} title=Gate%3A {heading}::{text}"


def _said(verdicts: GateVerdicts, place: str) -> str:
    head, control = (spaced(_effect(verdict)) for verdict in (verdicts.head, verdicts.control))
    if head == control and verdicts.head.effect is None:
        return f"{place} {head}, and so for the base against itself"
    return f"{place} {head}; the base against itself {control}"


def _effect(verdict: Verdict) -> str:
    """``-3.1 % (97.5 % interval -4.0 % to -2.2 %)``"""
    effect, t = verdict.effect, texts("en")
    if effect is None:
        return f"{NOTHING} ({t(f'reason.{verdict.reason}')})"
    return f"{change(t, effect.ratio, percent_decimals(effect))} ({interval_percent(t, effect)})"


def _needed(answer: GateAnswer) -> Iterator[str]:
    plan = answer.analysis.plan
    for line in answer.lines:
        if line.outcome is not GateOutcome.CANNOT_TELL:
            continue
        if line.reason is GateReason.EQUAL_SIDES_DIFFER:
            yield QUIETER
            continue
        if any(verdicts.head.reason == LEFT_BEHIND for verdicts in line.decisive):
            yield f"{line.workload}: {APART}"
            continue
        further = further_pairs(answer, line)
        if further is None:
            yield f"{line.workload}: {_unforetold(plan, line)}"
        else:
            minutes = math.ceil(_budget(answer, line, further) / 60)
            yield (
                f"{line.workload}: about {counted_pairs(plan, further.pairs)} more,"
                f" --budget {minutes}m in all, if further ones are like those so far"
            )


def further_pairs(answer: GateAnswer, line: GateLine) -> StillNeeded | None:
    """How many more decide a workload; None where nobody knows, as where it is asked at levels: it
    is foretold of their mean."""
    if any(verdicts.context for verdicts in line.decisive):
        return None
    return still_needed(answer.analysis.plan, line.head, answer.analysis.trials)


def _unforetold(plan: Plan, line: GateLine) -> str:
    """Say what a workload would need, where nobody knows how many more."""
    heads = [verdicts.head for verdicts in line.decisive]
    if not any(map(is_a_matter_of_pairs, heads)):
        return f"not a longer --budget ({texts('en')(f'reason.{heads[0].reason}')})"
    least = pairs_to_interval(plan, line.workload)
    has_least = line.head.overall.pairs >= least
    return LONGER if has_least else f"{counted_pairs(plan, least)} at least"


def _budget(answer: GateAnswer, line: GateLine, further: StillNeeded) -> float:
    """The seconds that would have done; for more pairs than were planned, in proportion to what the
    plan had room for."""
    measure = answer.analysis.plan.study.measure
    planned = measure.sequential.budget if measure.sequential is not None else None
    share = (line.head.overall.pairs + further.pairs) / measure.blocks
    by_plan = (planned or 0.0) * share if share > 1 else 0.0
    return max(answer.analysis.wall + further.seconds, by_plan)


def _escaped(text: str) -> str:
    for character, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(character, code)
    return text
