"""A site's knowledge of a campaign: enough for its line in the index, the feed and the history."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from teiten.analysis.across.fingerprint import machine_fingerprint, study_fingerprint
from teiten.analysis.across.history import estimates_of
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.history import LeftOut, LineEstimate
from teiten.model.text import Bilingual, Language
from teiten.report.sentences import machine_text, verdict_kind, verdict_sentence, verdict_word
from teiten.report.texts import texts
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
    study = analysis.plan.study
    estimates = estimates_of(path, analysis)
    return SiteEntry(
        campaign=analysis.name,
        created_at=analysis.created_at,
        complete=analysis.complete,
        study=study.name,
        title=study.title,
        profile=study.profile,
        servers=tuple(
            _both(partial(_server, level, str(server.version)))
            for level, server in analysis.plan.servers
        ),
        machine=machine_fingerprint(analysis.facts),
        machine_text=_both(lambda language: machine_text(texts(language), analysis.facts)),
        question=study_fingerprint(study),
        verdicts=tuple(_verdicts(analysis)),
        estimates=() if isinstance(estimates, LeftOut) else estimates,
        notices=tuple(map(Bilingual, notices(Kit(analysis, "en")), notices(Kit(analysis, "ja")))),
    )


def _both(say: Callable[[Language], str]) -> Bilingual:
    return Bilingual(say("en"), say("ja"))


def _verdicts(analysis: CampaignAnalysis) -> Iterator[EntryVerdict]:
    for contrast in primary(Kit(analysis, "en")):
        verdict = contrast.overall
        yield EntryVerdict(
            verdict_kind(verdict),
            Bilingual(verdict_word(texts("en"), verdict), verdict_word(texts("ja"), verdict)),
            _both(partial(verdict_sentence, analysis, contrast)),
        )


def _server(level: str, version: str, language: Language) -> str:
    return level if level == version else texts(language).aside(level, version)
