"""Paths on the command line."""

from __future__ import annotations

import os

import click


class GivenPath(click.Path):
    """A path. An empty one, as an unset variable of a shell gives it, is refused: pathlib takes it
    for the working folder."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not os.fspath(value):
            self.fail("the path is empty (. is the working folder)", param, ctx)
        return super().convert(value, param, ctx)
