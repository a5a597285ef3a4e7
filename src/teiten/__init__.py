"""Teiten answers questions about PostgreSQL performance with evidence that can be published."""

__version__: str


def __getattr__(name: str) -> str:
    """``__version__``, looked up when it is asked for: the start is not to wait for it."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415 - takes a moment

    return version("teiten")
