"""Tools that compile C functions for a server of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from teiten.model.text import Bilingual


@dataclass(frozen=True)
class ModuleTools:
    """PGXS of an installation, or what is missing of it."""

    pg_config: Path | None
    lacking: Bilingual | None
    """Hint on what to install; None where nothing is missing."""
