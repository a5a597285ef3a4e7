"""The answers of queries, compared over all trials of a campaign: a wrong one is no measurement."""

from __future__ import annotations

from teiten.execute.bench import CampaignRecord
from teiten.kinds.queries.load.session import Answer
from teiten.model.trial import Problem

ANSWER = "answer"
"""The kind of the event that records the first answer of a query."""
WRONG = "wrong-answer"


class Answers:
    """The first answer that each query gave, by workload and query; kept in the ledger, so that a
    resumed campaign compares with the same."""

    def __init__(self, record: CampaignRecord) -> None:
        self._record = record
        self._known: dict[tuple[str, str], tuple[Answer, str]] | None = None

    def problem(self, workload: str, query: str, answer: Answer, side: str) -> Problem | None:
        """A problem where the answer is not the first one; the first one is taken note of."""
        known = self._first()
        first = known.get((workload, query))
        if first is None:
            known[workload, query] = (answer, side)
            self._record.record_event(
                ANSWER,
                workload=workload,
                query=query,
                rows=answer.rows,
                checksum=answer.checksum,
                side=side,
            )
            return None
        if first[0] == answer:
            return None
        return Problem(
            WRONG,
            f"{query}: {answer.rows} rows, checksum {answer.checksum}; {first[1]} had answered"
            f" {first[0].rows} rows, checksum {first[0].checksum}",
        )

    def _first(self) -> dict[tuple[str, str], tuple[Answer, str]]:
        if self._known is None:
            self._known = {}
            for event in self._record.events():
                if event.kind == ANSWER:
                    found = event.detail
                    key = (str(found["workload"]), str(found["query"]))
                    answer = Answer(int(found["rows"]), str(found["checksum"]))
                    self._known[key] = (answer, str(found["side"]))
        return self._known
