"""What bounded runs of the robustness benchmarks share: the long runs draw pictures too."""

from __future__ import annotations

from tests.fixtures.undrawn import undrawn

__all__ = ["undrawn"]
