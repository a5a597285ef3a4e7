"""Results of a search for a commit, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.analysis.across.bisection import BisectEnding, CommitComparison, is_stuck
from teiten.analysis.model.findings import VerdictKind
from teiten.cli.bisect.search import Search, effect_text
from teiten.cli.plan.builds import SHORT
from teiten.cli.printed.across import JsonSearch

UNDECIDED = (VerdictKind.INCONCLUSIVE, VerdictKind.MIXED)


def _effect(search: Search) -> CommitComparison | None:
    """The commit's own effect: against its parent, else against the good commit."""
    return search.last or search.against_good(search.candidates[0])


def answer(search: Search) -> str:
    match search.ending:
        case BisectEnding.FOUND:
            commit, effect = search.candidates[0], _effect(search)
            against = "its parent" if search.last is not None else "the good commit"
            return (
                f"{commit} {search.repository.subject(commit)}: "
                f"{effect_text(effect) if effect else 'no interval'} TPS against {against}"
            )
        case BisectEnding.SAME_BUILD:
            return "good and bad are the same build: nothing was measured"
        case BisectEnding.NO_DIFFERENCE:
            effect_words = effect_text(search.ends) if search.ends else ""
            return f"good and bad do not differ by what matters: {effect_words}"
        case BisectEnding.ONLY_SKIPPED:
            return f"one of {_listed(search)}; those between cannot be judged"
    return _undecided(search)


def _undecided(search: Search) -> str:
    """Why the search was not decided, and which commits are left."""
    if search.ends is not None and search.ends.verdict in UNDECIDED:
        within = f" within --budget {search.request.budget:g}s"
        limit = "" if is_stuck(search.ends) else within
        return f"not decided whether good and bad differ: {effect_text(search.ends)}{limit}"
    step = search.undecided
    if step is None or step.comparison is None or not is_stuck(step.comparison):
        return f"the budget is spent; it is one of {_listed(search)}"
    commit, why = step.commit[:SHORT], effect_text(step.comparison)
    return f"{commit} is not decided: {why}; it is one of {_listed(search)}"


def _listed(search: Search) -> str:
    names = [candidate[:SHORT] for candidate in search.candidates]
    shown = ", ".join(names[:8])
    return f"{len(names)} commits: {shown}" + (", …" if len(names) > 8 else "")


def search_lines(search: Search) -> Iterator[str]:
    """List what was done, in the order of the search."""
    if search.ends is not None:
        yield f"bad against good: {effect_text(search.ends)}"
    for step in search.steps:
        mark = step.mark.value if step.mark else "not decided"
        result = effect_text(step.comparison) if step.comparison else step.why
        yield f"  {step.commit[:SHORT]}  {mark}  {result}  {search.repository.subject(step.commit)}"
    if search.ending is BisectEnding.FOUND:
        commit = search.candidates[0]
        yield f"the first bad commit is {commit}"
        yield f"  {search.repository.subject(commit)} ({search.repository.author(commit)})"
    compared = (*(step.comparison for step in search.steps), search.ends, search.last)
    reports = dict.fromkeys(comparison.report for comparison in compared if comparison is not None)
    yield from (f"report: {path}" for path in reports)


def json_search(name: str, search: Search) -> JsonSearch:
    is_found = search.ending is BisectEnding.FOUND
    commit = search.candidates[0] if is_found else None
    return JsonSearch(
        name,
        search.ending,
        commit,
        search.repository.subject(commit) if commit else None,
        tuple(search.candidates),
        _effect(search) if is_found else None,
        ("parent" if search.last else "good") if is_found else None,
        search.ends,
        tuple(search.steps),
        search.spent,
        search.request.command,
    )
