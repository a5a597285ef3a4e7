"""A page as one HTML file that works offline: everything inlined, everything escaped."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from teiten.report import blocks
from teiten.report.blocks import Block, Page, apart
from teiten.report.charts.base import CONFIG, Chart, text_width
from teiten.report.charts.library import library
from teiten.report.parts import noted_once
from teiten.report.plans.viewer import SCRIPT, STYLE, PlanPair, packed
from teiten.report.plans.viewer import script as viewer_script
from teiten.report.tables import Table, TableCell
from teiten.report.texts import Texts

LANGUAGES = {"en": "English", "ja": "日本語"}
"""The name of each language in that language."""
LONGEST_HEADING = 150
"""Pixels of a column's heading in one line."""
FEW_ROWS = 3
FEW_COLUMNS = 5
SHORT_CELL = 80
"""Pixels of a cell up to which its words stay in one line."""
LONG_CELL = 118
"""Pixels of a cell from which its column is never as narrow as its longest word."""
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_JOINED = re.compile(
    r"(?<=\d) (?=%|(?:B|[KMGTP]iB|kB|[MG]B|[nµm]?s|min|h)\b)|(?<=[δα]) (?==)|(?<=[δα] =) "
)
_NAME = re.compile(r"[\w.:,=/-]+")
_PART = re.compile(r"(?<=[_,=/])(?=\w)")
SCRIPTS = (
    *("languages.js", "tables.js", "charts.js", "series.js"),
    *("downloads.js", "flames.js", "plans.js", "start.js"),
)


def html(page: Page, teiten_version: str, *others: Page) -> str:
    """The whole page. It asks the network for nothing, which its own policy enforces.

    ``others``: the same in other languages; the reader's browser chooses which is shown, and the
    reader can choose another.
    """
    written = [page, *(apart(translation, f"{page.texts.language}-") for translation in others)]
    pages = [replace(page, sections=tuple(map(noted_once, page.sections))) for page in written]
    shown = [block for page in pages for block in page.blocks()]
    scripts = ["\n".join(asset(name) for name in SCRIPTS)]
    if any(isinstance(block, Chart) for block in shown):
        scripts.insert(0, library())
    viewer = any(isinstance(block, PlanPair) for block in shown)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            pages=pages,
            version=teiten_version,
            languages=LANGUAGES,
            config=CONFIG,
            embedded=dict(_embedded(shown)),
            style=_ours(asset("report.css")),
            scripts=[_ours(script) for script in scripts],
            viewer_script=packed(SCRIPT) if viewer else "",
            viewer_style=packed(STYLE) if viewer else "",
            policy=policy(*scripts, *([viewer_script()] if viewer else [])),
        )
    )


def _shown(shown: Iterable[Block], t: Texts) -> Markup:
    """Blocks, one after the other."""
    macros = environment().get_template("blocks.html.j2").module
    return Markup("").join(
        getattr(macros, _macro(type(block).__name__))(block, t) for block in shown
    )


@cache
def _macro(kind: str) -> str:
    """The macro of a kind of block: ``flame_graph`` of ``FlameGraph``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()


@cache
def environment() -> Environment:
    """Templates that escape everything and know no undefined name."""
    made = Environment(
        loader=PackageLoader("teiten.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["shown"] = _shown
    made.filters.update(breakable=breakable, cards=cards, cell_classes=cell_classes, told=told)
    made.filters.update(is_long=is_long, command=command)
    made.filters.update(script_json=script_json, script_packed=script_packed)
    return made


def is_long(heading: str) -> bool:
    """Whether a column's heading may be broken into lines."""
    return text_width(heading) > LONGEST_HEADING


def breakable(text: str) -> Markup:
    """A heading that may be broken after underscores; a ratio's sign stays behind its dividend."""
    return escape(text.replace(" ÷ ", "\u00a0÷ ")).replace("_", Markup("_<wbr>"))


def told(text: str, long: int = 40) -> Markup:
    """Prose in which a number stays beside its unit, an option of the command line is not broken
    after its dash, and a name of ``long`` letters or more may be broken between its parts."""
    whole = _JOINED.sub("\u00a0", text)
    marked = _options_whole(whole)
    broken = _NAME.sub(
        lambda name: _PART.sub("\2", name[0]) if len(name[0]) >= long else name[0], marked
    )
    return _with_elements(broken)


def command(text: str) -> Markup:
    """Lines of a shell in which no option is broken after its dash."""
    return _with_elements(_options_whole(text))


def _options_whole(text: str) -> str:
    return _OPTION.sub(lambda option: f"\0{option[0]}\1", text)


def _with_elements(text: str) -> Markup:
    """The text escaped, with elements in the place of signs that no text holds."""
    html = str(escape(text)).replace("\0", '<span class="whole">').replace("\1", "</span>")
    return Markup(html.replace("\2", "<wbr>"))  # noqa: S704 - escaped before


def cards(table: Table) -> str:
    """The classes of a table whose rows a small screen shows as cards: where cells are sentences,
    and where rows are few and have more cells than fit beside one another."""
    if table.prose:
        return "cards"
    rows = len(table.rows) + (table.total is not None)
    return "cards few" if rows <= FEW_ROWS and len(table.columns) > FEW_COLUMNS else ""


def cell_classes(cell: TableCell, numeric: bool) -> str:
    """The classes of a cell: of its kind, and of how its column is laid out."""
    if cell.kind and cell.kind != "left":
        return cell.kind
    if cell.sort is not None and not cell.kind:
        return ""
    if numeric:
        return cell.kind or "number"
    width = text_width(cell.text, 14.0)
    laid = "whole" if width <= SHORT_CELL and "\n" not in cell.text else ""
    return " ".join(filter(None, (cell.kind, "words" if width > LONG_CELL else laid)))


def script_json(value: Any) -> Markup:
    """JSON for a script element: no ``<`` can end it, and NaN is a defect, not a number."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    escaped = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(escaped.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704


def script_packed(value: Any) -> str:
    """Make JSON, compressed and in base64: plans over partitions have hundreds of nodes each."""
    text = gzip.compress(str(script_json(value)).encode(), mtime=0)
    return base64.b64encode(text).decode("ascii")


def policy(*scripts: str) -> str:
    """A Content-Security-Policy that lets only these scripts run, and nothing be loaded."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _ours(text: str) -> Markup:
    """A text of Teiten itself or of its libraries, which no data of a campaign enters."""
    return Markup(text)  # noqa: S704


@cache
def asset(name: str) -> str:
    """A file of the assets as text."""
    return (resources.files("teiten.report") / "assets" / name).read_text(encoding="utf-8")


def _embedded(shown: Iterable[Block]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The data of charts by name, then those of downloads, the same in every language."""
    known = list(shown)
    for chart in (block for block in known if isinstance(block, Chart)):
        yield chart.name, _chart_data(chart)
    for downloads in (block for block in known if isinstance(block, blocks.Downloads)):
        yield from ((file.name, file.columns) for file in downloads.files)


def _chart_data(chart: Chart) -> dict[str, Any]:
    data: dict[str, Any] = {"spec": _without_config(chart.spec)}
    if chart.fit:
        data["fit"] = asdict(chart.fit)
    if not chart.chooser:
        return {**data, "rows": chart.rows}
    columns = [
        {**column, "spec": _without_config(column["spec"])} for column in chart.chooser["columns"]
    ]
    return {**data, "chooser": {**chart.chooser, "columns": columns}}


def _without_config(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key != "config"}
