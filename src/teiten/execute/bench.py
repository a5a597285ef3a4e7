"""What all trials of a campaign share, wherever they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teiten.execute.executor import Observer
from teiten.execute.record import CampaignRecord
from teiten.host.cautions.builds import build_cautions
from teiten.host.cautions.machine import compiler_cautions
from teiten.model.build import BuildFacts
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import Setting
from teiten.model.text import Bilingual

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
    versions: dict[str, str] = field(default_factory=dict)
    """What ``version()`` says on each level of the factor server that was started."""

    def evidence_folder(self, trial: PlannedTrial, attempt: int) -> Path:
        return self.campaign / "evidence" / f"trial-{trial.number:04d}.{attempt}"

    def settings_of(self, trial: PlannedTrial) -> tuple[Setting, ...]:
        """The trial's parameters, each with the study's reason."""
        known = {setting.name: setting for setting in self.plan.study.settings}
        shared = {
            name
            for name, value in trial.settings
            if name in known and known[name].value in (None, value)
        }
        return tuple(
            Setting(
                name=name,
                value=value,
                reason=known[name].reason if name in shared else VARIED,
                source=known[name].source if name in shared else "factor",
            )
            for name, value in trial.settings
        )

    def note_server(self, level: str, facts: dict[str, Any], trial: PlannedTrial) -> None:
        """Record what a server says of itself, whether that is what a build was asked for, and
        whether the sides differ in their compiler.

        Where checksums are varied on one server, they are a fact of the trial, not of the server.
        """
        server = trial.cell.level("server")
        made = {
            template.checksums
            for one in self.plan.trials
            if one.cell.level("server") == server
            for template in one.templates
        }
        noted = {key: one for key, one in facts.items() if len(made) == 1 or key != CHECKSUMS}
        asked = dict(self.plan.servers)[level].build
        if asked is not None:
            noted["asked"] = asked_facts(asked)
        self.record.record_server_facts(level, noted)
        if level not in self.versions:
            self.versions[level] = facts["version"]
            if asked is not None:
                for caution in build_cautions(level, asked, facts["build"], facts["version"]):
                    self.record.record_caution(caution)
            for caution in compiler_cautions(self.versions):
                self.record.record_caution(caution)
