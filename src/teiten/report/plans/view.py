"""Two plans as a page or a terminal shows them: sentences and tables."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.analysis.model.explain import PlanDifference
from teiten.model.text import Language
from teiten.report.plans import sentences
from teiten.report.plans.tables import kinds_table, nodes_table, scans_table, summary_table
from teiten.report.plans.viewer import PlanPair, viewed
from teiten.report.tables import Table
from teiten.report.texts import texts


@dataclass(frozen=True)
class DifferenceView:
    """What is said of two plans."""

    sides: tuple[str, str]
    statements: tuple[str, ...]
    notes: tuple[str, ...]
    changes: tuple[str, ...]
    tables: tuple[Table, ...]
    pair: PlanPair


def difference_view(
    found: PlanDifference, sides: tuple[str, str], language: Language, name: str = "plans"
) -> DifferenceView:
    """``sides``: what the plans are called; ``name``: a prefix of ids, unique in the page."""
    t = texts(language)
    both = (found.old, found.new)
    kinds = [
        kinds_table(t, f"{name}-kinds-{index}", one, side)
        for index, (one, side) in enumerate(zip(both, sides, strict=True))
    ]
    scans = [
        scans_table(t, f"{name}-scans-{index}", one, side)
        for index, (one, side) in enumerate(zip(both, sides, strict=True))
    ]
    return DifferenceView(
        sides=sides,
        statements=tuple(sentences.statements(t, found)),
        notes=tuple(sentences.notes(t, found, sides)),
        changes=tuple(sentences.changes(t, found)),
        tables=(
            summary_table(t, f"{name}-summary", found, sides),
            *kinds,
            *(one for one in scans if one is not None),
            nodes_table(t, f"{name}-nodes", found, sides),
        ),
        pair=PlanPair(
            t("plan.open"),
            tuple(
                viewed(f"{name}-plan-{index}", side, one.plan)
                for index, (one, side) in enumerate(zip(both, sides, strict=True))
            ),
        ),
    )
