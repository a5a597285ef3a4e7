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
from teiten.report.charts.drawing import svg
from teiten.report.tables import Table, TableCell
from teiten.report.texts import Texts

TEXT = "report.md"
MOST_ROWS = 200
"""A longer table is left to the CSV, and the text says so."""
SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#])")


def markdown_files(page: Page, teiten_version: str) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content."""
    files = {TEXT: markdown_text(page, teiten_version).encode()}
    for one in page.blocks():
        if isinstance(one, Chart):
            files[f"charts/{one.name}.svg"] = svg(one).encode()
        elif isinstance(one, blocks.Drawing):
            files[f"charts/{one.name}.svg"] = str(one.alone).encode()
        elif isinstance(one, blocks.Downloads):
            files |= {f"data/{file.name}": csv_bytes(file.columns) for file in one.files}
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
        for one in shown:
            part = self.one(one)
            if part:
                is_list = isinstance(one, blocks.Items | blocks.Pairs)
                text += ("\n" if listed and is_list else "\n\n" if text else "") + part
                listed = is_list
        return text

    @singledispatchmethod
    def one(self, _: object) -> str:
        """A block; empty for those that only a page shows: contents, plans to open."""
        return ""

    @one.register
    def _(self, one: blocks.Heading) -> str:
        return f"{'#' * one.level} {escape(one.text)}"

    @one.register
    def _(self, one: blocks.Text) -> str:
        return f"> **{escape(one.text)}**" if one.kind == "notice" else escape(one.text)

    @one.register
    def _(self, one: blocks.Items) -> str:
        return "\n".join(
            f"{f'{at}.' if one.kind == 'steps' else '-'} {escape(item)}"
            for at, item in enumerate(one.items, start=1)
        )

    @one.register
    def _(self, one: blocks.Pairs) -> str:
        return "\n".join(f"- **{escape(term)}**: {escape(text)}" for term, text in one.pairs)

    @one.register
    def _(self, one: blocks.Entries) -> str:
        return paragraphs(
            part
            for entry in one.entries
            for part in (f"**{escape(entry.title)}**: {escape(entry.text)}", self.all(entry.blocks))
        )

    @one.register
    def _(self, one: blocks.Statement) -> str:
        heading = blocks.Heading(3, f"{one.workload}: {one.word}")
        chart = (one.chart,) if one.chart else ()
        return self.all((heading, blocks.Text(one.text), blocks.Items(one.points), *chart))

    @one.register
    def _(self, one: blocks.Cautions) -> str:
        return "\n".join(
            f"- **{escape(each.word)}**: {escape(each.what)} {escape(each.advice)}".rstrip()
            for each in one.cautions
        )

    @one.register
    def _(self, one: Table) -> str:
        """A table in GitHub's form; of one longer than MOST_ROWS the first rows."""
        head = " | ".join(escape(column.title) for column in one.columns)
        rule = " | ".join("--:" if column.numeric else "---" for column in one.columns)
        rows = [*one.rows[:MOST_ROWS], *([one.total] if one.total else [])]
        lines = [f"| {head} |", f"| {rule} |"]
        lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
        return paragraphs((f"**{escape(one.caption)}**", "\n".join(lines), escape(one.note)))

    @one.register(Chart)
    @one.register(blocks.Drawing)
    def _(self, one: Chart | blocks.Drawing) -> str:
        title = f"**{escape(one.title)}**"
        return paragraphs((title, _picture(one.name, one.title), escape(one.note)))

    @one.register
    def _(self, one: blocks.Gallery) -> str:
        return self.all(one.charts)

    @one.register
    def _(self, one: blocks.Code) -> str:
        return code_block(one.text, one.language)

    @one.register
    def _(self, one: blocks.Details) -> str:
        match one.unfolded:
            case Unfolded.LEFT_OUT:
                return ""
            case Unfolded.UNTITLED:
                title = ""
            case Unfolded.STRONG:
                title = f"**{escape(one.title)}**"
            case Unfolded.TITLED:
                title = escape(one.title)
        return paragraphs((title, self.all(one.blocks)))

    @one.register
    def _(self, one: blocks.Unprinted) -> str:
        return self.all(one.blocks)

    @one.register
    def _(self, one: blocks.Beside) -> str:
        return paragraphs(map(self.all, one.parts))

    @one.register
    def _(self, one: blocks.Downloads) -> str:
        """The table first, then where all of it is."""
        rows = len(one.table.rows) if one.table else 0
        more = self.t("table.trials.more", shown=MOST_ROWS, count=rows) if rows > MOST_ROWS else ""
        links = (f"- [{escape(file.name)}](data/{escape(file.name)})" for file in one.files)
        listed = "\n".join((escape(self.t("page.data")), *links))
        return paragraphs((self.one(one.table) if one.table else "", escape(more), listed))


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


def _picture(name: str, title: str) -> str:
    return f"![{escape(title)}](charts/{name}.svg)"


def code_block(text: str, language: str = "") -> str:
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
