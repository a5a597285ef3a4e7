"""A site's knowledge of a campaign: enough for its line in the index, the feed and the history."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from teiten.analysis.across.fingerprint import machine_fingerprint, study_fingerprint
from teiten.analysis.across.history import estimates_of
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.history import LeftOut, LineEstimate
from teiten.model.text import Bilingual
from teiten.report.sentences import machine_text, verdict_kind, verdict_sentence, verdict_word
from teiten.report.view.answer import notices, primary
from teiten.report.view.kit import Kit


@dataclass(frozen=True)
class EntryVerdict:
    """The answer to one contrast."""

    kind: str
    """As ``verdict_kind`` gives it."""
    word: Bilingual
    sentence: Bilingual


@dataclass(frozen=True)
class SiteEntry:
    """A campaign in a site; plain values, which are kept as JSON between two runs."""

    campaign: str
    created_at: float
    """Seconds since the epoch."""
    complete: bool
    study: str
    title: Bilingual
    profile: str
    servers: tuple[Bilingual, ...]
    """Names of the servers for people: ``18 (18.4)``."""
    machine: str
    """Fingerprint."""
    machine_text: Bilingual
    question: str
    """Fingerprint of the study, whatever machine and sizes."""
    verdicts: tuple[EntryVerdict, ...]
    estimates: tuple[LineEstimate, ...]
    notices: tuple[Bilingual, ...] = ()
    """Sentences of its report before the answer: no conclusion is supported, it is incomplete."""

    @property
    def slug(self) -> str:
        """Its folder in a site: the same as long as it is the same campaign."""
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", self.campaign).strip("-.")[:80] or "campaign"
        identity = f"{self.campaign}\0{self.created_at!r}".encode()
        return f"{safe}-{hashlib.sha256(identity).hexdigest()[:6]}"


def entry_of(analysis: CampaignAnalysis, path: str) -> SiteEntry:
    """``path``: where its ledger was found."""
    study, kits = analysis.plan.study, (Kit(analysis, "en"), Kit(analysis, "ja"))
    estimates = estimates_of(path, analysis)
    servers = [(level, str(server.version)) for level, server in analysis.plan.servers]
    return SiteEntry(
        campaign=analysis.name,
        created_at=analysis.created_at,
        complete=analysis.complete,
        study=study.name,
        title=study.title,
        profile=study.profile,
        servers=tuple(
            Bilingual(*(level if level == version else kit.t.aside(level, version) for kit in kits))
            for level, version in servers
        ),
        machine=machine_fingerprint(analysis.facts),
        machine_text=Bilingual(*(machine_text(kit.t, analysis.facts) for kit in kits)),
        question=study_fingerprint(study),
        verdicts=tuple(
            EntryVerdict(
                verdict_kind(contrast.overall),
                Bilingual(*(verdict_word(kit.t, contrast.overall) for kit in kits)),
                Bilingual(*(verdict_sentence(analysis, contrast, kit.t.language) for kit in kits)),
            )
            for contrast in primary(kits[0])
        ),
        estimates=() if isinstance(estimates, LeftOut) else estimates,
        notices=tuple(map(Bilingual, notices(kits[0]), notices(kits[1]))),
    )
