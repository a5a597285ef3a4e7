"""Files of reports: where they stand, and how they are written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.parameters import LANGUAGES
from teiten.errors import UsageError
from teiten.given_paths import exists, is_file
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.target_folder import target_folder, write_below
from teiten.ledger.folders import REPORT
from teiten.model.text import Language
from teiten.report.notes import NO_NOTES, Notes


def write_reports(analysis: CampaignAnalysis, folder: Path) -> list[Path]:
    """Write a campaign's HTML reports in every language into its folder; English comes first."""
    paths = [report_path(folder, language, None) for language in LANGUAGES]
    for language, path in zip(LANGUAGES, paths, strict=True):
        page = report_html(analysis, (language,), folder, path, NO_NOTES)
        write_files(path.parent, {path.name: page})
    return paths


def written_reports(folder: Path) -> tuple[Path, ...]:
    """The reports that a campaign has, where it has those of all languages."""
    paths = tuple(report_path(folder, language, None) for language in LANGUAGES)
    return paths if all(path.is_file() for path in paths) else ()


def report_path(
    folder: Path, language: Language | None, target: Path | None, ending: str = "html"
) -> Path:
    """``language``: None for a file that has them all."""
    name = f"report.{language}.{ending}" if language else f"report.{ending}"
    if target is None:
        return folder / REPORT / name
    return target / name if target.is_dir() else target


def way_to_campaign(folder: Path, written: Path) -> str:
    """The way from where a report is written to its campaign's folder, where it is inside of it:
    then they are moved together."""
    here, there = written.resolve(), folder.resolve()
    return os.path.relpath(there, here) if here.is_relative_to(there) else ""


def report_html(
    analysis: CampaignAnalysis,
    languages: Sequence[Language],
    folder: Path,
    path: Path,
    notes: Notes,
) -> bytes:
    """The page that will stand under ``path``, of the campaign in ``folder``."""
    from teiten.report.forms import render_html

    beside = way_to_campaign(folder, path.parent)
    return render_html(analysis, *languages, notes=notes, beside=beside, stills=True).encode()


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files under a folder, each one whole or not at all.

    Raises UsageError where something else than a file would be replaced, MachineError where the
    system refuses, or where root would follow another user's link.
    """
    for name in files:
        if exists(folder / name) and not is_file(folder / name):
            raise UsageError(
                f"{folder / name} is no plain file, and is not replaced",
                "name a file or a folder with --to",
            )
    with (
        translate_os_errors(f"the report cannot be written to {folder}", "--to"),
        target_folder(folder) as target,
    ):
        for name, content in files.items():
            write_below(target, name, content)
