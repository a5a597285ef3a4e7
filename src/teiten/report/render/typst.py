"""A page as a document of Typst: what is compiled to PDF, with the pictures beside it.

Typst's markup is never written with a campaign's texts in it: every text is a string of Typst's
code, in which nothing is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatchmethod
from importlib import resources
from itertools import zip_longest
from textwrap import wrap

from teiten.model.text import joined_sentences
from teiten.report import blocks
from teiten.report.blocks import Block, Page, Section
from teiten.report.charts.base import Chart
from teiten.report.parts import printed, unprinted
from teiten.report.render.markdown import MOST_ROWS
from teiten.report.render.pictures import picture_path, pictures_of
from teiten.report.tables import Row, Table, TableCell
from teiten.report.texts import Texts

TEXT = "report.typ"
UNBROKEN = re.compile(
    r"(?:\u2060\S|[^\s\u200b\u2060\u3000-\u30ff\u3400-\u9fff\uff00-\uffef-])+-?|\S(?:\u2060\S)*"
)
"""Words; Japanese is broken between any two characters that are not joined."""
SENTENCE = re.compile(r"(?<=。)|(?<=[.])\s+(?=\S)")
LONG = 40
"""Half-width characters in a line of a long text."""
MOST_WANTED = 160
"""Half-width characters from which on a text wants no more of the line."""
WHOLE = 9
"""Lines of rows up to which a table stands on one page."""
TALL = 12
"""Lines from which on a row may go on on the next page."""
SIZES = ((4, 7.5), (9, 7.0), (13, 6.5), (99, 5.5))
"""Up to so many columns: points of their text."""
SMALLEST = 5.0
"""Points of the smallest text of a table."""
LINE = 482.0
"""Points of a line."""
OF_PIXEL = 0.52
"""Points of a pixel of a chart, whose letters are then as large as a caption's."""
TALLEST = 300.0
"""Points of the height of a picture, of which two share a page."""
PAGE = 600.0
"""Points of the height of a picture that has a page, for its letters to be readable."""
TALLEST_DRAWING = 230.0
"""Points of the height of Teiten's own drawings, whose size is told by their ``viewBox``: their
letters are large enough to be smaller, so that they share a page with the chart before them."""
SMALL = 320.0
"""Points up to which two charts share a line."""
HALVED = 8
"""Rows from which on a table of names and values stands in two halves beside one another."""
SMALL_PRINT = 6.5
"""Points of tables in the appendix, at most."""
PADDING = 8.0
"""Points of the space around a cell."""
WIDER = 1.06
"""Figures and strong letters are a little wider than half of their height."""
LEAST = 16
"""Half-width characters that a column of a longer text has: Japanese breaks at any letter."""
FLOATING = (Chart, blocks.Drawing, blocks.Gallery)
"""Pictures stand at the end of a page, and the text goes on, so that no page ends early for one."""
JOINED = "\N{WORD JOINER}"
"""Between what is not broken, where widths are measured; in a document it would spoil a search."""
BREAK = "\N{ZERO WIDTH SPACE}"
PLACE_TO_BREAK = re.compile(r"(?<=[/_.])(?=[^\s\d/_.]{3})")
JAPANESE_TO_LATIN = re.compile(
    r"(?<=[ぁ-ヿ一-鿿])(?=[0-9A-Za-z%])|(?<=[0-9A-Za-z%])(?=[ぁ-ヿ一-鿿])"
)
MAY_BREAK = re.compile(r"(?<=[/_.,:=])(?=[^\s/_.,:=]{3})")
LONG_WORD = re.compile(r"[!-~]{24,}")
"""A path or a parameter that would leave a line half empty, or pull its words apart."""
COMPOUND = "インデックス|オンリー|スキャン"
"""Words of which longer ones are made, between which these may be broken."""
WHOLE_WORD = re.compile(
    r"([-+−<>0-9.,/%×]*〜[-+−<>0-9.,/%×]*※?"
    rf"|[0-9]{{0,3}}(?:{COMPOUND}|[ァ-ヶー]{{2,9}}?(?={COMPOUND})|[ァ-ヶー]{{2,9}}))"
)
"""Intervals, and words in katakana."""


def typst_files(page: Page, teiten_version: str) -> dict[str, bytes]:
    """``report.typ`` and the pictures that it refers to: relative path to content."""
    drawn = dict(pictures_of(printed(page)))
    text = typst_text(page, teiten_version, {name: _width(svg) for name, svg in drawn.items()})
    return {TEXT: text.encode()} | {picture_path(name): svg.encode() for name, svg in drawn.items()}


def _width(drawn: str) -> float:
    """Points that a picture takes by its width in pixels; less where it is as high as a page."""
    wide, high = (
        re.search(rf'<svg[^>]*?\s{side}="([\d.]+)"', drawn) for side in ("width", "height")
    )
    if wide is None:
        return LINE
    width = min(LINE, float(wide[1]) * OF_PIXEL)
    if high is not None:
        natural = width * float(high[1]) / float(wide[1])
        most = TALLEST if natural < 1.5 * TALLEST else PAGE
        return min(width, width * most / natural)
    box = re.search(r'<svg[^>]*?\sviewBox="0 0 ([\d.]+) ([\d.]+)"', drawn)
    return width if box is None else min(width, TALLEST_DRAWING * float(box[1]) / float(box[2]))


def typst_text(page: Page, teiten_version: str, widths: Mapping[str, float]) -> str:
    """The document's source. ``widths``: of its pictures, in points."""
    t = page.texts
    front = "".join(f"({string(term)}, {string(text)}), " for term, text in page.front)
    meta = "".join(f"{string(line)}, " for line in page.meta)
    left_out = t("list.strong").join(unprinted(page))
    sentence = t("paper.unprinted", titles=left_out) if left_out else ""
    cover = "".join(f"({string(term)}, {content(line)}), " for term, line in page.cover)
    begin = (
        f"#show: report.with(title: {string(page.title)}, named: {content(page.title)},"
        f" campaign: {string(page.campaign)},"
        f" meta: ({meta}), front: ({front}), cover: ({cover}),"
        f" made: {string(page.made(teiten_version))},"
        f" language: {string(t.language)}, contents: {string(t('heading.contents'))},"
        f" words: (figure: {string(t('number.figure'))}, table: {string(t('number.table'))},"
        f" lists: {string(t('heading.lists'))}), unprinted: {string(sentence)})"
    )
    look = resources.files("teiten.report") / "templates" / "report.typ"
    parts = [look.read_text(encoding="utf-8"), begin]
    writer, small = TypstWriter(t, widths), TypstWriter(t, widths, SMALL_PRINT)
    for section in printed(page).sections:
        if section.appendix and writer is not small:
            writer = small
            parts.append(f"#show: appendix.with(word: {string(t('number.appendix-word'))})")
        parts += ["#pagebreak(weak: true)" if section.apart else "", writer.section(section)]
    return "\n\n".join(part for part in parts if part) + "\n"


class TypstWriter:
    """Writes blocks in one language. Points: ``widths`` of pictures, ``largest`` text of tables."""

    def __init__(self, t: Texts, widths: Mapping[str, float], largest: float = SIZES[0][1]) -> None:
        self.t = t
        self.widths = widths
        self.largest = largest
        self.noted: set[str] = set()

    def section(self, section: Section) -> str:
        """A section, in which each note stands once."""
        self.noted.clear()
        head = f"#heading(level: 1, {string(section.title)})"
        return f"{head}\n\n{self.all(section.blocks)}"

    def _note(self, text: str) -> str:
        """A note without the sentences that the section has already; empty without others."""
        new = [
            sentence for sentence in SENTENCE.split(text) if sentence and sentence not in self.noted
        ]
        self.noted.update(new)
        return f"note({content(joined_sentences(new))})" if new else ""

    def all(self, shown: Iterable[Block]) -> str:
        """Blocks after one another. Pictures right below a heading follow what stands beside them
        there, so that none is on a page before its heading; one that stands there alone is referred
        to."""
        parts: list[str] = []
        waiting: list[Block] = []
        is_headed = False
        for block in shown:
            if isinstance(block, FLOATING) and is_headed:
                waiting.append(block)
                continue
            is_headed = isinstance(block, blocks.Heading)
            if is_headed:
                parts += map(self._alone, waiting)
                waiting.clear()
            parts.append(self.one(block))
            if not is_headed:
                parts += map(self.one, waiting)
                waiting.clear()
        parts += map(self._alone, waiting)
        return "\n\n".join(filter(None, parts))

    def _alone(self, drawn: Block) -> str:
        if not isinstance(drawn, Chart | blocks.Drawing):
            return self.one(drawn)
        text = content(drawn.note or drawn.title)
        return f"#referred({text}, {string(drawn.name)})\n\n{self.one(replace(drawn, note=''))}"

    @singledispatchmethod
    def one(self, _: object) -> str:
        """A block; empty for those that only a page on a screen shows."""
        return ""

    @one.register
    def _(self, block: blocks.Heading) -> str:
        return f"#heading(level: {block.level - 1}, {string(block.text)})"

    @one.register
    def _(self, block: blocks.Text) -> str:
        if block.kind == "note":
            note = self._note(block.text)
            return f"#{note}" if note else ""
        if not block.text:
            return ""
        return f"#{block.kind or 'par'}({content(block.text)})"

    @one.register
    def _(self, block: blocks.Items) -> str:
        kind = "enum" if block.kind == "steps" else "list"
        return f"#{kind}({_listed(content(item) for item in block.items)})" if block.items else ""

    @one.register
    def _(self, block: blocks.Pairs) -> str:
        pairs = (f"({content(term)}, {content(text)})" for term, text in block.pairs)
        whole = _truth(block.kind == "remarks")
        return f"#facts(whole: {whole}, {_listed(pairs)})" if block.pairs else ""

    @one.register
    def _(self, block: blocks.Entries) -> str:
        return "\n\n".join(
            f"#par[#strong({content(title)}) #h(0.6em) #{content(text)}]"
            for title, text in block.entries
        )

    @one.register
    def _(self, block: blocks.Statement) -> str:
        inside: list[Block] = [blocks.Text(block.text), blocks.Items(block.points)]
        chart = self._with_note(self._picture(block.chart), block.chart) if block.chart else ""
        return (
            f"#statement(kind: {string(block.kind)}, workload: {string(block.workload)},"
            f" word: {string(block.word)})[\n{self.all(inside)}\n\n{chart}\n]"
        )

    @one.register
    def _(self, block: blocks.Cautions) -> str:
        return "\n\n".join(
            f"#caution(serious: {_truth(shown.severity == 'warning')}, word: {string(shown.word)})"
            f"[#{content(shown.what)} #text(fill: quiet, {content(shown.advice)})]"
            for shown in block.cautions
        )

    @one.register
    def _(self, block: Table) -> str:
        block = halved(block)
        rows = block.rows[:MOST_ROWS]
        size = _size(block, self.largest)
        heights = list(map(_lines, rows))
        head = _listed(content(_breakable(column.title)) for column in block.columns)
        cells = "\n".join(_listed(map(_cell, row)) for row in rows)
        total = _listed(map(_cell, block.total)) if block.total else ""
        note = self._note(block.note) or "none"
        align = _listed("right" if column.numeric else "left" for column in block.columns)
        return (
            f"#rows(caption: {content(block.caption)}, columns: ({_widths(block, size)}),"
            f" align: ({align}), size: {size}pt, breaks: {_truth(sum(heights) > WHOLE)},"
            f" whole: {_truth(max(heights, default=1) < TALL)},"
            f" head: ({head}), total: ({total}), note: {note},\n{cells})"
        )

    @one.register(Chart)
    @one.register(blocks.Drawing)
    def _(self, block: Chart | blocks.Drawing) -> str:
        return f"#floating[\n{self._with_note(self._picture(block), block)}\n]"

    @one.register
    def _(self, block: blocks.Gallery) -> str:
        """Small charts stand beside one another, by twos."""
        shown: list[str] = []
        waiting: Chart | None = None
        for chart in block.charts:
            small = self.widths.get(chart.name, LINE) <= SMALL
            if waiting is not None and small:
                shown.append(self._two(waiting, chart))
                waiting = None
                continue
            shown += [self.one(waiting)] if waiting is not None else []
            waiting = chart if small else None
            shown += [] if small else [self.one(chart)]
        shown += [self.one(waiting)] if waiting is not None else []
        return "\n\n".join(shown)

    def _two(self, *charts: Chart) -> str:
        cells = ", ".join(f"[{self._picture(chart, beside=True)}]" for chart in charts)
        beside = f"#grid(columns: (1fr, 1fr), gutter: 14pt, align: bottom, {cells})"
        return f"#floating[\n{self._with_note(beside, *charts)}\n]"

    @one.register
    def _(self, block: blocks.Code) -> str:
        return f"#raw({string(block.text.rstrip())}, block: true, lang: {string(block.language)})"

    @one.register
    def _(self, block: blocks.Details) -> str:
        inside = self.all(block.blocks)
        if not inside or block.unfolded is blocks.Unfolded.LEFT_OUT:
            return ""
        if block.unfolded is blocks.Unfolded.UNTITLED:
            return inside
        return f"#block(sticky: true, strong({content(block.title)}))\n\n{inside}"

    @one.register
    def _(self, block: blocks.Beside) -> str:
        return "\n\n".join(filter(None, map(self.all, block.parts)))

    def _picture(self, drawn: Chart | blocks.Drawing, *, beside: bool = False) -> str:
        width = "100%" if beside else f"{self.widths.get(drawn.name, LINE):.0f}pt"
        path = string(picture_path(drawn.name))
        return f"#drawn({string(drawn.title)}, width: {width}, name: {string(drawn.name)}, {path})"

    def _with_note(self, picture: str, *drawn: Chart | blocks.Drawing) -> str:
        """A picture and what is said below it, on one page."""
        notes = [note for note in (self._note(part.note) for part in drawn) if note]
        below = "".join(f"\n\n#{note}" for note in notes)
        return f"#block(width: 100%, breakable: false)[\n{picture}{below}\n]" if below else picture


def string(text: str) -> str:
    """A string of Typst's code."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "  ")
    return '"' + re.sub(r"[\x00-\x09\x0b-\x1f]", "", escaped).replace("\n", "\\n") + '"'


def content(text: str) -> str:
    """Write a text as Typst content; intervals and words in katakana are not broken."""
    return "[" + " \\ ".join(map(_line, text.split("\n"))) + "]"


def _line(text: str) -> str:
    written = []
    for at, piece in enumerate(WHOLE_WORD.split(text)):
        if at % 2:
            written.append(f"#box({string(piece)})")
        elif piece:
            broken = LONG_WORD.sub(lambda word: MAY_BREAK.sub(BREAK, word[0]), piece)
            written.append(f"#{string(broken)}")
    return "".join(written) or '#""'


def _cell(cell: TableCell) -> str:
    kinds = cell.kind.split()
    if "code" in kinds:
        return f"raw({string(_breakable(cell.text))})" if cell.text else "[]"
    shown = content(_breakable(cell.text))
    if "heat" in kinds:
        return f"heat({string(kinds[-1])}, {shown})"
    return f"strong({shown})" if "verdict" in kinds and cell.text else shown


def _breakable(text: str) -> str:
    """Where long paths and names may be broken."""
    text = PLACE_TO_BREAK.sub(BREAK, text)
    return re.sub(r"[0-9a-f]{32,}", lambda digits: BREAK.join(wrap(digits[0], 16)), text)


def halved(table: Table) -> Table:
    """A long table of names and values in two halves beside one another; any other as it is."""
    if len(table.columns) > 2 or len(table.rows) < HALVED or table.total:
        return table
    half = (len(table.rows) + 1) // 2
    nothing = (TableCell(""),) * len(table.columns)
    pairs = zip_longest(table.rows[:half], table.rows[half:], fillvalue=nothing)
    rows = tuple((*left, *right) for left, right in pairs)
    return replace(table, columns=table.columns * 2, rows=rows)


def _size(table: Table, largest: float) -> float:
    """Points of a table's text: a little smaller where its cells then have their line each, and as
    small as it needs for no word to reach into the next column."""
    usual = min(largest, next(points for most, points in SIZES if len(table.columns) <= most))
    smaller = usual - 0.5
    places = range(len(table.columns))
    words = [_longest_word(table, at) for at in places]
    cells = [_needed(table, at) for at in places]
    fits = [sum(_spaced(cells, size)) <= LINE / (size / 2) for size in (usual, smaller)]
    size = smaller if fits == [False, True] else usual
    while size > SMALLEST and sum(_spaced(words, size)) > LINE / (size / 2):
        size -= 0.5
    return size


def _spaced(widths: Iterable[int], size: float) -> list[float]:
    """Half-width characters of columns in a text of this size, with the space around them."""
    return [width * WIDER + PADDING / (size / 2) for width in widths]


def _widths(table: Table, size: float) -> str:
    """Where the columns have room enough, each as wide as it needs. Else those that need no more
    than an equal share have what they need, and the others what is left, each with its words whole;
    titles and the row of the total are broken first."""
    line, places = LINE / (size / 2), range(len(table.columns))
    words = [_longest_word(table, at) for at in places]
    needs = [_needed(table, at) for at in places]
    titles = [_half_widths(column.title) for column in table.columns]
    widest = (max(needs[at], titles[at], _needed_of_total(table, at)) for at in places)
    whole = _spaced(widest, size)
    if sum(whole) <= line:
        return _listed("auto" for _ in whole)
    least = _spaced((max(words[at], min(needs[at], LEAST)) for at in places), size)
    if sum(least) > line:
        least = _spaced(words, size)
    usual = _spaced((min(need, MOST_WANTED) for need in needs), size)
    least, usual = (usual, whole) if sum(usual) < line else (_satisfied(least, usual, line), usual)
    wanted = [max(width - floor, 0.0) for width, floor in zip(usual, least, strict=True)]
    share = max(line - sum(least), 0.0) / (sum(wanted) or 1.0)
    return _listed(
        f"{floor + want * share:.1f}fr" for floor, want in zip(least, wanted, strict=True)
    )


def _satisfied(least: Sequence[float], usual: Sequence[float], line: float) -> list[float]:
    """The least widths of columns, but all that it needs for each that needs no more than an equal
    share of the line; as they were where the words of the others would be broken then."""
    widths, rest = list(least), set(range(len(usual)))
    while rest:
        share = (line - sum(usual[at] for at in range(len(usual)) if at not in rest)) / len(rest)
        satisfied = {at for at in rest if usual[at] <= share}
        if not satisfied:
            break
        rest -= satisfied
        widths = [usual[at] if at not in rest else least[at] for at in range(len(usual))]
    return widths if sum(widths) <= line else list(least)


def _longest_word(table: Table, at: int) -> int:
    """Half-width characters of what is not broken in a column, its title included."""
    shown = (*table.rows[:MOST_ROWS], *((table.total,) if table.total else ()))
    texts = (table.columns[at].title, *(row[at].text for row in shown))
    joined = (WHOLE_WORD.sub(lambda word: JOINED.join(word[0]), _breakable(x)) for x in texts)
    words = (word for text in joined for word in UNBROKEN.findall(text))
    return max(map(_half_widths, words), default=1)


def _needed_of_total(table: Table, at: int) -> int:
    return _half_widths(table.total[at].text) if table.total else 0


def _needed(table: Table, at: int) -> int:
    """Half-width characters of the widest cell of a column; its title and the total may be broken
    once, but for the total's name in the first column."""
    cells = [line for row in table.rows[:MOST_ROWS] for line in row[at].text.split("\n")]
    title = table.columns[at].title
    of_title = _half_widths(title)
    of_title = -(-of_title // 2) if of_title > 8 else of_title
    of_total = _needed_of_total(table, at) // (2 if at else 1)
    return max([*map(_half_widths, cells), of_title, of_total, _longest_word(table, at)])


def _lines(row: Row) -> int:
    """About how many a row has: those of its cells, where long ones are broken."""
    lines = (map(_half_widths, cell.text.split("\n")) for cell in row)
    return max(
        (sum(max(1, -(-width // LONG)) for width in of_cell) for of_cell in lines), default=1
    )


def _half_widths(text: str) -> int:
    """Count characters; Japanese ones, and the sign of an interval, are two wide, and Typst sets a
    quarter of their height between them and Latin ones."""
    wide = (ord(letter) > 0x2FFF or letter == "※" for letter in text if letter != JOINED)
    return sum(2 if is_wide else 1 for is_wide in wide) + len(JAPANESE_TO_LATIN.findall(text)) // 2


def _listed(parts: Iterable[str]) -> str:
    return "".join(f"{part}, " for part in parts)


def _truth(value: bool) -> str:
    return "true" if value else "false"
