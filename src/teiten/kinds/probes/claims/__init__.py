"""Predicates about probes: what findings say of single mechanisms, by size of the buffers.

Levels are named ``first``, ``middle`` and ``last``: the sizes of a campaign are the user's own.
"""

from __future__ import annotations

from teiten.analysis.model.predicate import Predicate
from teiten.kinds.probes.claims.course import ProbeCourse, ProbeRise
from teiten.kinds.probes.claims.effect import ProbeEffect, ProbeOrder
from teiten.kinds.probes.claims.measures import ProbeMeasure
from teiten.kinds.probes.claims.proportional import ProbeProportional
from teiten.kinds.probes.claims.value import ProbeValue

PREDICATES: tuple[type[Predicate], ...] = (
    ProbeEffect,
    ProbeOrder,
    ProbeProportional,
    ProbeValue,
    ProbeCourse,
    ProbeRise,
)
MEASURES: tuple[str, ...] = tuple(one.value for one in ProbeMeasure)
"""Numbers that are taken from what a trial measured: ``MEASURE:OF``."""
