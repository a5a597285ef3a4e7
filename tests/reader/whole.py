"""A whole report of any kind: every sentence, every table, and the two against JSON and trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from teiten import __version__
from tests.fixtures.drawn import Drawn
from tests.fixtures.drawn_across import Across
from tests.reader import across
from tests.reader.across import comparison_tables, history_numbers, history_tables
from tests.reader.campaign import Campaign
from tests.reader.collected import (
    Retold,
    outcomes_of,
    retold_objections,
    site_numbers,
    without_forecast,
)
from tests.reader.contrasts import contrast_objections, contrasts_of
from tests.reader.document import Document, Part
from tests.reader.evidence import MADE_BY, Evidence, moments_of
from tests.reader.figures import Figures
from tests.reader.findings import check_counts, check_findings, rows_below
from tests.reader.language import Language, printed
from tests.reader.reader import Reader
from tests.reader.tables import check_answers, check_tables, columns_read, contrast_tables
from tests.reader.texts import phrase, sentence, told, words_of

MOST_NODES = 25
"""So many nodes of two plans are shown."""
NOTES = {
    "plan-table.nodes-note": "count",
    "taken.note": "rows",
    "root.functions-note": "shown",
}
"""What notes below tables count."""
FINDINGS = (
    *("Findings that", "本検証と比較", "本検証では対象外"),
    *("Parallel workers, printed", "パラレルワーカー数"),
)
"""Tables that ``findings`` reads."""
SHORT = 12
"""Characters of a sentence like “None.”"""
SAID = {"title", "meta", "heading", "text", "item", "pair", "caption"}
EVENTS = {"design.noise": "noise-floor", "design.replication": "replication"}
"""Labels of what is said of each event of a kind."""


def read_whole(document: Document, one: Drawn | Across, language: Language) -> Reader:
    """A report that was read."""
    if isinstance(one, Across):
        return _read_across(document, one, language)
    contrasts = contrasts_of(one.analysis)
    reader = Reader(document, one.campaign, language)
    evidence = _evidence(reader, told=one.analysis.server_facts)
    elsewhere = {float(len(rows_below(reader, "claims.elsewhere")))}
    evidence.further = {f"claim.elsewhere.{each} count": elsewhere for each in ("one", "many")}
    figures = _figures(document, evidence, contrasts)
    for part in document.parts:
        if part.kind in SAID and part.text not in reader.given:
            _read_part(reader, figures, part, part)
    _of_items(reader)
    _of_events(reader)
    _of_plans(reader)
    _of_notes(reader)
    _of_workers(reader)
    check_counts(reader)
    if not one.campaign.by_hand:
        check_tables(reader)
        check_answers(reader)
        check_findings(reader)
        read = {id(table): columns_read(table) for table, *_ in contrast_tables(reader)}
        _tables(reader, document, read, evidence)
    return reader


def _evidence(reader: Reader, beside: Sequence[Campaign] = (), told: object = None) -> Evidence:
    """What campaigns hold, which is the same each time that their report is read."""
    known, key = reader.campaign.further, f"evidence {reader.language} {len(beside)}"
    if key not in known:
        known[key] = Evidence(reader, beside, told)
    evidence = known[key]
    assert isinstance(evidence, Evidence)
    evidence.reader = reader
    return evidence


def _figures(
    document: Document, evidence: Evidence, contrasts: Sequence[Mapping[str, Any]]
) -> Figures:
    """The figures of a report; of one with the same tables, those that were read before."""
    tables = tuple((table, *table.rows) for table in document.tables)
    figures = evidence.once(tables, lambda: Figures(document, evidence, contrasts))
    figures.reader = evidence.reader
    return figures


def _read_part(reader: Reader, figures: Figures, part: Part, untold: Part) -> None:
    """``untold``: without what stands elsewhere word for word."""
    reader.read += 1
    reader.objections += [f"{why}: {part.text}" for why in figures.objections(untold)]
    known = words_of(reader.language)
    is_sentence = part.kind in {"text", "item"} and part.text.endswith((".", "。"))
    titled = any(
        part.text.startswith(reader.own(each.title)) for each in reader.campaign.workloads()
    )
    if (
        is_sentence
        and not titled
        and len(part.text) > SHORT
        and not any(run in part.text for run in known)
    ):
        reader.objections.append(f"unread sentence: {part.text}")


def _of_items(reader: Reader) -> None:
    """Objects to what is listed twice."""
    items = Counter(
        (part.section, part.part, part.topic, part.text)
        for part in reader.document.parts
        if part.kind == "item"
    )
    for (*_, text), count in items.items():
        reader.about = text
        reader.that(count == 1, f"it is listed {count} times")


def _of_events(reader: Reader) -> None:
    """Objects where not every event of a kind is told, nor every caution."""
    texts = [part.text for part in reader.document.parts]
    for label, kind in EVENTS.items():
        begin = phrase(reader.language, label) + ": "
        recorded = sum(event.kind == kind for event in reader.campaign.events)
        count = sum(text.startswith(begin) for text in texts)
        reader.about = kind
        reader.that(count == recorded, f"{recorded} were recorded, {count} are told")
    severities = tuple(
        phrase(reader.language, f"severity.{severity}") + ": " for severity in ("warning", "note")
    )
    count = sum(text.startswith(severities) for text in texts)
    reader.about = "the cautions"
    reader.that(count >= len(reader.campaign.cautions), f"{count} are told")


def _of_plans(reader: Reader) -> None:
    """Objects to plans that are called the same and have other nodes."""
    same = phrase(reader.language, "plan.query.same")
    for said in (part for part in reader.document.parts if part.text == same):
        shapes = [
            sorted(row[:2] for row in table.rows)
            for table in reader.document.tables
            if (table.section, table.part) == (said.section, said.part)
            and sentence(reader.language, "plan-table.kinds").fullmatch(table.caption)
        ]
        reader.about = f"{said.part}: {said.text}"
        reader.that(len(shapes) < 2 or shapes[0] == shapes[1], "their nodes differ")


def _of_workers(reader: Reader) -> None:
    """Objects to other workers of a changed plan than the table of the two plans has."""
    language = reader.language
    label, caption = phrase(language, "plan-fact.workers"), phrase(language, "plan-table.summary")
    for part in reader.document.parts:
        for said in told(part.text, language, "plan-change.workers-changed.launched"):
            both = [f"{said[f'{at}_launched']} / {said[f'{at}_planned']}" for at in ("old", "new")]
            rows = [
                [*row[1:3]]
                for table in reader.document.tables
                if (table.section, table.part, table.caption) == (part.section, part.part, caption)
                for row in table.rows
                if row[0] == label
            ]
            reader.about = part.text
            reader.that(not rows or both in rows, f"the workers are {rows}")


def _of_notes(reader: Reader) -> None:
    """Objects to another count of rows than the table above a note has, or of nodes where it shows
    all of them."""
    whole = phrase(reader.language, "root.whole")
    for above, part in pairwise(reader.document.parts):
        for key, place in NOTES.items() if above.table is not None else ():
            said = sentence(reader.language, key).match(part.text)
            if said is None or above.table is None:
                continue
            reader.about = part.text
            count = printed(said[place]).value
            shown = sum(row[0] != whole for row in above.table.rows)
            more = key == "plan-table.nodes-note" and count > shown >= MOST_NODES
            reader.that(count == shown or more, f"{shown} are shown")


def _tables(
    reader: Reader, document: Document, read: Mapping[int, Collection[int]], evidence: Evidence
) -> None:
    """``read``: which columns of which tables were read already."""
    for table in document.tables:
        if table.caption.startswith(FINDINGS):
            cells = (cell for row in table.rows for cell in row)
            reader.objections += [why for cell in cells for why in evidence.words_objections(cell)]
        else:
            columns = frozenset(read.get(id(table), ()))
            make: Callable[[], list[str]] = partial(list, evidence.objections(table, columns))
            reader.objections += evidence.once((table, *table.rows, columns), make)


def _read_across(document: Document, one: Across, language: Language) -> Reader:
    reader = Reader(document, one.campaigns[-1], language)
    told = [each.server_facts for each in one.analyses]
    evidence = _evidence(reader, one.campaigns[:-1], told)
    compared: Sequence[dict[str, Any]] = ()
    retold = None
    if one.kind == "comparison":
        a, b = one.campaigns
        read = comparison_tables(reader, document, a, b)
        compared = across.as_json(list(across.compared(a, b)))
        _tables(reader, document, read, evidence)
    elif one.kind == "history":
        read = history_tables(reader, document, one.campaigns)
        evidence.further = history_numbers(document, one.campaigns)
        _tables(reader, document, read, evidence)
    else:
        if one.kind == "site":
            evidence.moments = moments_of(each.created_at for each in one.campaigns)
        retold = Retold(one.retold(language))
        evidence.further = outcomes_of(document) | (
            site_numbers(one.campaigns) if one.kind == "site" else {}
        )
        reader.objections += retold_objections(document, retold, evidence)
    figures = Figures(document, evidence, compared)
    figures.made_by = __version__ if one.kind == "site" else MADE_BY
    if one.result is not None:
        figures.counted = ()  # whose blocks to come are foretold
        evidence.further["collection.spent"] = {one.result.budget / 60, one.result.spent / 60}
    for part in document.parts:
        if part.kind in SAID - {"title"} and part.text not in reader.given:
            text = retold.untold(part.text) if retold is not None else part.text
            text, foretold = without_forecast(text)
            reader.objections += foretold
            _read_part(reader, figures, part, replace(part, text=text))
    return reader


def trials_objections(one: Drawn) -> list[str]:
    """What of JSON does not follow from the trials."""
    return list(contrast_objections(one.campaign, contrasts_of(one.analysis)))
