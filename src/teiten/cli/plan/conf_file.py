"""``--conf FILE``: the parameters of a postgresql.conf of one's own, each as by ``--guc``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from teiten.cli.plan.flags import Flag
from teiten.errors import UsageError
from teiten.execute.postgres.conf import OWN_NAMES, parse
from teiten.given_paths import expanded

CONF = Flag(
    "--conf",
    "conf",
    "A postgresql.conf of yours: each of its parameters as if given by --guc, which goes first.",
    "FILE",
    repeats=False,  # as the parameters that it came to
)
OF_A_PLACE = ("include", "ssl", "archive_", "primary_", "restore_command", "recovery_")
"""Beginnings of parameters that belong to where a server stands, and to what stands beside it."""
STANDBYS = "synchronous_standby_names"
"""Servers that are not here: each commit would wait for them."""


def with_conf(gucs: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """Add the file's parameters to what ``--guc`` gives; takes the file out of ``given``.

    What belongs to the file's own server is left out, and said. Raises UsageError where the file
    cannot be read, or sets nothing.
    """
    file = given.pop("conf")
    if file is None:
        return gucs
    parameters = _read(expanded(file))
    left_out = tuple(name for name in parameters if is_of_its_place(name))
    if left_out:
        _warn(f"--conf {file}: left out, since they are of another server: {', '.join(left_out)}")
    named = {text.partition("=")[0].strip() for text in gucs}
    return (*gucs, *_changes(parameters, named | set(left_out)))


def is_of_its_place(name: str) -> bool:
    """Whether a parameter says where its server stands, not how it works."""
    return name in OWN_NAMES or name == STANDBYS or name.startswith(OF_A_PLACE)


def _read(path: Path) -> dict[str, str]:
    try:
        parameters = parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text in UTF-8"
        raise UsageError(
            f"--conf {path} cannot be read: {why}", "name a file like postgresql.conf"
        ) from error
    if not parameters:
        raise UsageError(f"--conf {path} sets no parameter", "remove the # before what is meant")
    return parameters


def _changes(parameters: dict[str, str], without: set[str]) -> Iterator[str]:
    for name, value in parameters.items():
        if name not in without:
            yield f"{name}={value}"


def _warn(text: str) -> None:
    context = click.get_current_context(silent=True)
    if context is not None and context.obj is not None:
        context.obj.console.warn(text)
