"""The index and the feed of a site, and the way from its pages to others; everything that campaigns
bring is escaped.

A report is one file that needs no other, and stays so in its campaign's folder: only the copy
of a site has links, put between its head and its content.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from teiten import __version__
from teiten.analysis.model.history import NO_HISTORY, CampaignStep, History
from teiten.model.text import Bilingual, Language
from teiten.report.render.html import asset, environment, policy
from teiten.report.site.entry import SiteEntry
from teiten.report.site.overview import study_rows
from teiten.report.texts import Texts, texts, valid_xml

NEWEST = 50
"""Entries of a feed."""
ATOM = "http://www.w3.org/2005/Atom"
SHOWN = 2
"""Verdicts of a campaign that stand open in the index; a study of many levels has dozens."""
NAMESPACE = uuid.UUID("3f0d0c1e-6f4b-5d0c-9b0e-2a8f6f0f7c11")
"""The UUID namespace of the ids of feeds and their entries."""


@dataclass(frozen=True)
class ComparedPair:
    """A comparison of two campaigns: of two machines, or of neighbours in a series."""

    title: Bilingual
    """The names of both campaigns, of two machines with these; of neighbours that of the older."""
    link: str
    """Without language and ending."""


@dataclass(frozen=True)
class CampaignSite:
    """All that the index links to. Newest campaigns first."""

    title: str | None
    """None: the usual one, in the page's language."""
    entries: tuple[SiteEntry, ...]
    history: History = NO_HISTORY
    """Paths are the addresses of reports in English."""
    steps: Mapping[str, CampaignStep] = field(default_factory=dict)
    """The change since the campaign before, by the address of the report in English."""
    compared: tuple[ComparedPair, ...] = ()
    beside: Mapping[str, ComparedPair] = field(default_factory=dict)
    """The comparison with the campaign before it in its series, by the campaign's slug."""
    left_out: tuple[tuple[str, str], ...] = ()
    """A ledger's name, and why it is not in the site; in English."""


def index_name(language: Language) -> str:
    """The first language's is what a host serves for the folder."""
    return "index.html" if language == "en" else f"index.{language}.html"


def study_name(study: str, language: Language) -> str:
    """The page of one study's campaigns, whatever characters its name has."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", study)[:60]
    mark = "" if safe == study else f"-{hashlib.sha256(study.encode()).hexdigest()[:6]}"
    return f"study-{safe}{mark}.{language}.html"


def index_html(site: CampaignSite, language: Language, study: str | None = None) -> str:
    """The page of all campaigns, whose filters are a script's; without it all are shown. A row for
    each study leads to its page. ``study``: such a page."""
    t = texts(language)
    entries = [entry for entry in site.entries if study in (None, entry.study)]
    place: Callable[[Language], str] = index_name if study is None else partial(study_name, study)
    title = _title(t, site)
    if study is not None:
        title = t("site.of-study", title=title, study=t.of(entries[0].title))
    script = asset("site.js")
    return (
        environment()
        .get_template("site.html.j2")
        .render(
            site=site,
            title=title,
            study=study,
            all=index_name(language),
            several=len({entry.study for entry in site.entries}) > 1,
            page_of=lambda name: study_name(name, language),
            studies=list(study_rows(t, entries, site.history.lines, site.steps)),
            t=t,
            rows=[_row(t, entry, site.beside.get(entry.slug)) for entry in entries],
            filters=_filters(t, entries),
            other=[
                (place(known), texts(known)("site.language")) for known in other_languages(language)
            ],
            made=t("site.made", version=__version__),
            style=asset("report.css") + asset("site.css"),
            scripts=[script],
            policy=policy(script),
        )
    )


def feed_name(language: Language) -> str:
    return f"feed.{language}.xml"


def feed(site: CampaignSite, language: Language, url: str | None) -> bytes:
    """Atom (RFC 4287) of the newest campaigns. ``url``: of the site, for links that are absolute;
    without it they are relative to the feed."""
    t, base = texts(language), f"{url.rstrip('/')}/" if url else ""
    ElementTree.register_namespace("", ATOM)
    root = ElementTree.Element(f"{{{ATOM}}}feed", {"xml:lang": language})
    newest = site.entries[:NEWEST]
    updated = max((entry.created_at for entry in newest), default=0.0)
    _element(root, "title", _title(t, site))
    _element(root, "id", _id(base or _title(t, site), language))
    _element(root, "updated", _moment(updated))
    _element(root, "generator", "Teiten", version=__version__)
    author = _element(root, "author", None)
    _element(author, "name", _title(t, site))
    _element(root, "link", None, rel="self", href=f"{base}{feed_name(language)}")
    _element(root, "link", None, rel="alternate", href=f"{base}{index_name(language)}")
    for entry in newest:
        made = _element(root, "entry", None)
        servers = t("list.separator").join(map(t.of, entry.servers))
        title = f"{t.of(entry.title)}: {servers}"
        _element(made, "title", t.aside(title, entry.campaign))
        _element(made, "id", _id(entry.slug, language))
        _element(made, "updated", _moment(entry.created_at))
        _element(made, "link", None, rel="alternate", href=f"{base}{report_link(entry, language)}")
        answer = [t.of(verdict.sentence) for verdict in entry.verdicts] or [t("site.no-verdict")]
        _element(made, "summary", " ".join([*map(t.of, entry.notices), *answer]))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def report_link(entry: SiteEntry, language: Language) -> str:
    return f"campaigns/{entry.slug}/report.{language}.html"


def _title(t: Texts, site: CampaignSite) -> str:
    return site.title or t("site.title")


def other_languages(language: Language) -> Iterable[Language]:
    languages: tuple[Language, ...] = ("en", "ja")
    return (known for known in languages if known != language)


def _row(t: Texts, entry: SiteEntry, beside: ComparedPair | None) -> dict[str, Any]:
    moment = datetime.fromtimestamp(entry.created_at, UTC)
    verdicts = [
        {"kind": verdict.kind, "word": t.of(verdict.word), "sentence": t.of(verdict.sentence)}
        for verdict in entry.verdicts
    ]
    return {
        "entry": entry,
        "day": f"{moment:%Y-%m-%d}",
        "moment": f"{moment:%Y-%m-%d %H:%M}",
        "servers": list(map(t.of, entry.servers)),
        "shown": verdicts[:SHOWN],
        "folded": verdicts[SHOWN:],
        "kinds": list(dict.fromkeys(verdict.kind for verdict in entry.verdicts)),
        "report": report_link(entry, t.language),
        "beside": beside and f"{beside.link}.{t.language}.html",
        "before": beside and t.of(beside.title),
    }


def _filters(
    t: Texts, entries: Iterable[SiteEntry]
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Each select: the row's attribute, its label, and values with their texts."""
    shown = list(entries)
    studies = {entry.study: entry.study for entry in shown}
    servers = {name: name for entry in shown for name in map(t.of, entry.servers)}
    machines = {entry.machine: t.aside(t.of(entry.machine_text), entry.machine) for entry in shown}
    kinds = {
        verdict.kind: t(f"site.kind.{verdict.kind}")
        for entry in shown
        for verdict in entry.verdicts
    }
    return [
        (name, t(f"site.{name}"), sorted(values.items(), key=lambda pair: pair[1]))
        for name, values in (
            ("study", studies), ("server", servers), ("machine", machines), ("verdict", kinds),
        )
    ]  # fmt: skip


def _element(
    parent: ElementTree.Element, name: str, text: str | None, **attributes: str
) -> ElementTree.Element:
    made = ElementTree.SubElement(parent, f"{{{ATOM}}}{name}", attributes)
    made.text = None if text is None else valid_xml(text)
    return made


def _id(name: str, language: Language) -> str:
    return uuid.uuid5(NAMESPACE, valid_xml(f"{language}/{name}")).urn


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


PLACE = b"</header>\n<main>"
"""Before a page's content, in every file of ``render/html.py``. Texts are escaped: none has it."""
STYLE = (
    "display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;max-width:72rem;margin:.5rem auto 0;"
    "padding:0 clamp(1rem,4vw,2rem);font-size:.875rem"
)
"""The page's own style sheet, maybe an older one, knows nothing of sites."""
BEGIN = Markup('<nav class="way" aria-label="{}" style="{}">')
SINCE = Markup('<p class="since" style="{}">{}</p>')
LINK = Markup('<a href="{}"{}>{}</a>')
LANGUAGE = Markup(' lang="{}" hreflang="{}"')


@dataclass(frozen=True)
class SiteLinks:
    """Where a page leads to."""

    language: Language
    name: str
    """The page's path from the site's folder, without its language and ending."""
    history: str | None = None
    """The place in the history of what the page tells: an id, or empty for the page as a whole;
    None where there is no history."""
    since: str = ""
    """The change since the campaign before it, in words; empty where there is none."""
    beside: str | None = None
    """The comparison with that campaign: its path from the site's folder, as ``name``."""

    def links(self) -> Iterable[tuple[str, str, Language | None]]:
        """Address, text, and the language of another page."""
        t, up = texts(self.language), "../" * self.name.count("/")
        yield f"{up}{index_name(self.language)}", t("site.index"), None
        if self.history is not None:
            place = f"#{self.history}" if self.history else ""
            yield f"{up}history.{self.language}.html{place}", t("site.line"), None
        if self.beside is not None:
            yield f"{up}{self.beside}.{self.language}.html", t("site.before"), None
        own = self.name.rpartition("/")[2]
        for language in other_languages(self.language):
            yield f"{own}.{language}.html", texts(language)("site.language"), language

    def html(self) -> str:
        shown = Markup("").join(
            LINK.format(address, LANGUAGE.format(of, of) if of else "", text)
            for address, text, of in self.links()
        )
        label = texts(self.language)("site.way")
        since = SINCE.format(STYLE, self.since) if self.since else ""
        return str(BEGIN.format(label, STYLE) + shown + Markup("</nav>") + since)


def with_way(page: bytes, way: SiteLinks) -> bytes:
    """The page with its links; as it is where it is not one of ours."""
    head, content = PLACE.split(b"\n")
    return page.replace(PLACE, b"\n".join((head, way.html().encode(), content)), 1)
