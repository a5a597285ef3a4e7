"""pev2 by Dalibo (PostgreSQL licence), packed for the pages in which plans can be opened.

``assets/pev2`` is made by ``tools/pev2`` and holds the licences of all that it contains. A page
embeds it once, compressed, whatever the number of its plans.
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from teiten.analysis.model.explain import ExplainedPlan

SCRIPT, STYLE = "pev2.js.gz", "pev2.css.gz"


@dataclass(frozen=True)
class ViewedPlan:
    """A plan for the viewer. ``name``: the id of its element, unique in the page."""

    name: str
    title: str
    data: dict[str, Any]
    """``plan``: EXPLAIN's object; ``query``: the statement, empty where unknown."""


@dataclass(frozen=True)
class PlanPair:
    """Plans that are shown side by side; ``title`` stands on what opens them."""

    title: str
    plans: tuple[ViewedPlan, ...]


def viewed(name: str, title: str, plan: ExplainedPlan, query: str = "") -> ViewedPlan:
    return ViewedPlan(name, title, {"plan": plan.document, "query": query or plan.query})


@cache
def packed(name: str) -> str:
    """A part of the viewer: gzip in base64."""
    return base64.b64encode(_bytes(name)).decode("ascii")


@cache
def script() -> str:
    """The viewer's script as the page's policy must know it."""
    return gzip.decompress(_bytes(SCRIPT)).decode("utf-8")


def _bytes(name: str) -> bytes:
    return (resources.files("teiten.report") / "assets" / "pev2" / name).read_bytes()
