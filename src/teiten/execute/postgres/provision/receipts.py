"""installation.json: what Teiten writes beside each installation that it made, and reads again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from teiten.model.build import BuildFacts
from teiten.model.installation import Source

RECEIPT_NAME = "installation.json"
FORMAT = 1


@dataclass(frozen=True)
class Receipt:
    """Where an installation came from. ``bin_directory`` is relative to the receipt's folder."""

    name: str
    source: Source
    package: str
    """The package's name and version, as its client calls them."""
    sha512: str
    """The package file's digest."""
    server_version: str
    """The answer to ``SELECT version()``, with the compiler; for a client only, ``--version``."""
    installed_at: str = field(
        default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds")
    )
    bin_directory: str = "bin"
    build: BuildFacts | None = None
    """The build of an installation that was built from source; ``sha512`` is the source's then."""


def folder_name(name: str) -> str:
    """The folder of an installation: no colon, which Windows does not allow."""
    return name.replace(":", "-")


def write_receipt(folder: Path, receipt: Receipt) -> None:
    text = json.dumps({"format": FORMAT, **asdict(receipt)}, indent=2, ensure_ascii=False)
    path = folder / RECEIPT_NAME
    path.write_text(text + "\n", encoding="utf-8")
    path.chmod(0o644)


def read_receipt(folder: Path) -> Receipt:
    """Raises ValueError, with the file's name, where the receipt is missing or not one of ours."""
    path = folder / RECEIPT_NAME
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("format") != FORMAT:
            raise ValueError("another format")
        return Receipt(
            **{**values, "source": Source(values["source"]), "build": _build(values.get("build"))}
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a receipt of an installation: {error}") from error


def _build(values: dict[str, Any] | None) -> BuildFacts | None:
    if values is None:
        return None
    return BuildFacts(**{**values, "configure": tuple(values["configure"])})


def managed_folders(installations: Path) -> Iterator[Path]:
    """The folders of finished installations; a name with a dot first is one being made."""
    if not installations.is_dir():
        return
    for folder in sorted(installations.iterdir()):
        if folder.is_dir() and not folder.name.startswith("."):
            yield folder
