"""A report as its reader sees it: parts in the order of the page, from Markdown or from HTML."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>|~#])")
SPLIT = re.compile(r"(?<!\\)\|")
PAIR = re.compile(r"- \*\*(?P<term>(?:[^*\\]|\\.)+)\*\*: (?P<text>.*)")
ENTRY = re.compile(r"\*\*(?P<term>(?:[^*\\]|\\.)+)\*\*: (?P<text>.*)")
BRACKETS = str.maketrans("（）；", "();")
"""Japanese texts have the wide ones; the patterns and the names of a study are read alike."""
STRONG = re.compile(r"\*\*((?:[^*\\]|\\.)+)\*\*")


@dataclass(frozen=True)
class Part:
    """Something that is said, and where."""

    kind: str
    """title, meta, heading, text, item, pair, caption, row, code."""
    text: str
    """Of a pair ``term: text``; of a row its cells with `` | `` between them."""
    section: int
    """From 1; 0 before the first."""
    part: str = ""
    """The heading of level 3 above it."""
    topic: str = ""
    """The heading of level 4 above it."""
    table: Table | None = None
    """Of a row: its table."""


@dataclass(eq=False)
class Table:
    caption: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    section: int = 0
    part: str = ""
    topic: str = ""
    above: str = ""
    """The last caption or summary that is not of a table: what the tables below it are about."""

    def column(self, *names: str) -> int | None:
        return next((at for at, one in enumerate(self.columns) if one in names), None)


@dataclass
class Document:
    parts: list[Part] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def plain(text: str) -> str:
    """As people read it: spaces are spaces, brackets of both widths are brackets."""
    return text.replace("\u00a0", " ").translate(BRACKETS).strip()


class _Builder:
    def __init__(self) -> None:
        self.document = Document()
        self.section, self.part, self.topic, self.above = 0, "", "", ""

    def say(self, kind: str, text: str, table: Table | None = None, level: int = 0) -> None:
        said = plain(text)
        if not said and table is None:
            return
        if kind == "heading":
            self._head(level, said)
        self.document.parts.append(Part(kind, said, self.section, self.part, self.topic, table))

    def _head(self, level: int, text: str) -> None:
        if level == 2:
            self.section, self.part, self.topic, self.above = self.section + 1, "", "", ""
        elif level == 3:
            self.part, self.topic, self.above = text, "", ""
        elif level == 4:
            self.topic, self.above = text, ""

    def tabulate(self, caption: str, columns: list[str], rows: list[list[str]]) -> None:
        table = Table(
            plain(caption),
            tuple(map(plain, columns)),
            [tuple(map(plain, row)) for row in rows],
            self.section,
            self.part,
            self.topic,
            self.above,
        )
        self.document.tables.append(table)
        for row in table.rows:
            self.say("row", " | ".join(row), table)


# --- Markdown --------------------------------------------------------------------------------


def read_markdown(text: str) -> Document:
    builder = _Builder()
    lines = text.split("\n")
    at, caption = 0, ""
    while at < len(lines):
        line = lines[at]
        fence = re.match(r"(`{3,})(\w*)$", line)
        if fence:
            end = lines.index(fence[1], at + 1)
            builder.say("code", "\n".join(lines[at + 1 : end]))
            at = end + 1
            continue
        if line.startswith("| "):
            end = at
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            head, _, *rows = (_cells(line) for line in lines[at:end])
            builder.tabulate(caption, head, rows)
            at = end
            continue
        said = _line(builder, line)
        caption = said or (caption if not line else "")
        at += 1
    return builder.document


def _line(builder: _Builder, line: str) -> str:
    """Reads one line; the caption that it is, if it is one."""
    if not line or line == "---" or line.startswith(("![", "- [")):
        return ""
    if heading := re.match(r"(#{1,4}) (.*)", line):
        level = len(heading[1])
        kind = "title" if level == 1 else "heading"
        builder.say(kind, _unescaped(heading[2]), level=level)
    elif line.startswith("> **"):
        builder.say("text", _unescaped(line[4:-2]))
    elif pair := PAIR.fullmatch(line):
        builder.say("pair", f"{_unescaped(pair['term'])}: {_unescaped(pair['text'])}")
    elif item := re.match(r"(?:-|\d+\.) (.*)", line):
        builder.say("item", _unescaped(item[1]))
    elif entry := ENTRY.fullmatch(line):
        builder.say("pair", f"{_unescaped(entry['term'])}: {_unescaped(entry['text'])}")
    elif strong := STRONG.fullmatch(line):
        caption = _unescaped(strong[1])
        builder.say("caption", caption)
        builder.above = plain(caption) or builder.above
        return caption
    else:
        kind = "text" if builder.section else "meta"
        builder.say(kind, _unescaped(line))
    return ""


def _cells(line: str) -> list[str]:
    found = (one.strip() for one in SPLIT.split(line)[1:-1])
    return [_unescaped(re.sub(r"^\*\*(.*)\*\*$", r"\1", one)) for one in found]


def _unescaped(text: str) -> str:
    return html.unescape(ESCAPED.sub(r"\1", text.replace("<br>", "\n")))


# --- HTML ------------------------------------------------------------------------------------

SILENT = {"style", "script", "svg", "button", "nav", "noscript", "title", "output", "head"}
KINDS = {
    "p": "text",
    "li": "item",
    "dd": "text",
    "caption": "caption",
    "figcaption": "caption",
    "summary": "caption",
    "h1": "heading",
    "h2": "heading",
    "h3": "heading",
    "h4": "heading",
    "pre": "code",
}


class _Page(HTMLParser):
    """Texts by the elements that hold them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = _Builder()
        self.silent: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.term = ""
        self.caption = ""
        self.head: list[str] = []
        self.rows: list[list[str]] = []
        self.kind = ""
        self.in_head = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in SILENT and not (tag == "button" and self.in_head):
            self.silent.append(tag)
        if self.silent:
            return
        known = dict(attributes)
        if tag == "section":
            self._flush("text")
            if known.get("aria-label"):  # headed by its label alone
                self.builder.say("heading", known["aria-label"] or "", level=2)
        if tag == "br":
            self.words.append("\n")
        if tag == "span" and {"what", "verdict"} & set((known.get("class") or "").split()):
            self.words.append("\x00")
        self._begin_in_table(tag)
        if tag in KINDS or tag in {"td", "th", "dt", "figure", "details", "table"}:
            self._flush("pair" if self.term else "text")
            self.kind = known.get("class") or ""
            self.open.append(tag)

    def _begin_in_table(self, tag: str) -> None:
        if tag == "th":
            self.in_head = True
        elif tag == "table":
            self.caption, self.head, self.rows = "", [], []
        elif tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag: str) -> None:
        if self.silent:
            if tag == self.silent[-1]:
                self.silent.pop()
            return
        if tag == "td":
            self.rows[-1].append(self._taken())
        elif tag == "th":
            self.in_head = False
            self.head.append(self._taken().replace("\u00ad", "").replace("\u200b", ""))
        elif tag == "dt":
            self.term = self._taken()
        elif tag == "caption":
            self.caption = self._taken()
            self.builder.say("caption", self.caption)
        elif tag == "table":
            self.builder.tabulate(self.caption, self.head, [row for row in self.rows if row])
        elif tag in {"h1", "h2", "h3", "h4"}:
            self.builder.say("heading", self._taken(), level=int(tag[1]))
        elif tag in KINDS:
            self._flush("pair" if self.term and tag == "dd" else KINDS[tag])

    def handle_data(self, data: str) -> None:
        if not self.silent and (data.strip() or self.words):
            self.words.append(data)

    def _taken(self) -> str:
        text = "".join(self.words).strip()
        self.words = []
        return text

    def _flush(self, kind: str) -> None:
        """What was said so far ends here."""
        text = self._taken()
        if not text:
            return
        if kind == "code":
            self.builder.say(kind, text)
            return
        text = " ".join(text.split(" ")).strip()
        if "\x00" in text:  # a workload and its verdict, or a severity and its caution
            before, after = text.split("\x00", 1)
            text = f"{before.strip()}: {after.strip()}"
            if self.kind == "over":
                self.builder.say("heading", text, level=3)
                return
            kind = "pair"
        elif kind == "pair" and self.term:
            text, self.term = f"{self.term}: {text}", ""
        if kind == "caption":
            self.builder.above = plain(text)
        self.builder.say(kind, text)


def read_html(text: str) -> Document:
    page = _Page()
    page.feed(text)
    page.close()
    return page.builder.document
