"""Cautions in a few lines, by cause: what a person reads before a campaign begins; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.model.build import OF_BUILDS
from teiten.model.facts import Caution, Severity
from teiten.report.texts import caution_text

BUDGET = "budget"
LEFT_OUT = "not measured"
CAUSES: dict[str, tuple[str, ...]] = {
    BUDGET: ("budget-short",),
    LEFT_OUT: ("attached-left-out",),
    "servers": (*OF_BUILDS, "read-before", "servers-order"),
    "other load": ("other-load", "virtual-machine", "container", "swap-in-use", "memory-low"),
    "processors": (
        "few-cores",
        "shared-cores",
        "more-clients-than-cores",
        "cgroup-quota",
        "hardware-threads",
        "numa-nodes",
        "frequency-governor",
        "turbo-on",
        "turbo-unknown",
    ),
}
"""Codes by what they are about, in the order in which they are said; those about single levels of
processors begin with ``cores-``."""
OTHERS = "also"
MOST = 5
"""Lines: of more causes the last line has the rest."""


def brief_cautions(cautions: Sequence[Caution]) -> Iterator[str]:
    """A line for each cause: its first warning, and how many more there are. What can be done about
    a budget is said, as nothing else keeps a decision from being possible at all, and all that will
    not be measured."""
    by_cause: dict[str, list[Caution]] = {cause: [] for cause in (*CAUSES, OTHERS)}
    for caution in cautions:
        by_cause[_cause(caution)].append(caution)
    lines = [(cause, of_cause) for cause, of_cause in by_cause.items() if of_cause]
    rest = [caution for _, of_cause in lines[MOST - 1 :] for caution in of_cause]
    shown = lines if len(lines) <= MOST else [*lines[: MOST - 1], (OTHERS, rest)]
    for at, (cause, of_cause) in enumerate(shown, start=1):
        line = _line(cause, of_cause)
        yield line if at < len(shown) else f"{line}; advice: --verbose, or the report"


def _cause(caution: Caution) -> str:
    if caution.code.startswith("cores-"):
        return "processors"
    return next((cause for cause, codes in CAUSES.items() if caution.code in codes), OTHERS)


def _line(cause: str, cautions: Sequence[Caution]) -> str:
    first = min(cautions, key=lambda caution: caution.severity is not Severity.WARNING)
    what, advice = caution_text(first, "en")
    if cause == LEFT_OUT:
        left_out = (caution_text(caution, "en")[0].partition(". ")[0] for caution in cautions)
        return f"{cause}: {'; '.join(left_out)}"
    line = f"{cause}: {_first_sentence(what)}"
    if cause == BUDGET:
        return f"{line}. {advice.removesuffix('.')}"
    more = len(cautions) - 1
    return f"{line} (and {more} more)" if more else line


def _first_sentence(text: str) -> str:
    """Up to the first full stop or colon that a blank follows."""
    ends = [at for mark in (". ", ": ") if (at := text.find(mark)) > 0]
    return text[: min(ends)] if ends else text.removesuffix(".")
