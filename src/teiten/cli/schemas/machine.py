"""Schema of what ``teiten doctor --json`` prints: facts in base units, and cautions."""

from __future__ import annotations

from teiten.cli.doctor.abilities import Ability
from teiten.cli.schemas.of_values import of_type
from teiten.cli.schemas.parts import TEXT, Schema, closed, document, listed, maybe, named, said
from teiten.model.facts import HostFacts, Severity
from teiten.model.pairs_check import CheckedNumber, Holds, PairsCheck

VERSION = 1
SEVERITY: Schema = {"enum": [one.value for one in Severity]}


def machine_schema() -> Schema:
    caution = closed(
        {
            "code": TEXT,
            "severity": SEVERITY,
            "values": named(TEXT),
            "what": TEXT,
            "advice": TEXT,
        }
    )
    body = closed(
        {
            "facts": of_type(HostFacts),
            "cautions": listed(caution),
            "abilities": listed(of_type(Ability)),
            "pairs_check": said("The last of teiten doctor --pairs.", maybe(_pairs_check())),
        }
    )
    return document("machine", VERSION, body)


def _pairs_check() -> Schema:
    came_to = {"enum": [Hold.value for Hold in Holds]}
    number = of_type(CheckedNumber)["properties"]
    judged = closed({**number, "equal": came_to, "true_to_scale": came_to})
    check = of_type(PairsCheck)["properties"]
    return closed({**check, "numbers": listed(judged), "holds": came_to})
