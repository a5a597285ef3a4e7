"""What an audit of the method found, each as it was and as it is."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.method import correlated, multiplicity, repeats, rounds, stalls, starts, swings


def table(campaigns: int, seed: int) -> Iterator[str]:
    """Markdown: what is counted, in percent of the campaigns, by the old rule and by today's."""
    yield "| what | before | now |"
    yield "| --- | --: | --: |"
    for what, before, now in _rows(campaigns, seed):
        yield f"| {what} | {100 * before:.1f} % | {100 * now:.1f} % |"


def _rows(campaigns: int, seed: int) -> Iterator[tuple[str, float, float]]:
    size = {"campaigns": campaigns, "seed": seed}
    alone, whole = (repeats.false_alarms(whole=how, **size) for how in (False, True))
    yield "repeats on a machine that drifts: false alarms", alone, whole
    alone, whole = (repeats.bias(whole=how, of_wanted=how, **size) for how in (False, True))
    yield "steal, judged by all CPU time and by what was wanted: bias of d", alone, whole
    for what, counted in (
        ("five pairs of a start, two campaigns: false alarms", starts.of_two_campaigns),
        ("five pairs of a start, costs per transaction: false alarms", starts.of_paired_costs),
    ):
        by_pair, by_start = (counted(as_starts=how, **size) for how in (False, True))
        yield what, by_pair, by_start
    files = "files that favour a side by 1 % by chance"
    for where, boots in (
        (files, 0),
        (f"{files}, and one boot by 0.5 %", 1),
        (f"{files}, and each of 8 boots by 0.5 %", 8),
    ):
        kept, new = (rounds.false_alarms(rounds=how, boots=boots, **size) for how in (False, True))
        yield f"{where}: false alarms of 8 starts, of 8 rounds", kept.fixed, new.fixed
        yield f"{where}: the same until decided", kept.sequential, new.sequential
    for often in (0.04, 0.08, 0.2):
        trimmed, plain = (stalls.stalled(trimmed=how, often=often, **size) for how in (True, False))
        where = f"stalls in {often:.0%} of one side's slices, truly −2 %"
        yield f"{where}: called equivalent", trimmed.equivalent, plain.equivalent
        yield f"{where}: called slower", trimmed.slower, plain.slower
    for news in (1, 3):
        before, now = (multiplicity.said(news=news, spent=how, **size) for how in (False, True))
        where = f"report of equal servers, {news} new"
        yield f"{where}: a difference in any primary statement", before[1], now[1]
        yield f"{where}: a difference in any cell", before[0], now[0]
    single, shared = (correlated.correlated(pairs_of_a_start=pairs, **size) for pairs in (1, 8))
    where = "pairs that correlate by 0.6, one by one and eight as one"
    yield f"{where}: false alarms", single.false_alarms, shared.false_alarms
    yield f"{where}: the caution is given", single.cautioned, shared.cautioned
    for points, step in ((6, 0.0), (20, 0.0), (20, 6.0)):
        line = swings.marked(points, correlation=0.6, step=step, lines=campaigns // 10, seed=seed)
        where = f"{points} campaigns that correlate by 0.6"
        what = f"a step of {step:g} deviations" if step else "no step"
        yield f"{where}, {what}: a change is said", line.marked, line.firm
