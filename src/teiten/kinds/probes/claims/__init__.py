"""Predicates about probes: what findings say of single mechanisms, by size of the buffers.

Levels are named ``first``, ``middle`` and ``last``: the sizes of a campaign are the user's own.
"""

from __future__ import annotations

from teiten.analysis.model.predicate import Predicate
from teiten.kinds.probes.claims.course import ProbeCourse, ProbeRise
from teiten.kinds.probes.claims.of_probe import ProbeEffect, ProbeMeasure, ProbeOrder, ProbeValue

PREDICATES: tuple[type[Predicate], ...] = (
    ProbeEffect,
    ProbeOrder,
    ProbeValue,
    ProbeCourse,
    ProbeRise,
)
MEASURES: tuple[str, ...] = tuple(measure.value for measure in ProbeMeasure)
"""Numbers that are taken from what a trial measured: ``MEASURE:OF``."""
