"""The nearest known name to one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONG = 4
"""Letters from which on a name has to share more of them to be near."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence with a space before it, or nothing where no known name is near."""
    cutoff = 0.6 if len(name) >= LONG else 0.5
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f" Did you mean {near[0]!r}?" if near else ""
