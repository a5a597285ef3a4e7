"""How a failure is told: ``error:`` and ``hint:`` on stderr, and the exit code of CLI.md."""

from __future__ import annotations

import sys
import tempfile
import traceback
from pathlib import Path

import click

from teiten import __version__
from teiten.errors import TeitenError

INTERRUPTED = 130


def report_failure(error: BaseException) -> int:  # noqa: PLR0911 - one return for each kind
    """Say what went wrong and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    if isinstance(error, TeitenError):
        _say(error.message, error.hint)
        return error.exit_code
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        _say(error.format_message(), _usage_hint(error))
        return 2
    if isinstance(error, click.Abort | KeyboardInterrupt):
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return 0
    return _report_defect(error)


def _say(message: str, hint: str | None) -> None:
    sys.stderr.write(f"error: {message}\n")
    if hint:
        sys.stderr.write(f"hint: {hint}\n")


def _usage_hint(error: click.ClickException) -> str | None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{context.command_path} --help shows examples" if context else None


def _report_defect(error: BaseException) -> int:
    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", prefix="teiten-defect-", suffix=".log", delete=False, encoding="utf-8"
    ) as log:
        log.write(f"teiten {__version__}\n{' '.join(sys.argv)}\n\n{text}")
    _say(
        f"a defect of Teiten: {type(error).__name__}: {error}",
        f"please report it with the file {Path(log.name)}",
    )
    return 1
