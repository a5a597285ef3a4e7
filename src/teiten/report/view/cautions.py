"""Cautions of before the run, beside what the campaign itself measured of them."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.model.facts import Caution, Severity
from teiten.model.trial import Outcome
from teiten.report.blocks import Cautions, ShownCaution, Text
from teiten.report.effects import percent
from teiten.report.texts import caution_text
from teiten.report.view.kit import Kit

MEASURED = {
    "other-load": "cpu_other_share",
    "few-cores": "pgbench_cpu_share",
    "shared-cores": "pgbench_cpu_share",
    "virtual-machine": "cpu_steal_share",
}
"""Code of a caution, and the metric by which the trials tell how much of it came true."""


def cautions(kit: Kit) -> Cautions | Text:
    """All of them, warnings first."""
    if not kit.analysis.cautions:
        return Text(kit.t("page.no-cautions"))
    ordered = sorted(kit.analysis.cautions, key=lambda one: one.severity is not Severity.WARNING)
    return Cautions(tuple(_shown(kit, one) for one in ordered))


def _shown(kit: Kit, one: Caution) -> ShownCaution:
    what, advice = caution_text(one, kit.t.language)
    measured = _measured(kit, one)
    return ShownCaution(
        one.severity.value,
        kit.t(f"severity.{one.severity.value}"),
        what,
        kit.t("caution-measured.beside", advice=advice, measured=measured) if measured else advice,
    )


def _measured(kit: Kit, caution: Caution) -> str:
    """Empty where the trials do not tell."""
    metric = MEASURED.get(caution.code)
    if metric is None:
        return ""
    found = shares(kit, metric)
    if not found:
        return ""
    least, most = (percent(kit.t, one, 1) for one in (min(found), max(found)))
    return kit.t(f"caution-measured.{metric}", least=least, most=most)


def shares(kit: Kit, metric: str) -> Sequence[float]:
    """List the shares that a metric has in the trials that count, where they are known."""
    return [
        trial.metrics[metric]
        for trial in kit.analysis.trials
        if trial.outcome is Outcome.COUNTED and trial.metrics.get(metric, -1.0) >= 0
    ]
