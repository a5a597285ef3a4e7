"""A sequential campaign while it runs: its stopping rule, and how it stands in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from teiten.analysis.campaign import wall_seconds
from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, VerdictKind
from teiten.analysis.verdict.contrasts import contrasts, pairs_to_interval
from teiten.analysis.verdict.stopping import standing, trial_seconds
from teiten.analysis.verdict.verdict import MENDED_BY_PAIRS
from teiten.cli.campaign.progress import Watcher
from teiten.kinds.metrics import deciding
from teiten.ledger.store import Ledger
from teiten.model.plan import Plan
from teiten.model.progress import Ending, Standing, given_blocks
from teiten.model.quantities import rough_duration
from teiten.model.trial import Attempt
from teiten.model.units import Seconds
from teiten.plan.durations import target
from teiten.plan.sites.of import all_start
from teiten.report.effects import interval_percent, percent_decimals
from teiten.report.sentences import ending_text, verdict_word
from teiten.report.texts import texts
from teiten.ways.registry import way_of


def decide(ledger: Ledger, watcher: Watcher) -> Standing:
    """The stopping rule: asked before every trial, it judges what the ledger holds."""
    plan = ledger.plan
    if plan.study.measure.sequential is None:
        return Standing()
    attempts = ledger.attempts(*deciding(plan))
    events = ledger.campaign_events()
    given = given_blocks(plan, events)
    if attempts and not given:
        results = contrasts(plan, attempts, judged_only=True)
        watcher.stands(tuple(standing_lines(plan, results, attempts)))
    moments = [at for attempt in attempts for at in (attempt.started_at, attempt.finished_at)]
    spent = Seconds(wall_seconds(ledger.created_at, events, moments))
    return standing(plan, attempts, spent, given)


def standing_lines(
    plan: Plan, results: Sequence[ContrastResult], attempts: Sequence[Attempt]
) -> Iterator[str]:
    """List each contrast's estimate, interval, verdict so far, pairs, and the way to a decision."""
    several = len(results) > 1
    for contrast in results:
        if not contrast.overall.pairs and not any(level.verdict.pairs for level in contrast.levels):
            continue
        name = f"{contrast.workload} {contrast.new}/{contrast.old}: " if several else ""
        pairs = counted_pairs(plan, contrast.overall.pairs)
        yield f"{name}{_stand(contrast)}; {pairs}{_way(plan, contrast, attempts)}"


def ending_lines(analysis: CampaignAnalysis) -> Iterator[str]:
    """How a sequential campaign ended; nothing of a fixed design."""
    if text := ending_text(texts("en"), analysis):
        yield text
    if analysis.standing.ending is Ending.LEFT_BEHIND:
        yield "--way classic loads one side at a time"


def _stand(contrast: ContrastResult) -> str:
    effect, t = contrast.overall.effect, texts("en")
    reason = contrast.overall.reason
    if effect is None and reason in MENDED_BY_PAIRS:
        return "no interval yet"
    if effect is None:
        return f"{verdict_word(t, contrast.overall)}: {t(f'reason.{reason}')}"
    digits = percent_decimals(effect)
    ratio = f"{(effect.ratio - 1) * 100:+.{digits}f} %"
    return f"{ratio} ({interval_percent(t, effect)}), {verdict_word(t, contrast.overall)}"


def counted_pairs(plan: Plan, count: int) -> str:
    """``12 starts``, in the unit that counts as one number."""
    shared, way = plan.pairs_of_a_start, way_of(plan.study.measure)
    unit = way.unit if all_start(plan) else way.reused_unit
    if shared > 1 or plan.study.measure.rounds:
        unit = "start" if shared > 1 else "round"
    counted = f"{count} {unit}{'s' * (count != 1)}"
    return f"{counted} of {shared} pairs" if shared > 1 else counted


def _way(plan: Plan, contrast: ContrastResult, attempts: Sequence[Attempt]) -> str:
    """How far it is to the decision, where it is not there yet."""
    if contrast.overall.kind is not VerdictKind.INCONCLUSIVE:
        return ""
    least = pairs_to_interval(plan, contrast.workload)
    needed = still_needed(plan, contrast, attempts)
    if needed is None:
        return f", a decision needs {least} at least" if contrast.overall.pairs < least else ""
    beyond = ", beyond the budget" if needed.beyond_budget else ""
    return f", about {needed.pairs} more to a decision ({rough_duration(needed.seconds)}{beyond})"


@dataclass(frozen=True)
class StillNeeded:
    """Further pairs, with their time, until a comparison is decided, if they are like those so
    far."""

    pairs: int
    """Starts, or rounds, where these count as pairs."""
    seconds: Seconds
    beyond_budget: bool


def still_needed(
    plan: Plan, contrast: ContrastResult, attempts: Sequence[Attempt]
) -> StillNeeded | None:
    """None where nobody knows: of fewer than two pairs, or where no number of pairs decides."""
    if contrast.forecast is None:
        return None
    least = pairs_to_interval(plan, contrast.workload)
    further = max(contrast.forecast, least, contrast.overall.pairs + 1) - contrast.overall.pairs
    cells = sum(trial.block == 1 for trial in plan.trials)
    of_one = plan.blocks_of_a_number
    of_trial = trial_seconds(plan, attempts)
    seconds = Seconds(further * of_one * cells * of_trial)
    most = plan.study.measure.blocks // of_one
    in_all = len(attempts) * of_trial + seconds
    is_beyond = contrast.forecast > most or in_all > target(plan.study)
    return StillNeeded(further, seconds, is_beyond)
