"""``teiten data``: the generators alone."""

from __future__ import annotations

import click

from teiten.cli.data import ssb_command


@click.group(
    "data",
    epilog="Examples:  teiten data ssb --scale 1 --to ssb-1  ·  "
    "teiten data ssb --scale 0.1 --table date --to -",
)
def command() -> None:
    """Make benchmark data: as files, to a pipe, or straight into a server."""


command.add_command(ssb_command)
