"""docs/gallery/index.md: each study with its first screen, answer, command and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.gallery.campaigns import Entry

from teiten.report.render.markdown import escape

HEAD = """\
# Gallery

What Teiten's reports look like, and what they found on {machines} ({named}, {days}).
Each picture is the first screen of a report, and each answer the report's own first sentence. Other
builds, machines and data give other numbers. [How to read a verdict](../reference/verdicts.md).

`python -m tools.gallery` writes this page from finished campaigns.
"""
WHOLE = """\
## Whole reports

{links}

The HTML files have no scripts: cut are the library that draws charts, the viewer of plans, and the
numbers for download, which are most of a report's bytes. Their charts are pictures.
"""


@dataclass(frozen=True)
class Link:
    text: str
    address: str


def index_page(shown: Sequence[tuple[Entry, str]], whole: Sequence[Link]) -> str:
    """``shown``: campaigns with the addresses of their pictures."""
    days = sorted({entry.day for entry, _ in shown})
    machines = dict.fromkeys(entry.machine for entry, _ in shown)
    head = HEAD.format(
        machines="one machine" if len(machines) == 1 else f"{len(machines)} machines",
        named=", ".join(machines),
        days=days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
    )
    links = "\n".join(f"- [{escape(link.text)}]({link.address})" for link in whole)
    studies = ["\n".join(_study(entry, picture)) for entry, picture in shown]
    return "\n".join([head, *([WHOLE.format(links=links)] if whole else []), *studies])


def _study(entry: Entry, picture: str) -> Iterator[str]:
    title = escape(entry.title)
    yield f"## {title}\n"
    for notice in entry.notices:
        yield f"*{escape(notice)}*\n"
    first, *further = entry.answers or ("The report has no answer in a sentence.",)
    count = f" *({len(further)} more in the report)*" if further else ""
    yield f"> {escape(first)}{count}\n"
    yield f"![The first screen of the report: {title}]({picture})\n"
    yield f"```sh\n{entry.alone or entry.command}\n```\n"
    within = f"As a part of `{entry.command}`, which sizes its trials, it" if entry.alone else "It"
    yield f"{within} took {entry.took}.\n"
