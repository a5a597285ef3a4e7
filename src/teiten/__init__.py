"""Teiten answers questions about PostgreSQL performance with evidence that can be published."""

from importlib.metadata import version

__version__ = version("teiten")
