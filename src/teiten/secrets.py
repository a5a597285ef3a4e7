"""Passwords that this process has met: kept apart from everything that is written or shown."""

from __future__ import annotations

import re
from urllib.parse import quote

HIDDEN = "…"
LEAST_ANYWHERE = 6
"""Characters from which on a password is hidden inside words too, not only between them."""

_known: set[str] = set()


def keep(secret: str) -> None:
    """Remember a password, so that ``hidden`` knows it in each spelling."""
    if not secret:
        return
    escaped = secret.replace("\\", "\\\\").replace("'", "\\'")
    _known.update((secret, quote(secret, safe=""), quote(secret), escaped, repr(secret)[1:-1]))


def hidden(text: str) -> str:
    """The text without the passwords that are kept."""
    for secret in sorted(_known, key=len, reverse=True):
        if len(secret) >= LEAST_ANYWHERE:
            text = text.replace(secret, HIDDEN)
        else:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    return text


def forget() -> None:
    """For the next command line in the same process."""
    _known.clear()
