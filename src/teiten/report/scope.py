"""For what a verdict holds: what its numbers share is in every one of them, and in no interval."""

from __future__ import annotations

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.plan import Plan
from teiten.model.trial import BOOT, LINKED, Outcome
from teiten.report.sites import of_one_start
from teiten.report.texts import Texts
from teiten.ways.registry import way_of


def boots(analysis: CampaignAnalysis) -> int | None:
    """In how many boots of the machine the counted trials ran; None where a trial does not say."""
    ids = {trial.facts.get(BOOT) for trial in analysis.trials if trial.outcome is Outcome.COUNTED}
    return None if None in ids or not ids else len(ids)


def scope_text(t: Texts, analysis: CampaignAnalysis, rounds: int) -> str:
    """After a verdict of ``rounds`` numbers; empty where each is of trials of one side at a time
    and of kept files, whose sentence has no such claim."""
    measure = analysis.plan.study.measure
    if not measure.rounds:
        return t.either(f"way.{way_of(measure).name}.scope", "")
    what = _linked_text(t, analysis)
    key = "scope-rounds-linked" if what else "scope-rounds"
    return t(
        f"sentence.{key}.{_varied(analysis.plan, boots(analysis), rounds)}",
        rounds=rounds,
        boots=boots(analysis) or 0,
        what=what,
    )


def relinked(analysis: CampaignAnalysis) -> dict[str, bool]:
    """Say of each server whether all of its counted trials were linked in an order of objects of
    their own."""
    of_trial = {trial.number: trial.template.installation.name for trial in analysis.plan.trials}
    by_server: dict[str, bool] = {}
    for trial in analysis.trials:
        if trial.outcome is Outcome.COUNTED:
            name = of_trial[trial.number]
            by_server[name] = by_server.get(name, True) and LINKED in trial.facts
    return by_server


def _linked_text(t: Texts, analysis: CampaignAnalysis) -> str:
    """Empty where no server was linked anew."""
    by_server = relinked(analysis)
    names = [name for name, linked in by_server.items() if linked]
    if not names:
        return ""
    if all(by_server.values()):
        return t("sentence.linked.all")
    return t("sentence.linked.some", servers=t("list.separator").join(names))


def _varied(plan: Plan, booted: int | None, rounds: int) -> str:
    """Find what else but the files was new in a round."""
    if of_one_start(plan):
        return "attached"
    if booted is None:
        return "unknown"
    if booted == 1:
        return "one-boot"
    return "own-boots" if booted >= rounds else "boots"


def round_rows(t: Texts, analysis: CampaignAnalysis) -> tuple[tuple[str, str], ...]:
    """Tell what a round is, and how many boots the rounds span; empty without rounds."""
    if not analysis.plan.study.measure.rounds:
        return ()
    attached = of_one_start(analysis.plan)
    text = t("design.rounds.attached" if attached else "design.rounds.text")
    if not attached:
        what = _linked_text(t, analysis)
        text += t("design.rounds.linked", what=what) if what else t("design.rounds.not-linked")
    booted = None if attached else boots(analysis)
    if booted is not None:
        text += t.plural("design.rounds.boots", booted)
    return ((t("design.rounds"), text),)
