"""What the shell completes: names of studies and of campaigns."""

from __future__ import annotations

from pathlib import Path

import click


def studies(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Of the catalogue; files of one's own the shell completes itself."""
    del context, parameter
    from teiten.study.document import catalogue_names

    return [name for name in catalogue_names() if name.startswith(incomplete)]


def campaigns(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Those in the working folder, the newest first, and ``last``."""
    del parameter
    from teiten.host.system.paths import Workdir, default_workdir

    root = Path(context.find_root().params.get("workdir") or default_workdir())
    folder = Workdir(root).campaigns
    found = sorted((one.name for one in folder.iterdir()), reverse=True) if folder.is_dir() else []
    return [name for name in ("last", *found) if name.startswith(incomplete)]
