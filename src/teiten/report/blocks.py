"""A page as a sequence of blocks, from which each form of a report is made (REPORT.md).

Texts are as people read them: nothing here is escaped, and nothing is HTML or Markdown. A form
that has no place for a block, as Markdown for what opens at a click, says so in its renderer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, Literal, TypeVar

from markupsafe import Markup

from teiten.report.charts.base import Chart, Columns, picture_name
from teiten.report.plans.viewer import PlanPair, ViewedPlan
from teiten.report.tables import Table
from teiten.report.texts import Texts


@dataclass(frozen=True)
class Heading:
    """``level``: 3 or 4; a section has that of level 2."""

    level: int
    text: str
    part: bool = False
    """Begins a workload's part of a section."""
    name: str = ""
    """Its id, where other pages lead to it."""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: Literal["", "note", "notice", "question"] = ""
    """A notice is said before everything else; a question opens a part."""


@dataclass(frozen=True)
class Items:
    """Sentences in a list; steps are numbered."""

    items: tuple[str, ...]
    kind: Literal["", "findings", "steps"] = ""


@dataclass(frozen=True)
class Pairs:
    """Terms and what is said of each: the remarks below the answer, or facts."""

    pairs: tuple[tuple[str, str], ...]
    kind: Literal["remarks", "facts"]


@dataclass(frozen=True)
class Entries:
    """Things that are described: title and text."""

    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Statement:
    """The answer to one contrast: a sentence in large type, with its chart beside it."""

    workload: str
    kind: str
    """The verdict's kind, by which it is coloured."""
    word: str
    text: str
    chart: Chart | None
    points: tuple[str, ...] = ()
    """Said below the sentence."""


@dataclass(frozen=True)
class ShownCaution:
    severity: str
    word: str
    """The severity for people."""
    what: str
    advice: str


@dataclass(frozen=True)
class Cautions:
    cautions: tuple[ShownCaution, ...]


@dataclass(frozen=True)
class Gallery:
    """Charts beside one another, where there is room."""

    charts: tuple[Chart, ...]


def gallery(charts: Iterable[Chart | None]) -> tuple[Gallery, ...]:
    """Those charts that there are, beside one another; nothing of none."""
    drawn = tuple(chart for chart in charts if chart is not None)
    return (Gallery(drawn),) if drawn else ()


@dataclass(frozen=True)
class Box:
    """A heading with lines below it, in a drawing."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Drawing:
    """A picture that Teiten drew itself."""

    name: str
    """As ``picture_name`` leaves it."""
    title: str
    note: str
    svg: Markup
    """For a page, whose colours it follows."""
    alone: Markup
    """For a file."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", picture_name(self.name))


@dataclass(frozen=True)
class FlameGraph(Drawing):
    """A flame graph, in which a page zooms and searches."""

    folded: bool
    """The reader opens it; the difference stands open."""
    legend: tuple[tuple[str, str], ...]
    """Colour and what it means."""


@dataclass(frozen=True)
class Code:
    text: str
    language: str


class Unfolded(Enum):
    """How a form in which nothing can be opened shows details."""

    TITLED = "titled"
    STRONG = "strong"
    UNTITLED = "untitled"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class Details:
    """Blocks that stay closed until the reader opens them."""

    title: str
    blocks: tuple[Block, ...]
    unfolded: Unfolded = Unfolded.TITLED
    kind: Literal["", "cause", "folded"] = ""
    opened: bool = False


@dataclass(frozen=True)
class Further:
    """Blocks that the appendix has (``parts.parted``), below the headings above them here."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Beside:
    """Two parts or more beside one another, where there is room."""

    parts: tuple[tuple[Block, ...], ...]


@dataclass(frozen=True)
class Unprinted:
    """Blocks that a page sorts, searches or zooms: paper names them and leaves them out."""

    title: str
    """Their name on paper."""
    blocks: tuple[Block, ...]


def looked_up(title: str, blocks: Iterable[Block]) -> Further:
    """Blocks of the appendix that paper leaves out, under their name there."""
    return Further((Unprinted(title, tuple(blocks)),))


@dataclass(frozen=True)
class WithoutScripts:
    """Said where the reader's browser runs no script."""

    text: str


@dataclass(frozen=True)
class Contents:
    """The sections that follow: name and title."""

    title: str
    sections: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Download:
    """A file that the page can write: columns of unrounded values in base units."""

    name: str
    columns: Columns


@dataclass(frozen=True)
class Downloads:
    """Files, and the table of what they hold."""

    files: tuple[Download, ...]
    table: Table | None = None


Block = (
    Heading
    | Text
    | Items
    | Pairs
    | Entries
    | Statement
    | Cautions
    | Table
    | Chart
    | Gallery
    | Drawing
    | Code
    | Details
    | Further
    | Beside
    | Unprinted
    | WithoutScripts
    | Contents
    | Downloads
    | PlanPair
)


@dataclass(frozen=True)
class Section:
    """``name``: its id, and what leads to it."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    headed: bool = True
    """A page shows its title."""
    appendix: bool = False
    """It follows the body: a page opens it at a click, paper has it after the body."""
    apart: bool = False
    """Paper begins a page with it."""


@dataclass(frozen=True)
class Page:
    """All that a report shows, in one language."""

    texts: Texts
    title: str
    campaign: str
    """The page's subject: a campaign's name, two names, or how many campaigns there are."""
    meta: tuple[str, ...]
    sections: tuple[Section, ...]
    front: tuple[tuple[str, str], ...] = ()
    """Who publishes it: term and text, for the title page of a form that has one."""
    cover: tuple[tuple[str, str], ...] = ()
    """The answer in a line, servers, machine: term and text, for that title page too."""
    made_key: str = "page.made"
    """The text that says by whom, and of what, the page was made."""

    def made(self, teiten_version: str) -> str:
        return self.texts(self.made_key, version=teiten_version, campaign=self.campaign)

    def blocks(self) -> Iterator[Block]:
        """Every block, those inside of others too, in the order of the page."""
        for section in self.sections:
            yield from walk(section.blocks)


B = TypeVar("B")


def of_kind(shown: Iterable[Block], kind: type[B]) -> list[B]:
    """Those of a kind, wherever they stand, in the order of the page."""
    return [block for block in walk(shown) if isinstance(block, kind)]


def walk(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks and what is inside of them."""
    for block in blocks:
        yield block
        yield from walk(_inside(block))


def _inside(block: Block) -> Iterable[Block]:
    inside: Iterable[Block | None] = ()
    match block:
        case Statement(chart=chart):
            inside = (chart,)
        case Gallery(charts=charts):
            inside = charts
        case Details(blocks=blocks) | Unprinted(blocks=blocks) | Further(blocks=blocks):
            inside = blocks
        case Beside(parts=parts):
            inside = (inner for part in parts for inner in part)
        case Downloads(table=table):
            inside = (table,)
    return (inner for inner in inside if inner is not None)


def folded(table: Table | None) -> tuple[Block, ...]:
    """A table below its caption, which the reader opens; nothing without one."""
    if table is None:
        return ()
    return (Details(table.caption, (table,), Unfolded.UNTITLED, "folded"),)


T = TypeVar("T")
LEAVES = (Table, Chart, Drawing, Download)
"""Blocks with none inside, whose parts are many."""


def rebuilt(shown: T, change: Callable[[Any], Any]) -> T:
    """Sections or blocks as ``change`` makes each of them, those inside of others first."""
    whole: Any = shown
    if isinstance(whole, tuple):
        return tuple(rebuilt(part, change) for part in whole)  # type: ignore[return-value]
    if not is_dataclass(whole) or isinstance(whole, type):
        return shown
    if not isinstance(whole, LEAVES):
        parts = {field.name: getattr(whole, field.name) for field in fields(whole)}
        new = {name: rebuilt(part, change) for name, part in parts.items()}
        whole = replace(whole, **new)
    made: T = change(whole)
    return made


def apart(page: Page, prefix: str) -> Page:
    """The page with names that begin with ``prefix``, for a file with another page in it."""

    def renamed(part: Any) -> Any:
        if isinstance(part, Contents):
            known = tuple((prefix + name, title) for name, title in part.sections)
            return replace(part, sections=known)
        if isinstance(part, Drawing):
            return replace(part, name=prefix + part.name, svg=_with_own_names(part.svg, prefix))
        if isinstance(part, Section | Table | Chart | ViewedPlan | Heading) and part.name:
            return replace(part, name=prefix + part.name)
        return part

    return replace(page, sections=rebuilt(page.sections, renamed))


def _with_own_names(svg: Markup, prefix: str) -> Markup:
    """Names stand in what Teiten drew itself; texts in it are escaped, and have no quotes."""
    own = str(svg).replace(' id="', f' id="{prefix}').replace("url(#", f"url(#{prefix}")
    return Markup(own)  # noqa: S704


def with_contents(title: str, answer: Section, *others: Section) -> tuple[Section, ...]:
    """The sections that have anything to show, with the way to them at the end of the answer."""
    shown = tuple(section for section in others if section.blocks)
    contents = Contents(title, tuple((section.name, section.title) for section in shown))
    return (replace(answer, blocks=(*answer.blocks, contents)), *shown)
