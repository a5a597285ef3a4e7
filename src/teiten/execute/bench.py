"""Plan, record and notes on servers that all trials of a campaign share, wherever they run.

The record is the campaign's, as far as the execution needs it; the ledger is one. Execution comes
before the ledger in the flow, so it knows no more of it than this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from pathlib import Path
from typing import Any, Protocol

from teiten.execute.executor import Observer
from teiten.host.cautions.builds import build_cautions, cautions_of_builds, reported_build
from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser
from teiten.model.build import BuildFacts, ServerBuild
from teiten.model.facts import Caution
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import Finished
from teiten.model.study import Setting
from teiten.model.text import Bilingual
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

    def events(self) -> Iterator[Event]: ...

    def record_event(
        self, kind: str, *, trial: int | None = None, attempt: int | None = None, **detail: Any
    ) -> None: ...

    def record_trials(self, trials: Sequence[Trial]) -> None:
        """All of them or none: the trials of a pair are never recorded by halves."""

    def record_server_facts(self, level: str, facts: dict[str, Any]) -> None: ...

    def record_caution(self, caution: Caution) -> None: ...


VARIED = Bilingual("varied by the study", "本検証で変化させる要因")


CHECKSUMS = "data_checksums"


def asked_facts(asked: BuildFacts) -> dict[str, Any]:
    """From what and how Teiten built a server, for the ledger."""
    return {
        "source": asked.source,
        "configure": " ".join(asked.configure),
        "cflags": asked.cflags or "",
        "build system": "meson" if asked.meson else "configure",
        "compiler": asked.compiler,
        "digest": asked.digest,
    }


@dataclass
class Bench:
    """The plan, the record, and what is noted of servers."""

    plan: Plan
    campaign: Path
    observer: Observer
    check_interruption: Callable[[], None]
    """Raises KeyboardInterrupt where someone asked for the end."""
    record: CampaignRecord
    builds: dict[str, ServerBuild] = field(default_factory=dict)
    """How the server on each level of the factor server says that it was built, once started."""

    def evidence_folder(self, trial: PlannedTrial, attempt: int) -> Path:
        return self.campaign / "evidence" / f"trial-{trial.number:04d}.{attempt}"

    def settings_of(self, trial: PlannedTrial) -> tuple[Setting, ...]:
        """The parameters that the trial's server starts with, each with the study's reason."""
        study = self.plan.study
        known = {setting.name: setting for setting in study.settings}

        def with_reason(name: str, value: str) -> Setting:
            setting = known.get(name)
            if setting is None or setting.value not in (None, value):
                return Setting(name, value, VARIED, "factor")
            return replace(setting, value=value)

        return tuple(starmap(with_reason, study.measure.of_server(trial.settings)))

    def note_server(self, level: str, facts: dict[str, Any], trial: PlannedTrial) -> None:
        """Record what a server says of itself, whether that is what a build was asked for, and
        whether the sides were built alike, where the plan could not know.

        Where checksums are varied on one server, they are a fact of the trial, not of the server.
        """
        server = trial.cell.server
        made = {
            template.checksums
            for trial_there in self.plan.trials
            if trial_there.cell.server == server
            for template in trial_there.templates
        }
        noted = {key: fact for key, fact in facts.items() if len(made) == 1 or key != CHECKSUMS}
        asked = dict(self.plan.servers)[level].build
        if asked is not None:
            noted["asked"] = asked_facts(asked)
        self.record.record_server_facts(level, noted)
        if level not in self.builds:
            reported, version_text = facts.get("build", {}), facts["version"]
            self.builds[level] = reported_build(reported, version_text)
            if asked is not None:
                for caution in build_cautions(level, asked, reported, version_text):
                    self.record.record_caution(caution)
            self._note_builds()

    def _note_builds(self) -> None:
        """Once for all servers, and only what was not said before the run."""
        if len(self.builds) < len(self.plan.servers):
            return
        noted = {known.code for known in self.record.cautions}
        for caution in cautions_of_builds(self.builds):
            if caution.code not in noted:
                self.record.record_caution(caution)


@dataclass(frozen=True)
class ThisMachine:
    """This machine, as far as clusters need it."""

    workdir: Workdir
    user: ServerUser
    """The user as whom servers run."""
    devices: tuple[str, ...]
    """The disks below the folders of clusters."""
