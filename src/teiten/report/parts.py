"""A report in two parts: a body that is read, and an appendix that is looked up; their sections,
figures and tables have numbers, for forms that cannot count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from teiten.model.text import joined_sentences
from teiten.report.blocks import (
    Block,
    Contents,
    Details,
    Drawing,
    Further,
    Gallery,
    Heading,
    Page,
    Section,
    Statement,
    Unprinted,
    gallery,
    of_kind,
    rebuilt,
)
from teiten.report.charts.base import Chart
from teiten.report.effects import WIDEST
from teiten.report.numbers import plain
from teiten.report.plans.viewer import PlanPair
from teiten.report.tables import Table
from teiten.report.texts import Texts


def parted(t: Texts, sections: Iterable[Section]) -> tuple[Section, ...]:
    """The body, then the appendix: what sections hold as ``Further``, and its own; none empty."""
    parts = [_parts(t, section) for section in sections]
    body = [section for section, _ in parts if not section.appendix]
    whole = [section for section, _ in parts if section.appendix]
    further = [section for _, section in parts]
    return tuple(noted(t, section) for section in (*body, *further, *whole) if section.blocks)


def noted(t: Texts, section: Section) -> Section:
    """The section with a note on intervals that say nothing, where it shows any: below the first
    table, and in every chart."""
    note = t("interval.sign-note", factor=plain(WIDEST))
    is_first = True

    def change(part: Any) -> Any:
        nonlocal is_first
        match part:
            case Chart(rows=columns) if any(columns.get("says_nothing", ())):
                return replace(part, note=joined_sentences((part.note, note)))
            case Table(rows=rows, total=total) if is_first and any(
                cell.says_nothing for cell in chain(*rows, total or ())
            ):
                is_first = False
                return replace(part, note=joined_sentences((part.note, note)))
        return part

    return rebuilt(section, change)


def noted_once(section: Section) -> Section:
    """The section without the notes that a chart or a table before has already."""
    known: set[str] = set()

    def change(part: Any) -> Any:
        if not isinstance(part, Table | Chart) or not part.note:
            return part
        is_new = part.note not in known
        known.add(part.note)
        if is_new:
            return part
        if isinstance(part, Chart):
            return replace(part, note="", alternative=part.alternative or part.note)
        return replace(part, note="")

    return rebuilt(section, change)


def _parts(t: Texts, section: Section) -> tuple[Section, Section]:
    """The section without what it holds as ``Further``, and its part of the appendix, which has
    each heading above such blocks once."""
    body: list[Block] = []
    further: list[Block] = []
    above: list[Heading] = []
    below: list[Heading] = []
    for block in section.blocks:
        if isinstance(block, Heading):
            above = [*(head for head in above if head.level < block.level), block]
        if not isinstance(block, Further):
            body += unfolded((block,))
        elif inside := tuple(unfolded(block.blocks)):
            level = inside[0].level if isinstance(inside[0], Heading) else 9
            heads = [head for head in above if head.level < level]
            further += [replace(head, name="") for head in heads if head not in below]
            further += inside
            below = heads
    name, title = f"{section.name}-further", t("section.further", title=section.title)
    kept = _without_bare_headings(body) if further else tuple(body)
    return replace(section, blocks=kept), Section(name, title, tuple(further), True, True)


def unfolded(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks without any ``Further``, as the appendix and what a page folds have them."""
    for block in blocks:
        if isinstance(block, Further):
            yield from unfolded(block.blocks)
        elif isinstance(block, Details | Unprinted):
            yield replace(block, blocks=tuple(unfolded(block.blocks)))
        else:
            yield block


def _without_bare_headings(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Without those headings below which nothing is left."""
    kept: list[Block] = []
    for block in reversed(blocks):
        after = kept[-1] if kept else None
        ends = after is None or (
            isinstance(after, Heading) and isinstance(block, Heading) and after.level <= block.level
        )
        if not (isinstance(block, Heading) and ends):
            kept.append(block)
    return tuple(reversed(kept))


def printed(page: Page) -> Page:
    """The page as paper has it: without what is not printed, charts that were drawn before, and
    headings above such alone."""
    known: set[str] = set()
    sections = [
        replace(section, blocks=_without_bare_headings(tuple(_printable(section.blocks, known))))
        for section in page.sections
    ]
    return replace(page, sections=tuple(section for section in sections if section.blocks))


def _printable(blocks: Iterable[Block], known: set[str]) -> Iterator[Block]:
    """``known``: what was drawn before; charts are added to it."""
    for block in blocks:
        match block:
            case Details(blocks=inside):
                left = tuple(_printable(inside, known))
                yield from (replace(block, blocks=left),) if left else ()
            case Gallery(charts=charts):
                yield from gallery(chart for chart in charts if _is_new(chart, known))
            case Chart():
                yield from (block,) if _is_new(block, known) else ()
            case Statement(chart=Chart() as chart):
                _is_new(chart, known)
                yield block
            case Unprinted() | PlanPair():
                pass
            case _:
                yield block


def _is_new(chart: Chart, known: set[str]) -> bool:
    """Whether none draws the same of those that are known, to which it is added."""
    picture = repr((chart.spec, chart.rows))
    is_new = picture not in known
    known.add(picture)
    return is_new


def unprinted(page: Page) -> tuple[str, ...]:
    """List the names of all that paper leaves out, in the order of the page."""
    return tuple(dict.fromkeys(block.title for block in of_kind(page.blocks(), Unprinted)))


def numbered(page: Page) -> Page:
    """Figures and tables in the order of the page, those inside of others too."""
    counts: Counter[str] = Counter()
    body = sum(not section.appendix for section in page.sections)
    titles = {}
    for at, section in enumerate(page.sections):
        number = str(at + 1) if at < body else chr(ord("A") + at - body)
        key = "number.appendix" if section.appendix else "number.section"
        titles[section.name] = page.texts(key, number=number, title=section.title)

    def counted(kind: str, title: str) -> str:
        counts[kind] += 1
        return page.texts(f"number.{kind}-of", number=counts[kind], title=title)

    def change(part: Any) -> Any:
        match part:
            case Chart() | Drawing():
                return replace(part, title=counted("figure", part.title))
            case Table():
                return replace(part, caption=counted("table", part.caption))
            case Section():
                return replace(part, title=titles[part.name])
            case Contents():
                known = ((name, titles.get(name, title)) for name, title in part.sections)
                return replace(part, sections=tuple(known))
        return part

    return replace(page, sections=rebuilt(page.sections, change))
