"""Text of ``teiten plan --find-saturation`` before the plan: both runs are upper bounds."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.cli.campaign.saturation import Foretold
from teiten.cli.text.layout import bullets
from teiten.model.quantities import exact_share, format_duration


def foretold_lines(foretold: Foretold) -> Iterator[str]:
    """The provisional run, then that the plan below is the largest that can follow."""
    plan = foretold.provisional.plan
    clients = sorted({trial.load.connections for trial in plan.trials})
    both = plan.needs.seconds + foretold.campaign.plan.needs.seconds
    yield "A provisional run first, which chooses the clients (--find-saturation)"
    yield from bullets(
        [
            f"at the most {len(plan.trials)} trials of"
            f" {format_duration(plan.study.measure.duration or 0)}, about"
            f" {format_duration(plan.needs.seconds)}: {', '.join(map(str, clients))} clients of"
            f" each workload, on {', '.join(level for level, _ in plan.servers[:1])}",
            "a workload's search ends when two doublings in a row raise TPS by no more than"
            f" {exact_share(plan.study.measure.delta)}",
            "the plan below has the most and the greatest numbers of clients that can be chosen;"
            f" both together take {format_duration(both)} at the most",
        ]
    )
    yield ""
