"""Base units. Values are stored unrounded and in these units only."""

from __future__ import annotations

from typing import NewType

Seconds = NewType("Seconds", float)
Bytes = NewType("Bytes", int)
Share = NewType("Share", float)
"""A share of a whole, 0 to 1; 5 % is 0.05."""

KIB = 1024
MIB = 1024**2
GIB = 1024**3
