"""A page as Markdown, with SVG charts and CSV data beside it, readable where code is hosted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from functools import singledispatchmethod
from typing import Any

from teiten.report import blocks
from teiten.report.blocks import Block, Page, Unfolded
from teiten.report.charts.base import Chart, Columns
from teiten.report.render.pictures import picture_path, pictures_of
from teiten.report.tables import Table, TableCell
from teiten.report.texts import Texts

TEXT = "report.md"
MOST_ROWS = 200
"""A longer table is left to the CSV, and the text says so."""
SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#])")


def markdown_files(page: Page, teiten_version: str) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content."""
    files = {TEXT: markdown_text(page, teiten_version).encode()}
    files |= {picture_path(name): svg.encode() for name, svg in pictures_of(page)}
    for downloads in blocks.of_kind(page.blocks(), blocks.Downloads):
        files |= {f"data/{file.name}": csv_bytes(file.columns) for file in downloads.files}
    return files


def markdown_text(page: Page, teiten_version: str) -> str:
    """The text itself, which refers to the charts and data beside it."""
    writer = Writer(page.texts)
    about = " · ".join((page.campaign, *page.meta))
    parts = [f"# {escape(page.title)}", escape(about)]
    for section in page.sections:
        parts += [f"## {escape(section.title)}", writer.all(section.blocks)]
    return paragraphs((*parts, "---", escape(page.made(teiten_version)))) + "\n"


class Writer:
    """Writes blocks in one language."""

    def __init__(self, t: Texts) -> None:
        self.t = t

    def all(self, shown: Iterable[Block]) -> str:
        """Blocks with an empty line between them. Lists that follow one another are one list, as
        Markdown has it."""
        text, listed = "", False
        for block in shown:
            part = self.one(block)
            if part:
                is_list = isinstance(block, blocks.Items | blocks.Pairs)
                text += ("\n" if listed and is_list else "\n\n" if text else "") + part
                listed = is_list
        return text

    @singledispatchmethod
    def one(self, _: object) -> str:
        """A block; empty for those that only a page shows: contents, plans to open."""
        return ""

    @one.register
    def _(self, block: blocks.Heading) -> str:
        return f"{'#' * block.level} {escape(block.text)}"

    @one.register
    def _(self, block: blocks.Text) -> str:
        return f"> **{escape(block.text)}**" if block.kind == "notice" else escape(block.text)

    @one.register
    def _(self, block: blocks.Items) -> str:
        return "\n".join(
            f"{f'{at}.' if block.kind == 'steps' else '-'} {escape(item)}"
            for at, item in enumerate(block.items, start=1)
        )

    @one.register
    def _(self, block: blocks.Pairs) -> str:
        return "\n".join(f"- **{escape(term)}**: {escape(text)}" for term, text in block.pairs)

    @one.register
    def _(self, block: blocks.Entries) -> str:
        return paragraphs(f"**{escape(title)}**: {escape(text)}" for title, text in block.entries)

    @one.register
    def _(self, block: blocks.Statement) -> str:
        heading = blocks.Heading(3, f"{block.workload}: {block.word}")
        chart = (block.chart,) if block.chart else ()
        return self.all((heading, blocks.Text(block.text), blocks.Items(block.points), *chart))

    @one.register
    def _(self, block: blocks.Cautions) -> str:
        return "\n".join(
            f"- **{escape(shown.word)}**: {escape(shown.what)} {escape(shown.advice)}".rstrip()
            for shown in block.cautions
        )

    @one.register
    def _(self, block: Table) -> str:
        """A table in GitHub's form; of one longer than MOST_ROWS the first rows."""
        head = " | ".join(escape(column.title) for column in block.columns)
        rule = " | ".join("--:" if column.numeric else "---" for column in block.columns)
        rows = [*block.rows[:MOST_ROWS], *([block.total] if block.total else [])]
        lines = [f"| {head} |", f"| {rule} |"]
        lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
        return paragraphs((f"**{escape(block.caption)}**", "\n".join(lines), escape(block.note)))

    @one.register(Chart)
    @one.register(blocks.Drawing)
    def _(self, block: Chart | blocks.Drawing) -> str:
        picture = f"![{escape(block.title)}]({picture_path(block.name)})"
        return paragraphs((f"**{escape(block.title)}**", picture, escape(block.note)))

    @one.register
    def _(self, block: blocks.Gallery) -> str:
        return self.all(block.charts)

    @one.register
    def _(self, block: blocks.Code) -> str:
        return code_block(block.text, block.language)

    @one.register
    def _(self, block: blocks.Details) -> str:
        match block.unfolded:
            case Unfolded.LEFT_OUT:
                return ""
            case Unfolded.UNTITLED:
                title = ""
            case Unfolded.STRONG:
                title = f"**{escape(block.title)}**"
            case Unfolded.TITLED:
                title = escape(block.title)
        return paragraphs((title, self.all(block.blocks)))

    @one.register
    def _(self, block: blocks.Unprinted) -> str:
        return self.all(block.blocks)

    @one.register
    def _(self, block: blocks.Beside) -> str:
        return paragraphs(map(self.all, block.parts))

    @one.register
    def _(self, block: blocks.Downloads) -> str:
        """The table first, then where all of it is."""
        rows = len(block.table.rows) if block.table else 0
        more = self.t("table.trials.more", shown=MOST_ROWS, count=rows) if rows > MOST_ROWS else ""
        links = (f"- [{escape(file.name)}](data/{escape(file.name)})" for file in block.files)
        listed = "\n".join((escape(self.t("page.data")), *links))
        return paragraphs((self.one(block.table) if block.table else "", escape(more), listed))


def paragraphs(parts: Iterable[str]) -> str:
    """Those that say anything, with an empty line between them."""
    return "\n\n".join(part for part in parts if part)


def escape(text: str) -> str:
    """A text as it is, in one paragraph: no character of it is Markdown or HTML."""
    return SPECIAL.sub(r"\\\1", text.replace("&", "&amp;")).replace("\n", "<br>")


def _cell(cell: TableCell) -> str:
    text = escape(cell.text)
    shown = f"**{text}**" if "verdict" in cell.kind and text else text
    return " ".join(filter(None, (shown, *(f"[{escape(of)}]({to})" for of, to in cell.links))))


def code_block(text: str, language: str) -> str:
    """A fenced block, with a fence longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def csv_bytes(columns: Columns) -> bytes:
    """Columns as CSV in UTF-8: unrounded, empty where there is no value."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(
        [_csv_value(value) for value in row] for row in zip(*columns.values(), strict=True)
    )
    return out.getvalue().encode()


def _csv_value(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula is marked as text, as in the page."""
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and re.match(r"[=+\-@\t\r]", value) else value
