"""A collection in lines: what it would do here, and what it has come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from teiten.analysis.across.prediction import Basis, CheckedPrediction, Prediction
from teiten.analysis.model.claims import ClaimStanding
from teiten.analysis.model.collection import CollectionResult, ComparedFinding
from teiten.cli.collection.carry_out import foretold_first_pass
from teiten.cli.collection.planning import PlannedCampaign, disk_needed, reasons
from teiten.cli.text.layout import paragraph
from teiten.model.quantities import format_size, rough_duration
from teiten.model.units import Seconds
from teiten.report.claim_words import check_text, outcome_word, reason_text
from teiten.report.collection import side_in
from teiten.report.numbers import moment
from teiten.report.texts import texts
from teiten.study.collection import CollectionTable

INDENT = "    "


def plan_lines(
    table: CollectionTable, campaigns: Sequence[PlannedCampaign], budget: Seconds, *, whole: bool
) -> Iterator[str]:
    """List the campaigns in their order, then time and disk, then what cannot be judged here.

    ``whole``: each finding that cannot be judged, with its reason; else they are counted.
    """
    yield f"{table.title.en} ({table.name}), in {rough_duration(budget)}"
    yield ""
    for campaign in campaigns:
        yield from _campaign(campaign, whole=whole)
    yield ""
    first = foretold_first_pass(campaigns)
    yield f"first pass    about {rough_duration(first)} of {rough_duration(budget)}"
    if first > budget:
        yield "              it does not fit: the last campaigns wait for a larger --budget"
    yield f"disk          {format_size(disk_needed(campaigns))}"
    judged = sum(campaign.judged for campaign in campaigns)
    every = sum(len(campaign.outcomes) for campaign in campaigns)
    yield f"findings      {judged} of {every} can be judged here"
    for reason, count in reasons(campaigns).most_common():
        yield f"{count:>18} cannot: {reason_text(texts('en'), reason)}"


def _campaign(campaign: PlannedCampaign, *, whole: bool) -> Iterator[str]:
    if campaign.planned is None or not campaign.runs:
        yield f"{campaign.table.called}: does not run here"
        yield from paragraph(campaign.lacking, indent=INDENT)
    else:
        plan = campaign.planned.plan
        servers = ", ".join(str(server.version) for _, server in plan.servers)
        yield (
            f"{campaign.table.called}: PostgreSQL {servers};"
            f" {rough_duration(campaign.first)} at first,"
            f" {rough_duration(campaign.block)} for each further block;"
            f" {campaign.judged} of {len(campaign.outcomes)} findings"
        )
    if campaign.table.remark is not None:
        yield from paragraph(campaign.table.remark.en, indent=INDENT)
    if whole:
        for outcome in campaign.outcomes:
            reason = campaign.why_not(outcome) if campaign.runs else None
            if reason is not None:
                why = reason_text(texts("en"), reason)
                yield from paragraph(f"{outcome.claim.id}: {why}", indent=INDENT)


def comparison_lines(first: str, second: str, findings: Sequence[ComparedFinding]) -> Iterator[str]:
    """Tell which findings came out otherwise in a second collection, each with both intervals."""
    t = texts("en")
    judged = [finding for finding in findings if finding.applies]
    alike = sum(finding.first.standing is finding.second.standing for finding in judged)
    waiting = sum(finding.waits for finding in findings)
    yield (
        f"{len(judged)} findings apply in both, {alike} of them with the same outcome, and"
        f" {sum(finding.depends for finding in judged)} reproduced in one and contradicted in the"
        f" other; {waiting} have not run in one of them, and"
        f" {len(findings) - len(judged) - waiting} do not apply in one"
    )
    for finding in judged:
        if finding.first.standing is finding.second.standing:
            continue
        yield ""
        yield from paragraph(t.of(finding.first.outcome.claim.statement))
        for name, sided in ((first, finding.first), (second, finding.second)):
            outcome = sided.outcome
            measured = check_text(t, outcome.deciding, side_in(t, sided))
            line = f"{name}: {outcome_word(t, outcome)}; {measured}"
            yield from paragraph(line, indent=INDENT)


def result_lines(result: CollectionResult) -> Iterator[str]:
    """Count the findings by outcome."""
    t = texts("en")
    counted = ", ".join(
        f"{result.counts[standing]} {t(f'claim-outcome.{standing.value}')}"
        for standing in ClaimStanding
    )
    yield f"{len(result.findings)} findings: {counted}"


BASES = {
    Basis.CLEAR: "the outcome that it has here: intervals twice as wide would decide it too",
    Basis.NEEDS_CORES: "it does not apply: it asks for more processors",
    Basis.NOT_JUDGED: "nothing: no campaign judged it here",
    Basis.UNDECIDED: "nothing: it is undecided here",
    Basis.PROCESSORS: "nothing: it hangs on the number of processors",
    Basis.MEMORY: "nothing: its campaign needs more memory",
    Basis.NEAR: "nothing: intervals twice as wide would not decide it",
}


def prediction_lines(prediction: Prediction) -> Iterator[str]:
    """Count what is foretold, then list the findings of it."""
    machine = prediction.machine
    counts = Counter(finding.basis for finding in prediction.findings)
    yield (
        f"{len(prediction.findings)} findings of {prediction.collection}, foretold for"
        f" {machine.cores} {'processor' if machine.cores == 1 else 'processors'} and"
        f" {format_size(machine.memory)}"
    )
    for basis, words in BASES.items():
        if counts[basis]:
            yield f"{counts[basis]:>6}  {words}"
    yield ""
    for finding in prediction.findings:
        if finding.basis is Basis.CLEAR:
            yield f"{finding.id}: {texts('en')(f'claim-outcome.{finding.outcome}')}"


def checked_lines(prediction: Prediction, checked: CheckedPrediction) -> Iterator[str]:
    """Tell how often a prediction came true, and where it did not."""
    made = moment(prediction.made_at)
    yield ""
    yield (
        f"foretold on {made}: {checked.judged + len(checked.not_judged)} findings with the same"
        f" outcome; {checked.judged} of them are judged there"
    )
    if checked.judged:
        percent = 100 * len(checked.right) / checked.judged
        yield (
            f"right: {len(checked.right)} of {checked.judged} ({percent:.0f} %); undecided there:"
            f" {len(checked.undecided)}; the opposite: {len(checked.opposite)}"
        )
    for words, names in (("undecided", checked.undecided), ("opposite", checked.opposite)):
        for name in names:
            yield f"{INDENT}{words}: {name}"
