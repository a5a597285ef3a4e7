"""A trial that ended: its numbers, its series, its long texts, and whether it counts."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from teiten.model.stacks import StackSamples

BOOT = "boot"
"""The fact of a trial that tells in which boot of the servers' machine it ran; None where the
system does not say."""
LINKED = "linked"
"""The fact of a round's trial whose server was linked in an order of its own: ``seed``,
``fingerprint`` (SHA-256 of the program), ``seconds``; absent of a server as it is installed."""
FloatArray = npt.NDArray[np.float64]


class Step(StrEnum):
    """The steps of a trial, in METHOD.md's order."""

    RESTORE = "restore"
    CACHES = "caches"
    START = "start"
    PREWARM = "prewarm"
    SETTLE = "settle"
    WARM_UP = "warm-up"
    MEASURE = "measure"
    COLLECT = "collect"
    CHECK = "check"
    STACKS = "profile"
    """An extra window of a trial that counts, where the study asks for it; never counted itself."""
    STOP = "stop"


class Outcome(StrEnum):
    """Only COUNTED trials enter a result; the others are kept, and listed with their problems."""

    COUNTED = "counted"
    FAILED = "failed"
    DISTURBED = "disturbed"


@dataclass(frozen=True)
class Problem:
    """Why a trial does not count; ``code`` has a text in the reports' translations."""

    code: str
    """server-error, server-crash, replaced-file, out-of-memory, invariant, client-bound,
    pgbench-failed, failed-transactions, steal, other-load, start-failed, partner."""
    detail: str
    """The observation, verbatim (a line of a log, a number)."""


@dataclass(frozen=True)
class Series:
    """Samples of one source in one trial.

    ``seconds``: since the start of the measured window, shape (n,). ``columns``: name (unit in the
    name's suffix, see ``model.metrics``) to an array of shape (n,); NaN where a sample is missing.
    """

    source: str
    """pgbench, os, postgres, waits, disk:NAME, cpu:N; client: as os, of a client host"""
    seconds: FloatArray
    columns: dict[str, FloatArray]


@dataclass
class Gathered:
    """The results that a trial has gathered so far; they grow with its steps."""

    metrics: dict[str, float] = field(default_factory=dict)
    series: tuple[Series, ...] = ()
    histogram: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    evidence: tuple[tuple[str, str], ...] = ()
    """Kinds and names of files; of a load: in the trial's folder."""
    stack_samples: StackSamples | None = None


@dataclass(frozen=True)
class Attempt:
    """Essentials of an ended trial: which one it is, whether it counts, its numbers, its time."""

    number: int
    """The planned trial's."""
    attempt: int
    """From 1."""
    outcome: Outcome
    metrics: Mapping[str, float]
    """One number per metric (``model.metrics``), in base units, unrounded."""
    started_at: float = 0.0
    """Seconds since the epoch, as ``finished_at``."""
    finished_at: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether it enters results."""
        return self.outcome is Outcome.COUNTED


PARTNER = "partner"
"""The code of the problem of a trial that stands alone, because its partner does not count."""


@dataclass(frozen=True, kw_only=True)
class Trial(Attempt):
    """All of it, as the ledger keeps it."""

    metrics: dict[str, float]
    problems: tuple[Problem, ...]
    series: tuple[Series, ...] = ()
    histogram: str = ""
    """HdrHistogram V2, base64: latencies of all transactions, in microseconds."""
    facts: dict[str, Any] = field(default_factory=dict)
    """JSON values: server version, non-default settings, pgbench's command line, how restored."""
    evidence: tuple[tuple[str, str], ...] = ()
    """Kind (``server log``, ``postgresql.conf``) and path relative to the campaign's folder."""
    stack_samples: StackSamples | None = None
    """Call stacks of the extra window after the measured one, where the study asks for it."""


@dataclass(frozen=True)
class Event:
    """A line of the campaign's record."""

    at: float
    """Seconds since the epoch."""
    kind: str
    """campaign-started, template-ready, trial-started, step, trial-finished, interrupted, …"""
    trial: int | None
    attempt: int | None
    detail: dict[str, Any]


_BEGINNING = "eN"
"""Base64 of the first two bytes of what zlib writes; no plan and no JSON begins so."""


def pack(text: str) -> str:
    """Compress a text for the ledger."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def unpack(text: str) -> str:
    """Read a text that was compressed, or that a published ledger has as it is.

    Raises ValueError where it is damaged.
    """
    if not text.startswith(_BEGINNING):
        return text
    try:
        return zlib.decompress(base64.b64decode(text)).decode()
    except (zlib.error, binascii.Error) as error:
        raise ValueError(str(error)) from error
