"""A comparison of two plans as a page."""

from __future__ import annotations

from teiten.analysis.model.explain import PlanDifference
from teiten.model.text import Language
from teiten.report.blocks import Block, Items, Page, Section, Text
from teiten.report.plans import sentences
from teiten.report.plans.tables import difference_tables
from teiten.report.plans.viewer import PlanPair, viewed
from teiten.report.render.html import html
from teiten.report.texts import texts


def difference_page(found: PlanDifference, sides: tuple[str, str], language: Language) -> Page:
    """``sides``: what the plans are called."""
    t = texts(language)
    plans = (
        viewed(f"plans-plan-{at}", side, one.plan)
        for at, (side, one) in enumerate(zip(sides, (found.old, found.new), strict=True))
    )
    shown: tuple[Block, ...] = (
        Text(sentences.headline(t, found, sides), "question"),
        *(Text(line) for line in sentences.statements(t, found)),
        Items(tuple(sentences.changes(t, found)), "findings"),
        *(Text(note, "note") for note in sentences.notes(t, found, sides)),
        PlanPair(t("plan.open"), tuple(plans)),
        *difference_tables(t, "plans", found, sides),
    )
    section = Section("answer", t("section.answer"), shown, headed=False)
    return Page(t, t("plan.title"), " → ".join(sides), (), (section,), made_key="plan.made")


def render_difference(
    found: PlanDifference, sides: tuple[str, str], language: Language, teiten_version: str
) -> str:
    """One HTML file that works offline; both plans can be opened side by side in pev2."""
    return html(difference_page(found, sides, language), teiten_version)
