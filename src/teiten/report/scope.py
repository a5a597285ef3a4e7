"""For what a verdict holds: what its numbers share is in every one of them, and in no interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult
from teiten.model.plan import Context, Plan
from teiten.model.trial import BOOT, LINKED
from teiten.report.texts import Texts
from teiten.ways.registry import way_of


def boots(analysis: CampaignAnalysis) -> int | None:
    """In how many boots of the machine the counted trials ran; None where a trial does not say."""
    ids = {trial.facts.get(BOOT) for trial in analysis.trials if trial.counts}
    return None if None in ids or not ids else len(ids)


def scope_text(t: Texts, analysis: CampaignAnalysis, contrast: ContrastResult) -> str:
    """The words after a verdict; empty for trials of one side at a time and of kept files."""
    measure = analysis.plan.study.measure
    if not measure.rounds:
        return t.either(f"way.{way_of(measure).name}.scope", "")
    what = _linked_text(t, analysis)
    key = "scope-rounds-linked" if what else "scope-rounds"
    by_round = _boots_by_round(analysis, contrast)
    return t(
        f"sentence.{key}.{_varied(analysis.plan, by_round)}",
        rounds=contrast.overall.pairs,
        boots=len(Boots().union(*by_round)),
        what=what,
    )


Boots = set[str | None]
"""Boots of the machine by the kernel's boot_id; None of a trial that does not say."""


def _boots_by_round(analysis: CampaignAnalysis, contrast: ContrastResult) -> list[Boots]:
    """The boots of each round that a verdict on all levels is of: of both sides at every level."""
    factor = analysis.plan.study.contrast
    contexts = {level.context for level in contrast.levels}.difference(contrast.left_out)
    cells = {(context, side) for context in contexts for side in (contrast.old, contrast.new)}
    by_round: dict[int, dict[tuple[Context, str], str | None]] = defaultdict(dict)
    for trial in analysis.trials:  # by number and attempt: of several that count the last one stays
        cell = (trial.context(factor), trial.side(factor))
        is_of_this = trial.workload == contrast.workload and cell in cells
        if is_of_this and trial.counts:
            by_round[trial.block][cell] = trial.facts.get(BOOT)
    return [set(of_cells.values()) for of_cells in by_round.values() if of_cells.keys() == cells]


def _linked_text(t: Texts, analysis: CampaignAnalysis) -> str:
    """The servers whose counted trials all had a link order of their own; empty without any."""
    of_trial = {trial.number: trial.template.installation.name for trial in analysis.plan.trials}
    by_server: dict[str, bool] = {}
    for trial in analysis.trials:
        if trial.counts:
            name = of_trial[trial.number]
            by_server[name] = by_server.get(name, True) and LINKED in trial.facts
    names = [name for name, linked in by_server.items() if linked]
    if not names:
        return ""
    if all(by_server.values()):
        return t("sentence.linked.all")
    return t("sentence.linked.some", servers=t("list.separator").join(names))


def _varied(plan: Plan, by_round: Sequence[Boots]) -> str:
    """Find what else but the files was new in a round."""
    if plan.is_of_one_start:
        return "attached"
    boots_of_all = Boots().union(*by_round)
    if None in boots_of_all or not boots_of_all:
        return "unknown"
    if len(boots_of_all) == 1:
        return "one-boot"
    in_one_each = all(len(of_round) == 1 for of_round in by_round)
    return "own-boots" if in_one_each and len(boots_of_all) == len(by_round) else "boots"


def round_rows(t: Texts, analysis: CampaignAnalysis) -> tuple[tuple[str, str], ...]:
    """Tell what a round is, and how many boots the rounds span; empty without rounds."""
    if not analysis.plan.study.measure.rounds:
        return ()
    attached = analysis.plan.is_of_one_start
    text = t("design.rounds.attached" if attached else "design.rounds.text")
    if not attached:
        what = _linked_text(t, analysis)
        text += t("design.rounds.linked", what=what) if what else t("design.rounds.not-linked")
    booted = None if attached else boots(analysis)
    if booted is not None:
        text += t.plural("design.rounds.boots", booted)
    return ((t("design.rounds"), text),)
