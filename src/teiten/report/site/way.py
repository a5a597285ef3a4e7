"""From a page of a site to its index, its history and its other language.

A report is one file that needs no other, and stays so in its campaign's folder: only the copy
of a site has these links, put between its head and its content.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from teiten.model.text import Language
from teiten.report.site.render import index_name, other_languages
from teiten.report.texts import texts

PLACE = b"</header>\n<main>"
"""Before a page's content, in every file of ``render/html.py``. Texts are escaped: none has it."""
STYLE = (
    "display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;max-width:72rem;margin:.5rem auto 0;"
    "padding:0 clamp(1rem,4vw,2rem);font-size:.875rem"
)
"""The page's own style sheet, maybe an older one, knows nothing of sites."""
BEGIN = Markup('<nav class="way" aria-label="{}" style="{}">')
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

    def links(self) -> Iterable[tuple[str, str, Language | None]]:
        """Address, text, and the language of another page."""
        t, up = texts(self.language), "../" * self.name.count("/")
        yield f"{up}{index_name(self.language)}", t("site.index"), None
        if self.history is not None:
            place = f"#{self.history}" if self.history else ""
            yield f"{up}history.{self.language}.html{place}", t("site.line"), None
        own = self.name.rpartition("/")[2]
        for one in other_languages(self.language):
            yield f"{own}.{one}.html", texts(one)("site.language"), one

    def html(self) -> str:
        shown = Markup("").join(
            LINK.format(address, LANGUAGE.format(of, of) if of else "", text)
            for address, text, of in self.links()
        )
        label = texts(self.language)("site.way")
        return str(BEGIN.format(label, STYLE) + shown + Markup("</nav>"))


def with_way(page: bytes, way: SiteLinks) -> bytes:
    """The page with its links; as it is where it is not one of ours."""
    head, content = PLACE.split(b"\n")
    return page.replace(PLACE, b"\n".join((head, way.html().encode(), content)), 1)
