"""Schema of what ``teiten ab --json`` prints: the verdict of TPS, and how it was come by."""

from __future__ import annotations

from teiten.analysis.model.replication import NoiseSource
from teiten.cli.schemas.parts import (
    ASKED,
    COUNT,
    CPU_AGREES,
    SECONDS,
    TEXT,
    VERDICT,
    WAY,
    Schema,
    document,
    judged,
    listed,
    maybe,
    named,
    said,
)
from teiten.model.progress import Ending

VERSION = 2


def ab_schema() -> Schema:
    body = judged(
        {
            "campaign": TEXT,
            "delta": said("The smallest difference that matters, as a share.", SECONDS),
            "pairs": COUNT,
            "seconds": said("Of the campaign, with the pilot.", SECONDS),
            "metrics": said("The verdict of each metric, by its name.", named(VERDICT)),
            "way": WAY,
            "way_by_clients": said(
                "How each number of clients was loaded: pairs beyond the processors are in step.",
                named(WAY),
            ),
            "cpu_agrees": CPU_AGREES,
            "duration": said("Seconds of a trial; null where it was left open.", maybe(SECONDS)),
            "slices": COUNT,
            "rounds": ASKED,
            "boots": said("Starts of the servers; null of trials by themselves.", maybe(COUNT)),
            "pairs_of_a_start": COUNT,
            "chosen_by": {
                "description": "Whence the noise by which pairs and starts were chosen.",
                "enum": [*(one.value for one in NoiseSource), None],
            },
            "ending": {"enum": [*(one.value for one in Ending), None]},
            "reports": listed(TEXT),
        }
    )
    return document("ab", VERSION, body, verdicts=True)
