"""The ledger of a campaign: one SQLite file, append-only, safe against kill -9 and power loss.

Of the campaign's folder: ``ledger.sqlite``, ``lock``, ``evidence/`` (logs, configurations) and
``report/``.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from teiten import __version__
from teiten.errors import LedgerError
from teiten.given_paths import is_file
from teiten.host.system.causes import translate_os_errors
from teiten.ledger import codec, connect, rows
from teiten.ledger.failures import translated
from teiten.ledger.folders import FILE_NAME, new_folder
from teiten.ledger.lock import HeldLock, campaign_lock
from teiten.ledger.migrate import CURRENT, check_version, migrate
from teiten.model.facts import Caution, HostFacts
from teiten.model.plan import Plan
from teiten.model.progress import Finished, is_published
from teiten.model.stacks import StackSamples
from teiten.model.study import Study
from teiten.model.trial import Attempt, Event, Outcome, Trial

CAUTION = "caution"
"""The kind of the event that holds a caution found while the campaign ran."""


class Ledger:
    """One campaign's record. One writer at a time; any number of readers beside it."""

    uuid: str
    name: str
    teiten_version: str
    """The version of the Teiten that made the campaign."""
    created_at: float
    """Seconds since the epoch."""
    command: str
    """The command line that made the campaign, and repeats it."""
    study_name: str
    profile: str
    planned: int
    """Trials in the plan."""
    repeats: int
    """How often a trial is repeated at most."""

    def __init__(self, folder: Path, connection: Connection, lock: HeldLock | None) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._connection = connection
        self._lock = lock
        self._clock = time.time
        self._writing = threading.RLock()

    @classmethod
    def create(
        cls,
        folder: Path,
        *,
        plan: Plan,
        name: str,
        facts: HostFacts,
        cautions: Sequence[Caution],
        command: str,
        clock: Callable[[], float] = time.time,
    ) -> Ledger:
        """Make a campaign's folder and its ledger, and hold its lock.

        The folder gets its name when the ledger is whole: there is a campaign, or nothing.
        ``clock``: what time events are recorded at, in seconds since the epoch.
        Raises LedgerError where there is one already, MachineError where it cannot be made.
        """
        with translate_os_errors(f"the campaign's folder {folder} cannot be made"):
            with new_folder(folder) as making:
                path = making / FILE_NAME
                with (
                    translated(path, reading=False),
                    closing(connect.writer(path, new=True)) as connection,
                    cls(making, connection, None)._transaction(),
                ):
                    migrate(connection)
                    rows.insert_campaign(
                        connection,
                        plan,
                        uuid=str(uuid.uuid4()),
                        name=name,
                        teiten_version=__version__,
                        created_at=clock(),
                        command=command,
                        facts=codec.encode(HostFacts, facts),
                        cautions=codec.encode(tuple[Caution, ...], tuple(cautions)),
                    )
            made = cls.open(folder)
        made._clock = clock
        return made

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Ledger:
        """Open a campaign's ledger; for writing with its lock.

        Raises LedgerError where there is none, where it is damaged or of a newer Teiten, where the
        permission is missing, or where another process writes it.
        """
        path = folder / FILE_NAME
        if not is_file(path):
            raise LedgerError(
                f"no ledger in {folder}: {path.name} is missing",
                "`teiten runs` lists the campaigns that there are",
            )
        lock = None if read_only else campaign_lock(folder)
        try:
            with translated(path):
                connection = connect.reader(path) if read_only else connect.writer(path)
                ledger = cls(folder, connection, lock)
                ledger._check(read_only)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return ledger

    def _check(self, read_only: bool) -> None:
        try:
            version = check_version(self._connection, self.path)
            if version < CURRENT and not read_only:
                with self._transaction():
                    migrate(self._connection)
            self.read_campaign()
            if not read_only and is_published(self.campaign_events()):
                raise LedgerError(
                    f"{self.path} is a published copy of a ledger, to which nothing is added",
                    f"measure again: {self.command}",
                )
        except BaseException:
            self._connection.close()
            raise

    def read_campaign(self) -> None:
        """Know who the campaign is. Raises LedgerError where that cannot be read."""
        with translated(self.path):
            row = rows.campaign(self._connection, self.path)
        self.uuid, self.name, self.command = row["uuid"], row["name"], row["command"]
        self.teiten_version, self.created_at = row["teiten_version"], row["created_at"]
        self.study_name, self.profile = row["study"], row["profile"]
        self.planned, self.repeats = row["planned"], row["repeats"]
        self._row = row

    @cached_property
    def plan(self) -> Plan:
        with translated(self.path):
            return codec.decode_plan(self._row["plan"])

    @contextmanager
    def having_texts(self, study: Study) -> Iterator[None]:
        """Have the plan with the texts that the ledger does not hold, and a study has."""
        hidden = self.plan
        self.plan = codec.with_texts_of(hidden, study)
        try:
            yield
        finally:
            self.plan = hidden

    @cached_property
    def facts(self) -> HostFacts:
        with translated(self.path):
            return codec.decode(HostFacts, self._row["facts"])

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Those of the start, then those recorded while the campaign ran; each once."""
        with translated(self.path):
            cautions = codec.decode(tuple[Caution, ...], self._row["cautions"])
            later = [event.detail for event in rows.events(self._connection, CAUTION)]
            cautions += codec.decode(tuple[Caution, ...], codec.encode_json(later))
        return tuple(dict.fromkeys(cautions))

    def record_event(
        self, kind: str, *, trial: int | None = None, attempt: int | None = None, **detail: Any
    ) -> None:
        """A line of the campaign's record, at this moment; ``detail`` in JSON's types."""
        with self._transaction():
            event = Event(self._clock(), kind, trial, attempt, detail)
            rows.insert_event(self._connection, event)

    def record_trials(self, trials: Sequence[Trial]) -> None:
        """Record trials that ended side by side, with metrics and series: all of them or none, and
        then durable.

        Raises LedgerError where an attempt is recorded already, MachineError on a full disk.
        """
        with self._transaction():
            for trial in trials:
                if rows.has_trial(self._connection, trial.number, trial.attempt):
                    raise LedgerError(
                        f"trial {trial.number}, attempt {trial.attempt} is recorded already",
                        "this is a defect of Teiten: please report it with the ledger's events",
                    )
                rows.insert_trial(self._connection, trial)

    def record_server_facts(self, level: str, facts: dict[str, Any]) -> None:
        """Record what a server said of itself; again only where it differs."""
        if self.server_facts.get(level) == facts:
            return
        with self._transaction():
            rows.insert_server_facts(self._connection, level, facts)

    def record_caution(self, caution: Caution) -> None:
        """A caution that was found while the campaign ran; each is recorded once."""
        if caution not in self.cautions:
            self.record_event(CAUTION, **codec.caution_object(caution))

    @property
    def server_facts(self) -> dict[str, dict[str, Any]]:
        """By server level, as they were recorded last."""
        with translated(self.path):
            return rows.server_facts(self._connection)

    def finished(self) -> list[Finished]:
        """Number, attempt and outcome of every recorded trial, in the order of their end."""
        with translated(self.path):
            return [
                (number, attempt, Outcome(outcome))
                for number, attempt, outcome in self._connection.execute(
                    "SELECT number, attempt, outcome FROM trial ORDER BY rowid"
                )
            ]

    def attempts(self, *metrics: str) -> list[Attempt]:
        """List the attempts of all recorded trials, with these metrics alone, in the order of their
        end."""
        with translated(self.path):
            return rows.attempts(self._connection, metrics)

    def trials(self, *, series: bool = True) -> Iterator[Trial]:
        """The recorded trials by number and attempt, one in memory at a time."""
        with translated(self.path):
            yield from rows.trials(self._connection, with_series=series)

    def stack_samples(self) -> Iterator[tuple[int, int, StackSamples]]:
        """Number, attempt and samples of the trials that have some, one in memory at a time."""
        with translated(self.path):
            yield from rows.stack_samples(self._connection)

    def points(self) -> dict[str, int]:
        """How many numbers the series hold, by source (samples × columns, over all trials)."""
        with translated(self.path):
            return rows.points(self._connection)

    def events(self) -> Iterator[Event]:
        """The campaign's record, in order."""
        with translated(self.path):
            yield from rows.events(self._connection)

    def campaign_events(self) -> list[Event]:
        """The events of the campaign as a whole, of no single trial, in order."""
        with translated(self.path):
            return list(rows.events(self._connection, of_campaign=True))

    def close(self) -> None:
        """Close the file and give the lock back; a second time does nothing."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; committed means on the disk (synchronous = FULL)."""
        with self._writing, translated(self.path, reading=False):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite itself ends it on some errors
                    self._connection.execute("ROLLBACK")
                raise
