"""The report as one HTML file that works offline: everything inlined, everything escaped."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.text import Language
from teiten.report.charts.base import CONFIG, Chart
from teiten.report.charts.drawing import library
from teiten.report.plans.viewer import SCRIPT, STYLE, packed
from teiten.report.plans.viewer import script as viewer_script
from teiten.report.texts import Texts
from teiten.report.view.report import ReportView, view
from teiten.report.view.trials import Download

PARTS = ("asked", "results", "why", "plans", "findings", "evidence")
"""The sections after the answer; an empty one is left out."""
SCRIPTS = (
    "tables.js",
    "charts.js",
    "series.js",
    "downloads.js",
    "flames.js",
    "plans.js",
    "start.js",
)


def render_html(analysis: CampaignAnalysis, language: Language) -> str:
    """The whole page. It asks the network for nothing, which its own policy enforces."""
    return page(view(analysis, language), analysis.teiten_version)


def page(shown: ReportView, teiten_version: str) -> str:
    """The page of a view."""
    parts = [name for name in PARTS if getattr(shown, name)]
    downloads = shown.evidence.downloads
    drawn = bool(shown.plans)
    return assembled("report.html.j2", shown, teiten_version, parts, downloads, viewer=drawn)


class Shown(Protocol):
    """What every page shows, whatever it is about."""

    @property
    def texts(self) -> Texts: ...

    def charts(self) -> Iterator[Chart]: ...


def assembled(
    template: str,
    shown: Shown,
    teiten_version: str,
    parts: Sequence[str],
    downloads: Sequence[Download],
    *,
    viewer: bool = False,
) -> str:
    """A page by its template, with everything that it needs inside.

    ``viewer``: pev2 too, which draws plans.
    """
    script = "\n".join(asset(name) for name in SCRIPTS)
    return (
        environment()
        .get_template(template)
        .render(
            view=shown,
            t=shown.texts,
            teiten_version=teiten_version,
            parts=parts,
            config=CONFIG,
            embedded=list(_embedded(shown, downloads)),
            style=_ours(asset("report.css")),
            library=_ours(library()),
            script=_ours(script),
            viewer_script=packed(SCRIPT) if viewer else "",
            viewer_style=packed(STYLE) if viewer else "",
            policy=policy(library(), script, *([viewer_script()] if viewer else [])),
        )
    )


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
    made.filters["breakable"] = breakable
    made.filters["script_json"] = script_json
    made.filters["script_packed"] = script_packed
    return made


def breakable(text: str) -> Markup:
    """A text whose long names of parameters may be broken after their underscores."""
    return escape(text).replace("_", Markup("_<wbr>"))


def script_json(value: Any) -> Markup:
    """JSON for a script element: no ``<`` can end it, and NaN is a defect, not a number."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    escaped = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(escaped.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704


def script_packed(value: Any) -> str:
    """The same compressed, in base64: plans over partitions have hundreds of nodes each."""
    text = gzip.compress(str(script_json(value)).encode(), mtime=0)
    return base64.b64encode(text).decode("ascii")


def policy(*scripts: str) -> str:
    """A Content-Security-Policy that lets only these scripts run, and nothing be loaded."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'"
        for one in scripts
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


def _embedded(shown: Shown, downloads: Sequence[Download]) -> Iterator[tuple[str, dict[str, Any]]]:
    for chart in shown.charts():
        yield chart.name, _chart_data(chart)
    for download in downloads:
        yield download.name, download.columns


def _chart_data(chart: Chart) -> dict[str, Any]:
    data: dict[str, Any] = {"spec": _without_config(chart.spec)}
    if chart.fit:
        data["fit"] = {"path": list(chart.fit.path), "beside": chart.fit.beside}
    if not chart.chooser:
        return {**data, "rows": chart.rows}
    columns = [{**one, "spec": _without_config(one["spec"])} for one in chart.chooser["columns"]]
    return {**data, "chooser": {**chart.chooser, "columns": columns}}


def _without_config(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key != "config"}
