"""Schema of what ``teiten null --json`` prints: how much equal sides differ."""

from __future__ import annotations

from teiten.cli.schemas.of_values import of_type
from teiten.cli.schemas.parts import COUNT, TEXT, Schema, closed, document, listed, named, said
from teiten.model.noise import NoiseFloor

VERSION = 1


def noise_schema() -> Schema:
    floor = of_type(NoiseFloor)["properties"]
    needed = said("Pairs until a verdict, by the difference as a share.", named(COUNT))
    body = closed(
        {
            "campaign": TEXT,
            "noise": listed(closed({**floor, "pairs_needed": needed})),
            "reports": listed(TEXT),
        }
    )
    return document("noise", VERSION, body)
