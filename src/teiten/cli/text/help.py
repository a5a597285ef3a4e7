"""``--help`` in which no name is broken: ``tpcb-`` at the end of a line cannot be copied."""

from __future__ import annotations

from collections.abc import Iterable

import click

WHOLE = "\N{NON-BREAKING HYPHEN}"


class WholeNames(click.HelpFormatter):
    """Lines are broken at spaces alone, never at a hyphen."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        super().write_dl(
            [(name, said.replace("-", WHOLE)) for name, said in rows], col_max, col_spacing
        )

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", WHOLE))

    def getvalue(self) -> str:
        return super().getvalue().replace(WHOLE, "-")


class HelpContext(click.Context):
    """Context of every verb, in whose help names stay whole."""

    formatter_class = WholeNames


def with_whole_names(command: click.Command) -> click.Command:
    """The command, and all below it, with help in which names stay whole."""
    command.context_class = HelpContext
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_whole_names(one)
    return command
