"""A collection as it is published: its tables as Markdown, its findings, and the ledgers from which
anyone recomputes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from teiten.cli.collection.carry_out import Night, has_first_pass, result_of
from teiten.cli.collection.state import (
    FILE,
    CollectionState,
    read_file,
    state_text,
    with_campaigns_of,
    write_state,
)
from teiten.cli.main import Session
from teiten.cli.printed.collection import findings_text
from teiten.errors import UsageError
from teiten.host.system.causes import translate_os_errors
from teiten.ledger.published import ENDING, reduced, restore
from teiten.model.text import Language
from teiten.report.forms import collection_markdown
from teiten.suggest import did_you_mean

LEDGERS = "ledgers"


def published_files(night: Night, languages: tuple[Language, ...]) -> Mapping[str, bytes]:
    """Make the files of a published collection, by their paths below its folder.

    A campaign without its first pass is left out, and can then be run anew by whoever restores it.
    """
    passed = {
        called: read for called, read in night.campaigns.items() if has_first_pass(night, called)
    }
    night = replace(night, campaigns=passed)
    result, folders = result_of(night), map(night.folder, night.campaigns)
    ledgers = {f"{LEDGERS}/{folder.name}{ENDING}": reduced(folder) for folder in folders}
    pages = {
        f"{language}/{name}": content
        for language in languages
        for name, content in collection_markdown(
            result, language, lambda campaign, _: f"../{LEDGERS}/{campaign}{ENDING}"
        ).items()
    }
    return {
        FILE: state_text(replace(night.state, path=night.state.collection.table.name)).encode(),
        "findings.json": findings_text(result).encode(),
        **pages,
        **ledgers,
    }


def restore_collection(
    session: Session, folder: Path, without: Collection[str] = ()
) -> CollectionState:
    """Put a published collection into the working folder: campaigns that are there already stay,
    and those of ``without`` are left out, to be run anew.

    Raises UsageError where the folder holds none, or none of a name to be left out, and where the
    collection that is here has begun others; LedgerError where it is damaged.
    """
    if not (folder / FILE).is_file():
        raise UsageError(
            f"there is no published collection in {folder}: it has no {FILE}",
            "name the folder that `teiten collection publish` wrote",
        )
    state = read_file(folder / FILE)
    called = [table.called for table in state.collection.table.campaigns]
    for name in without:
        if name not in called:
            raise UsageError(
                f"--without {name}: {state.name} has no such campaign.{did_you_mean(name, called)}",
                f"its campaigns: {', '.join(called)}",
            )
    names = [state.campaign(campaign) for campaign in called if campaign not in without]
    session.workdir.prepare()
    here = session.workdir.collections / state.name / FILE
    if here.is_file():
        begun, campaigns = read_file(here), session.workdir.campaigns
        budget = max(begun.budget, state.budget)
        state = replace(with_campaigns_of(begun, state.collection, campaigns), budget=budget)
    with translate_os_errors(f"the collection {state.name} cannot be restored"):
        for name in names:
            ledger = folder / LEDGERS / f"{name}{ENDING}"
            place = session.workdir.campaigns / name
            if ledger.is_file() and not place.exists():
                restore(ledger.read_bytes(), place)
    write_state(session.workdir.collections, state)
    return state
