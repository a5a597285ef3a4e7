"""The campaign's record, as far as the execution needs it; the ledger is one.

Execution comes before the ledger in the flow, so it knows no more of it than this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from teiten.model.facts import Caution
from teiten.model.plan import Plan
from teiten.model.progress import Finished
from teiten.model.trial import Attempt, Event, Trial


class CampaignRecord(Protocol):
    """Append-only; each call is durable when it returns."""

    @property
    def plan(self) -> Plan: ...

    @property
    def cautions(self) -> tuple[Caution, ...]: ...

    def finished(self) -> list[Finished]: ...

    def attempts(self, *metrics: str) -> list[Attempt]:
        """List the recorded trials by their end, each with those of these metrics that it has."""
        ...

    def events(self) -> Iterator[Event]: ...

    def record_event(
        self, kind: str, *, trial: int | None = None, attempt: int | None = None, **detail: Any
    ) -> None: ...

    def record_trials(self, trials: Sequence[Trial]) -> None:
        """All of them or none: the trials of a pair are never recorded by halves."""
        ...

    def record_server_facts(self, level: str, facts: dict[str, Any]) -> None: ...

    def record_caution(self, caution: Caution) -> None: ...
