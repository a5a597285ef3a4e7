"""``teiten doctor``: what this machine is, what Teiten can do on it, and what could disturb it."""

from __future__ import annotations

import click

from teiten.cli.main import Session
from teiten.cli.parameters import json_option, language_option
from teiten.model.text import Language


@click.command(
    "doctor", epilog="Examples:  teiten doctor --lang ja  ·  teiten doctor --json | jq .cautions"
)
@click.option(
    "--ceilings",
    "measures",
    is_flag=True,
    help="Measure the most that disk, processors and memory do here; later reports use it.",
)
@click.option(
    "--pairs",
    "checks_pairs",
    is_flag=True,
    help="Check paired transactions: equal sides, and a known difference; ab's reports cite it.",
)
@json_option("facts and cautions")
@language_option
@click.pass_obj
def command(
    session: Session,
    measures: bool,
    checks_pairs: bool,
    as_json: bool,
    language: Language,
) -> None:
    """Tell what this machine is, what this installation can do on it, and what could disturb a
    measurement, each with what to do about it.

    The disk is the one of the working folder: see teiten --workdir. Nothing is changed; --ceilings
    loads the machine for about half a minute, and writes a file of 1 GiB that it deletes; --pairs
    takes about eight minutes for 20 starts of two servers, and goes on where it was cut off.
    """
    from teiten.cli.doctor.abilities import abilities, abilities_text
    from teiten.cli.doctor.measure import check_pairs, measure
    from teiten.cli.doctor.text import (
        cautions_text,
        ceilings_text,
        facts_text,
        pairs_text,
        summary,
    )
    from teiten.host.cautions.machine import cautions
    from teiten.host.facts.kept import known_check
    from teiten.host.facts.machine import read_host_facts

    if measures:
        measure(session, language)
    facts = read_host_facts(session.workdir.root)
    if checks_pairs:
        check_pairs(session, facts, language)
    check = known_check(session.workdir.caches, facts)
    disturbing = cautions(facts)
    able = abilities(facts)
    if as_json:
        from teiten.cli.printed.machine import json_machine

        session.console.json(json_machine(facts, disturbing, check, able, language))
        return
    output = session.console.output
    parts = [
        facts_text(facts, language, output.width),
        abilities_text(able, language, output.width),
    ]
    if facts.ceilings is not None:
        parts.append(ceilings_text(facts.ceilings, language, output.width))
    if check is not None:
        parts.append(pairs_text(check, language, output.width))
    for part in parts:
        output.print(part)
        output.print()
    output.print(cautions_text(disturbing, language, output.width))
    session.console.say(summary(disturbing, language))
