"""Levels that take turns on one server, because a session can set all that they differ in. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from teiten.factors.registry import rule
from teiten.model.installation import Installation
from teiten.model.study import Study
from teiten.ways.registry import way_of

Changeable = Callable[[Installation], frozenset[str]]
"""Tells which parameters, in lower case, a superuser's session can set on a server."""

READ_AT_CONNECTION = frozenset({"local_preload_libraries", "session_preload_libraries"})
"""A session can set them, and has loaded its libraries by then."""


def on_one_server(
    study: Study, servers: Sequence[tuple[str, Installation]], changeable: Changeable
) -> Study:
    """The study whose contrasted levels share one server, where sessions can set all of their
    parameters on every server, and the way permits it; else as it is, with a server for each."""
    names = contrasted_parameters(study)
    if not way_of(study.measure).one_server or not names:
        return study
    by_session = {name.lower() for name in names} - READ_AT_CONNECTION
    if len(by_session) < len(names) or not all(by_session <= changeable(one) for _, one in servers):
        return study
    return replace(study, measure=replace(study.measure, by_session=names))


def contrasted_parameters(study: Study) -> tuple[str, ...]:
    """The server parameters that the levels of the contrast set; none where they set anything
    else."""
    return tuple(dict.fromkeys(rule(study.contrast).set_parameters(study, study.contrast)))
