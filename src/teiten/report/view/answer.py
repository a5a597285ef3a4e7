"""Part 1: the answer, its cost, what was excluded, and what could not be decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from teiten.analysis.model.findings import ContrastResult, Verdict, VerdictKind
from teiten.kinds.contract_present import OwnAnswer, present_in, presents_in
from teiten.model.build import BUILDS_DIFFER, OF_BUILDS
from teiten.model.study import USUAL_DISTURBED_SHARE
from teiten.model.text import joined_sentences
from teiten.report.blocks import (
    Block,
    Details,
    Pairs,
    Section,
    Statement,
    Text,
    Unprinted,
    WithoutScripts,
    of_kind,
)
from teiten.report.effects import interval_of_ratio, percent, ratio_text
from teiten.report.parts import noted_once
from teiten.report.sentences import (
    answer_parts,
    is_open,
    notice_of_profile,
    verdict_kind,
    verdict_word,
)
from teiten.report.texts import Texts, caution_text
from teiten.report.view.design import stopped
from teiten.report.view.kit import Kit
from teiten.report.view.overview import counted_with_slower, overview, slowest_first
from teiten.report.view.variants import emulated

MOST_LINES = 12
MOST_OPEN = 10
"""More undecided levels are counted, and named in the results only."""


def answer(kit: Kit) -> Section:
    """The first section."""
    t, asked = kit.t, _asked(kit)
    text = "" if _builds_differ(kit) else _of_builds(kit)
    builds = ((t("answer.builds"), text),) if text else ()
    remarks = (
        *stopped(kit),
        (t("answer.cost"), _cost(kit)),
        (t("answer.excluded"), _excluded(kit)),
        *_other_load(kit),
        *builds,
        (t("answer.undecided"), _undecided(kit, asked)),
    )
    together = overview(kit, asked)
    asked = tuple(slowest_first(asked)) if together else asked
    statements: list[Block] = [
        _statement(kit, at, contrast, asked, drawn=not together)
        for at, contrast in enumerate(asked)
    ]
    if together:
        decided: list[Block] = []
        others: list[Block] = []
        for contrast, statement in zip(asked, statements, strict=True):
            is_decided = contrast.overall.kind is not VerdictKind.INCONCLUSIVE
            (decided if is_decided else others).append(statement)
        if others:
            decided.append(Unprinted(t("overview.undecided"), tuple(others)))
        statements = [Details(t("overview.each"), tuple(decided))]
    scopes = (answer_parts(t, kit.names, kit.analysis, contrast)[-1] for contrast in asked)
    scope = (Text(scope.strip(), "note") for scope in dict.fromkeys(scopes) if scope)
    own = (block for answer in _own(kit) for block in answer.blocks)
    return answer_section(t, notices(kit), (*together, *statements, *scope, *own), remarks)


def answer_section(
    t: Texts,
    notices: Iterable[str],
    statements: Iterable[Block],
    remarks: Iterable[tuple[str, str]],
) -> Section:
    """``notices``: said before everything else; ``remarks``: cost, excluded, undecided."""
    shown: tuple[Block, ...] = (
        *(Text(notice, "notice") for notice in notices),
        *statements,
        WithoutScripts(t("notice.no-script")),
        Pairs(tuple(remarks), "remarks"),
    )
    return noted_once(Section("answer", t("section.answer"), shown))


def primary(kit: Kit) -> tuple[ContrastResult, ...]:
    """The contrasts of the metric that the question is about, else each workload's first."""
    judged = tuple(contrast for contrast in kit.analysis.contrasts if contrast.metric.judged)
    if judged:
        return judged
    first: dict[tuple[str, str, str], ContrastResult] = {}
    for contrast in kit.analysis.contrasts:
        first.setdefault(contrast.key, contrast)
    return tuple(first.values())


def answers(kit: Kit) -> tuple[str, ...]:
    """The answers of the first page, in a line each; many are counted. None without conclusion."""
    if not kit.study.conclusive:
        return ()
    blocks = [block for answer in _own(kit) for block in answer.blocks]
    statements = of_kind(blocks, Statement)
    own = [_said_of(kit, block.workload, block.text) for block in statements]
    asked = _asked(kit) or (() if own else primary(kit))
    lines = (*own, *(_line(kit, contrast) for contrast in asked))
    return lines if len(lines) <= MOST_LINES else (*own, counted_with_slower(kit, asked))


def _line(kit: Kit, contrast: ContrastResult) -> str:
    """An answer in a line; where there is no mean, what is said instead of it."""
    workload = kit.names.workload(contrast.workload)
    if contrast.overall.effect is None:
        verdict, _, _ = answer_parts(kit.t, kit.names, kit.analysis, contrast)
        return _said_of(kit, workload, verdict)
    return line_of(kit, contrast, contrast.overall, workload)


def line_of(kit: Kit, contrast: ContrastResult, verdict: Verdict, subject: str) -> str:
    """``Range read: faster, 18.4 ÷ 17.10 = 1.020 (95 % interval 1.015 to 1.024)``, with the verdict
    on ``subject``; its word alone where there is no interval."""
    t, effect = kit.t, verdict.effect
    if effect is None:
        return t("summary.said", workload=subject, text=verdict_word(t, verdict))
    return t(
        "summary.line",
        workload=subject,
        word=verdict_word(t, verdict),
        metric=t.metric(contrast.metric),
        sides=kit.ratio_of(contrast),
        ratio=ratio_text(effect),
        interval=interval_of_ratio(t, effect),
    )


def _said_of(kit: Kit, workload: str, text: str) -> str:
    """A sentence, below the name of its workload where it does not name it."""
    is_named = workload.casefold() in text.casefold()
    return text if is_named else kit.t("summary.said", workload=workload, text=text)


def _asked(kit: Kit) -> tuple[ContrastResult, ...]:
    """List the contrasts that the first page answers, as kinds without an own answer choose."""
    contrasts = primary(kit)
    of_kind: dict[str, list[ContrastResult]] = {name: [] for name in presents_in(kit)}
    for contrast in contrasts:
        of_kind[kit.study.workload(contrast.workload).kind].append(contrast)
    chosen = {
        id(contrast)
        for name, kind in presents_in(kit).items()
        if kind.own_answer(kit) is None
        for contrast in kind.answered(kit, of_kind[name])
    }
    return tuple(contrast for contrast in contrasts if id(contrast) in chosen)


def _own(kit: Kit) -> Iterator[OwnAnswer]:
    answers = (kind.own_answer(kit) for kind in presents_in(kit).values())
    yield from (answer for answer in answers if answer is not None)


def notices(kit: Kit) -> tuple[str, ...]:
    """Tell what a reader knows before the answer: of the profile, the machine, what is missing."""
    analysis, t = kit.analysis, kit.t
    sentences = [*notice_of_profile(t, kit.study)]
    devices = emulated(kit)
    if devices:
        sentences.append(t("notice.emulated", storages=t("list.separator").join(devices)))
    if _builds_differ(kit):
        sentences.append(_of_builds(kit))
    if analysis.missing and kit.study.measure.sequential is not None:
        sentences.append(t("notice.undecided-yet"))
    elif analysis.missing:
        sentences.append(
            t.plural("notice.missing", analysis.missing, planned=len(analysis.plan.trials))
        )
    return tuple(sentences)


def _builds_differ(kit: Kit) -> bool:
    """Whether a difference may be the builds'."""
    return any(caution.code == BUILDS_DIFFER for caution in kit.analysis.cautions)


def _of_builds(kit: Kit) -> str:
    """The cautions about the servers' builds, as sentences; empty without any."""
    sentences = [
        caution_text(caution, kit.t.language)[0]
        for caution in kit.analysis.cautions
        if caution.code in OF_BUILDS
    ]
    return joined_sentences((*sentences, kit.t("notice.builds"))) if sentences else ""


def _statement(
    kit: Kit, at: int, contrast: ContrastResult, asked: Sequence[ContrastResult], *, drawn: bool
) -> Statement:
    """``asked``: every answer of the page; ``drawn``: with its chart."""
    t, names = kit.t, kit.names
    verdict, further, _ = answer_parts(t, names, kit.analysis, contrast)
    chart, points = present_in(kit, contrast.workload).beside(kit, f"forest-{at + 1}", contrast)
    return Statement(
        kit.workload_of(contrast, asked),
        verdict_kind(contrast.overall),
        verdict_word(t, contrast.overall),
        verdict,
        chart if drawn else None,
        (*filter(None, (further.strip(),)), *points),
    )


def _cost(kit: Kit) -> str:
    analysis, t = kit.analysis, kit.t
    return t(
        "answer.cost.text",
        trials=t.plural("answer.cost.trials", len(analysis.due)),
        attempts=len(analysis.trials),
        blocks=t.plural("answer.cost.blocks", len({trial.block for trial in analysis.due})),
        measured=kit.duration(analysis.measured),
        wall=kit.duration(analysis.wall),
    )


def _excluded(kit: Kit) -> str:
    t, trials = kit.t, kit.analysis.trials
    out = [trial for trial in trials if not trial.counts]
    if not out:
        return t("answer.excluded.none")
    reasons = Counter(
        t.problem(problem)
        for trial in out
        for problem in {problem.code: problem for problem in trial.problems}.values()
    )
    listed = t("list.separator").join(
        t("answer.excluded.reason", count=count, reason=reason)
        for reason, count in reasons.most_common()
    )
    text = t.plural("answer.excluded.some", len(out), attempts=len(trials), reasons=listed)
    counted = {trial.number for trial in trials if trial.counts}
    lost = {trial.number for trial in out} - counted
    return text + (t.plural("answer.excluded.lost", len(lost)) if lost else "")


def _other_load(kit: Kit) -> Iterator[tuple[str, str]]:
    """Tell what others took of the machine, where it was more than a trial usually may lose."""
    taken = kit.shares("cpu_other_share")
    if taken and median(taken) > USUAL_DISTURBED_SHARE:
        least, typical, most = (
            percent(kit.t, share, 0) for share in (min(taken), median(taken), max(taken))
        )
        text = kit.t("answer.load.text", least=least, typical=typical, most=most)
        yield kit.t("answer.load"), text


def _undecided(kit: Kit, asked: Sequence[ContrastResult]) -> str:
    t = kit.t
    if not kit.study.conclusive:
        return t("answer.undecided.profile", profile=kit.study.profile)
    parts = [text for own in _own(kit) for text in own.undecided]
    alone: dict[str, list[str]] = {}
    for contrast in asked:
        undecided = (level for level in contrast.levels if is_open(level.verdict))
        open_levels = [kit.names.context(level.context) for level in undecided]
        workload = kit.workload_of(contrast, asked)
        is_mean_open = is_open(contrast.overall)
        if is_mean_open and len(contrast.levels) < 2:
            reason = t.either(f"reason.{contrast.overall.reason}", "")
            alone.setdefault(reason, []).append(workload)
        elif len(open_levels) > MOST_OPEN:
            key = "answer.undecided-many-mean" if is_mean_open else "answer.undecided-many"
            counts = {"count": len(open_levels), "of": len(contrast.levels)}
            parts.append(t(key, workload=workload, **counts))
        elif is_mean_open or open_levels:
            mean = [t("answer.undecided.mean")] if is_mean_open else []
            levels = t("list.separator").join((*mean, *open_levels))
            parts.append(t("answer.undecided.workload", workload=workload, levels=levels))
    for reason, workloads in alone.items():
        named = t.listed(workloads)
        worded = t("answer.undecided.workload", workload=named, levels=reason)
        parts.append(worded if reason else named)
    return t("list.strong").join(parts) if parts else t("answer.undecided.none")
