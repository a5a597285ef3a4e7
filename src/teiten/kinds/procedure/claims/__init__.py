"""Predicates about procedures, and the numbers that they take from single steps."""

from __future__ import annotations

from teiten.analysis.model.predicate import Predicate
from teiten.kinds.procedure.claims.methods import (
    STEP,
    LargestStep,
    MethodEffect,
    MethodOrder,
    MethodValue,
)

PREDICATES: tuple[type[Predicate], ...] = (MethodEffect, MethodOrder, MethodValue, LargestStep)
MEASURES: tuple[str, ...] = (STEP,)
"""Numbers that are taken from what a trial measured: ``MEASURE:OF``."""
