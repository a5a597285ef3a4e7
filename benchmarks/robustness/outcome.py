"""What a command line came to, and what of that may never be."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from teiten.cli.main import main

CODES = frozenset({0, 2, 3, 4, 5, 130})
"""Exit codes that an input or a machine may bring about; 1 is a defect."""
LONGEST = 60.0
"""Seconds of an input that is only read."""
STEERING = ("\x1b", "\x9b", "\x07")


@dataclass(frozen=True)
class Outcome:
    """How one command line ended."""

    code: int
    out: str
    err: str
    seconds: float

    def wrong(  # noqa: PLR0911 - a return for each
        self, secrets: Sequence[str] = ()
    ) -> str | None:
        """What may never be; None where all is in order."""
        output = self.out + self.err
        if self.code not in CODES:
            return f"exit code {self.code}"
        if "Traceback (most recent" in output or "error: a defect of Teiten" in output:
            return "a traceback"
        if self.code and self.code not in (130,) and "error: " not in self.err:
            return f"exit code {self.code} without an error"
        if self.code in (2, 3) and not ("hint: " in self.err or "Usage: " in self.err):
            return "an error without a hint"
        if any(mark in output for mark in STEERING):
            return "something that steers a terminal"
        if any(secret in output for secret in secrets):
            return "a password"
        if self.seconds > LONGEST:
            return f"{self.seconds:.0f} s"
        return None


@dataclass
class Tally:
    """Counts of a run, and what was found."""

    about: str
    codes: Counter[int] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def add(self, shown: str, outcome: Outcome, secrets: Sequence[str] = ()) -> None:
        self.codes[outcome.code] += 1
        wrong = outcome.wrong(secrets)
        if wrong is not None:
            last = outcome.err.strip().splitlines()[-2:] or [""]
            self.findings.append(f"{wrong}: {shown}\n      {' | '.join(last)[:400]}")

    @property
    def count(self) -> int:
        return sum(self.codes.values())

    def lines(self) -> Iterator[str]:
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(self.codes.items()))
        yield f"{self.about}: {self.count} (by exit code {codes}); {len(self.findings)} findings"
        for finding in self.findings:
            yield f"    {finding}"


def called(arguments: Sequence[str]) -> Outcome:
    """A command line in this process, with streams of its own."""
    begin = time.monotonic()
    with _streams() as (out, err):
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 99
        except BaseException as error:
            code = 98
            err.write(f"escaped: {type(error).__name__}: {error}\n")
        out.flush()
        err.flush()
        printed = [_content(stream) for stream in (out, err)]
    return Outcome(code, printed[0], printed[1], time.monotonic() - begin)


@contextmanager
def _streams() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    with (
        tempfile.TemporaryFile() as raw_out,
        tempfile.TemporaryFile() as raw_err,
        Path(os.devnull).open(encoding="utf-8") as nothing,
        patch.multiple(sys, stdin=nothing, argv=sys.argv[:]),
        redirect_stdout(io.TextIOWrapper(raw_out, encoding="utf-8", newline="")) as out,
        redirect_stderr(
            io.TextIOWrapper(raw_err, encoding="utf-8", errors="backslashreplace")
        ) as err,
    ):
        yield out, err


def _content(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    stream.reconfigure(errors="backslashreplace")
    return stream.read()
