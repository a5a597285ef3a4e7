"""``teiten show``: a study in words."""

from __future__ import annotations

import click

from teiten.cli.completion import profiles, studies
from teiten.cli.main import Session
from teiten.cli.parameters import json_option, language_option
from teiten.errors import UsageError
from teiten.model.text import Language

EXAMPLES = "Examples:  teiten show observe  ·  teiten show observe --profile published --lang ja"


@click.command("show", epilog=EXAMPLES)
@click.argument("study", shell_complete=studies)
@click.option(
    "--profile",
    metavar="PROFILE",
    shell_complete=profiles,
    help="The profile whose values are shown.",
)
@language_option
@json_option("the study")
@click.pass_obj
def command(
    session: Session, study: str, profile: str | None, language: Language, as_json: bool
) -> None:
    """Show what STUDY, a name of the catalogue or a TOML file, asks and how it finds out."""
    from teiten.cli.text.study import study_lines
    from teiten.ledger.campaigns import is_campaign
    from teiten.study.changes import StudyFlags
    from teiten.study.document import read_document
    from teiten.study.load import load_study

    try:
        loaded = load_study(study, StudyFlags(profile=profile))
    except UsageError:
        if not is_campaign(session.workdir.campaigns, study):
            raise
        hint = f"teiten report {study} makes its report, teiten runs lists campaigns"
        raise UsageError(f"{study!r} is a campaign; show is for studies", hint) from None
    if as_json:
        session.console.json(loaded)
        return
    everything = load_study(study, StudyFlags(profile=profile, overrides=["workloads=all"]))
    optional = tuple(
        workload
        for workload in everything.workloads
        if workload.name not in {running.name for running in loaded.workloads}
    )
    profiles = tuple(read_document(study).tables.profiles)
    session.console.text(*study_lines(loaded, optional, profiles, language))
