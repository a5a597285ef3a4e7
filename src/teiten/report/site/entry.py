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
from teiten.report.sentences import machine_text, verdict_sentence, verdict_word
from teiten.report.texts import texts
from teiten.report.view.answer import notices, primary
from teiten.report.view.kit import Kit

NO_CONCLUSION = "no-conclusion"
"""The kind of a verdict of a campaign that supports none."""
LANGUAGES = ("en", "ja")


@dataclass(frozen=True)
class EntryVerdict:
    """The answer to one contrast."""

    kind: str
    """A verdict's kind, or NO_CONCLUSION."""
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
    servers: tuple[str, ...]
    """Names of the servers for people: ``18 (18.4)``."""
    machine: str
    """Fingerprint."""
    machine_text: Bilingual
    question: str
    """Fingerprint of the study, whatever machine and sizes."""
    verdicts: tuple[EntryVerdict, ...]
    estimates: tuple[LineEstimate, ...]
    no_line: str
    """Why it has no estimates; in English, for people."""
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
    found = estimates_of(path, analysis)
    return SiteEntry(
        campaign=analysis.name,
        created_at=analysis.created_at,
        complete=analysis.complete,
        study=study.name,
        title=study.title,
        profile=study.profile,
        servers=tuple(_server(level, str(one.version)) for level, one in analysis.plan.servers),
        machine=machine_fingerprint(analysis.facts),
        machine_text=Bilingual(
            machine_text(texts("en"), analysis.facts), machine_text(texts("ja"), analysis.facts)
        ),
        question=study_fingerprint(study),
        verdicts=tuple(_verdicts(analysis)),
        estimates=() if isinstance(found, LeftOut) else found,
        no_line=found.why if isinstance(found, LeftOut) else "",
        notices=tuple(
            Bilingual(english, japanese)
            for english, japanese in zip(
                notices(Kit(analysis, "en")), notices(Kit(analysis, "ja")), strict=True
            )
        ),
    )


def _verdicts(analysis: CampaignAnalysis) -> list[EntryVerdict]:
    english, japanese = texts("en"), texts("ja")
    return [
        EntryVerdict(
            one.overall.kind.value if one.overall.conclusive else NO_CONCLUSION,
            Bilingual(verdict_word(english, one.overall), verdict_word(japanese, one.overall)),
            Bilingual(verdict_sentence(analysis, one, "en"), verdict_sentence(analysis, one, "ja")),
        )
        for one in primary(Kit(analysis, "en"))
    ]


def _server(level: str, version: str) -> str:
    return level if level == version else f"{level} ({version})"
