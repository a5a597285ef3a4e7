"""Finished campaigns of a working folder, and what the gallery says of each.

Every word comes from a campaign's report or from its collection's file. Ledgers are only read.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.collection.state import CollectionState, read_state
from teiten.ledger.campaigns import CampaignState, find_campaign, summarise
from teiten.report.blocks import Page, Statement, Text, of_kind
from teiten.report.numbers import moment
from teiten.report.sentences import machine_text
from teiten.report.view.kit import Kit
from teiten.report.view.report import view
from teiten.study.changes import StudyFlags


@dataclass(frozen=True)
class Place:
    """A finished campaign's folder."""

    folder: Path
    alone: str = ""
    """The command for its study without the rest of its collection; empty of no collection."""


@dataclass(frozen=True)
class Entry:
    """A campaign of the gallery, in English."""

    study: str
    title: str
    machine: str
    day: str
    notices: tuple[str, ...]
    """What the report says before its answer."""
    answers: tuple[str, ...]
    """The sentences in large type, in the report's order; else its first paragraph."""
    command: str
    """With which it was begun."""
    alone: str
    """As of its place."""
    took: str
    """``12 min for 60 trials, 9 min of them measuring``"""


def finished(workdir: Path, names: Sequence[str], collection: str) -> Iterator[Place]:
    """The complete ones of those that were named, else of the collection."""
    places = (
        [Place(find_campaign(workdir / "campaigns", name)) for name in names]
        if names
        else _of_collection(workdir, read_state(workdir / "collections", collection))
    )
    for place in places:
        if summarise(place.folder).state is CampaignState.COMPLETE:
            yield place


def _of_collection(workdir: Path, state: CollectionState) -> Iterator[Place]:
    table = state.collection.table
    for campaign in table.campaigns:
        folder = workdir / "campaigns" / state.campaign(campaign.called)
        if folder.is_dir():
            yield Place(folder, alone(campaign.study, table.flags(campaign)))


def alone(study: str, flags: StudyFlags) -> str:
    """The command that runs a study with these flags."""
    single = {"--profile": flags.profile, "--memory": flags.memory, "--source": flags.source}
    several = {"--set": flags.overrides, "--storage": flags.storage}
    words = ["teiten", "run", study]
    words += ["--servers", ",".join(flags.servers)] if flags.servers else []
    for option, value in single.items():
        words += [option, value] if value else []
    for option, values in several.items():
        words += [word for value in values for word in (option, value)]
    return shlex.join(words)


def entry_of(analysis: CampaignAnalysis, place: Place) -> Entry:
    kit = Kit(analysis, "en")
    page = view(analysis, "en")
    wall, measured = kit.duration(analysis.wall), kit.duration(analysis.measured)
    return Entry(
        study=analysis.plan.study.name,
        title=page.title,
        machine=machine_text(kit.t, analysis.facts),
        day=moment(analysis.created_at)[:10],
        notices=_paragraphs(page, "notice"),
        answers=_answers(page),
        command=analysis.command,
        alone=place.alone,
        took=f"{wall} for {len(analysis.trials)} trials, {measured} of them measuring",
    )


def _answers(page: Page) -> tuple[str, ...]:
    """The sentences of the first page; of many workloads, whose sentences are folded, how many
    there are of each verdict."""
    blocks = page.sections[0].blocks
    statements = [block for block in blocks if isinstance(block, Statement)]
    sentences = tuple(f"{statement.workload}: {statement.text}" for statement in statements)
    return sentences or _paragraphs(page, "")[:1]


def _paragraphs(page: Page, kind: str) -> tuple[str, ...]:
    texts = of_kind(page.sections[0].blocks, Text)
    return tuple(text.text for text in texts if text.kind == kind)
