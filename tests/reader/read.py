"""The reader with all of its books."""

from __future__ import annotations

from tests.reader import answers, asked, cautions, discussion, noise, sites, summary
from tests.reader.campaign import Campaign
from tests.reader.document import Document
from tests.reader.kinds import causes, claims, lookups, pgbench, plans, probes, queries
from tests.reader.language import Language
from tests.reader.reader import Reader
from tests.reader.tables import check_tables, judged_in

BOOKS = (
    queries.BOOK,
    pgbench.BOOK,
    lookups.BOOK,
    plans.BOOK,
    probes.BOOK,
    causes.BOOK,
    claims.BOOK,
    asked.BOOK,
    cautions.BOOK,
    noise.BOOK,
    discussion.BOOK,
    sites.BOOK,
    summary.BOOK,
    answers.BOOK,
)


def read(document: Document, campaign: Campaign, language: Language) -> Reader:
    """A report that was read: its objections, and what it holds."""
    reader = Reader(document, campaign, language, BOOKS, judged_in)
    reader.read_all()
    close(reader)
    return reader


def close(reader: Reader) -> None:
    """What the whole report must hold besides its sentences."""
    answers.close(reader)
    queries.fastest_is_answered(reader)
    cautions.close(reader)
    noise.close(reader)
    lookups.close(reader)
    if not reader.campaign.by_hand:
        check_tables(reader)


def read_numbers(document: Document, campaign: Campaign, language: Language) -> Reader:
    """A report of which only the tables of contrasts were read."""
    reader = Reader(document, campaign, language, BOOKS, judged_in)
    check_tables(reader)
    return reader
