"""What unit tests share."""

from __future__ import annotations

from tests.fixtures.undrawn import undrawn

__all__ = ["undrawn"]
