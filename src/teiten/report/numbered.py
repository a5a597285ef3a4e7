"""A page whose sections, figures and tables have numbers, for forms that cannot count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import singledispatchmethod
from typing import Any

from teiten.report import blocks
from teiten.report.blocks import Block, Page, Section
from teiten.report.charts.base import Chart
from teiten.report.tables import Table
from teiten.report.texts import Texts


def numbered(page: Page) -> Page:
    """Figures and tables in the order of the page, those inside of others too."""
    counting = Counting(page.texts)
    body = sum(not one.appendix for one in page.sections)
    sections = tuple(
        _numbered_section(counting, str(at + 1) if at < body else _letter(at - body), one)
        for at, one in enumerate(page.sections)
    )
    titles = {section.name: section.title for section in sections}
    return replace(page, sections=tuple(_with_titles(section, titles) for section in sections))


def _letter(at: int) -> str:
    """``A`` of the first part of the appendix."""
    return chr(ord("A") + at)


def _numbered_section(counting: Counting, number: str, one: Section) -> Section:
    key = "number.appendix" if one.appendix else "number.section"
    title = counting.t(key, number=number, title=one.title)
    return replace(one, title=title, blocks=counting.all(one.blocks))


def _with_titles(section: Section, titles: dict[str, str]) -> Section:
    """The way to the sections, by their numbered titles."""
    shown = tuple(
        replace(
            block, sections=tuple((name, titles.get(name, said)) for name, said in block.sections)
        )
        if isinstance(block, blocks.Contents)
        else block
        for block in section.blocks
    )
    return replace(section, blocks=shown)


@dataclass
class Counting:
    """How many figures and tables there were."""

    t: Texts
    counts: Counter[str] = field(default_factory=Counter)

    def all(self, shown: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(map(self.one, shown))

    @singledispatchmethod
    def one(self, block: Any) -> Any:
        """A block without a number, and with none inside."""
        return block

    @one.register(Chart)
    @one.register(blocks.Drawing)
    def _(self, block: Chart | blocks.Drawing) -> Block:
        return replace(block, title=self._next("figure", block.title))

    @one.register
    def _(self, block: Table) -> Block:
        return replace(block, caption=self._next("table", block.caption))

    @one.register
    def _(self, block: blocks.Statement) -> Block:
        return replace(block, chart=self.one(block.chart)) if block.chart else block

    @one.register
    def _(self, block: blocks.Gallery) -> Block:
        return replace(block, charts=tuple(map(self.one, block.charts)))

    @one.register(blocks.Details)
    @one.register(blocks.Unprinted)
    def _(self, block: blocks.Details | blocks.Unprinted) -> Block:
        return replace(block, blocks=self.all(block.blocks))

    @one.register
    def _(self, block: blocks.Entries) -> Block:
        entries = (replace(entry, blocks=self.all(entry.blocks)) for entry in block.entries)
        return replace(block, entries=tuple(entries))

    @one.register
    def _(self, block: blocks.Beside) -> Block:
        return replace(block, parts=tuple(map(self.all, block.parts)))

    @one.register
    def _(self, block: blocks.Downloads) -> Block:
        return replace(block, table=self.one(block.table)) if block.table else block

    def _next(self, kind: str, title: str) -> str:
        self.counts[kind] += 1
        return self.t(f"number.{kind}-of", number=self.counts[kind], title=title)
