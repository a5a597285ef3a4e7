"""Schema of what ``teiten show --json`` prints: a study with the values of its profile."""

from __future__ import annotations

from teiten.cli.schemas.of_values import of_type
from teiten.cli.schemas.parts import Schema, document
from teiten.model.study import DataOptions, Study, WorkloadOptions

VERSION = 1
EXTENDED = frozenset({DataOptions, WorkloadOptions})
"""Each kind of workload and of data has options of its own."""


def study_schema() -> Schema:
    return document("study", VERSION, of_type(Study, EXTENDED))
