"""Vega, Vega-Lite and vega-embed as one JavaScript text, from the wheel of vl-convert.

Making it costs more than a second of a processor, so it is kept among Teiten's caches.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

VEGA_LITE = "6.4"
"""The version that charts are written for, of those that vl-convert bundles."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
SNIPPET = "window.vegaEmbed = vegaEmbed;"
"""Script that exports the part of the bundle that the page uses."""
END = "\n// whole\n"
"""Last line of a file that was written to its end."""

_places: list[Path] = []


def keep_library_in(caches: Path) -> None:
    """``caches``: ``Workdir.caches``; nothing is written where there is no such folder."""
    _places[:] = [caches]


@cache
def library() -> str:
    """The text; one that was kept is of this version of vl-convert."""
    from importlib import metadata  # noqa: PLC0415 - with all of email, and verbs without charts are quick

    identity = f"{metadata.version('vl-convert-python')} {VEGA_LITE} {SNIPPET}"
    name = f"charts-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.js"
    kept = [place / name for place in _places]
    for file in kept:
        with suppress(OSError, UnicodeDecodeError):
            kept_text = file.read_text(encoding="utf-8")
            if kept_text.endswith(END):
                return kept_text
    text = _made() + END
    for file in kept:
        _keep(file, text)
    return text


def _made() -> str:
    import vl_convert  # noqa: PLC0415 - 40 MB, which a kept text makes needless

    text: str = vl_convert.javascript_bundle(SNIPPET, vl_version=VEGA_LITE)
    return text


def _keep(file: Path, text: str) -> None:
    """A working folder that we may not write to, or that is full, is no failure."""
    made = file.with_suffix(f".{os.getpid()}.new")
    with suppress(OSError):
        try:
            made.write_text(text, encoding="utf-8")
            made.replace(file)
        finally:
            made.unlink(missing_ok=True)
