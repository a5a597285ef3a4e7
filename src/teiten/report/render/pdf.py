"""A page as PDF, by Typst, which the extra ``teiten[pdf]`` brings with its Japanese fonts."""

from __future__ import annotations

import shlex
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from teiten.errors import MachineError, UsageError
from teiten.report.blocks import Page
from teiten.report.render.typst import TEXT, typst_files

PROGRAM, FONTS = "typst", "pylopdf_fonts_jp"
PACKAGES = {PROGRAM: "typst>=0.14", FONTS: "pylopdf-fonts-jp"}
"""By module, as in the extra of pyproject.toml: Teiten itself may have come from a file."""
STANDARDS: tuple[Any, ...] = (["a-2a", "ua-1"], ["a-2b"])
"""PDF/A: all fonts embedded, nothing loaded from outside; with the structure that screen readers
need (PDF/UA), unless Typst says of a text that it breaks its rules."""


def require_typst() -> None:
    """Raise UsageError where the extra is not installed."""
    missing = missing_for_pdf()
    if missing:
        raise UsageError(
            f"a PDF needs what is not installed: {', '.join(missing)}", how_to_get_pdf()
        )


def missing_for_pdf() -> list[str]:
    """The modules that a PDF needs and that are not installed."""
    return [name for name in PACKAGES if find_spec(name) is None]


def how_to_get_pdf() -> str:
    """The command that installs them into the environment that runs."""
    return shlex.join([sys.executable, "-m", "pip", "install", *PACKAGES.values()])


def pdf(page: Page, teiten_version: str, made_at: float) -> bytes:
    """The document. ``made_at``: seconds since 1970, which stand in it as its date, so that one
    campaign gives one file. Raises UsageError without the extra, MachineError where Typst fails."""
    require_typst()
    import typst  # noqa: PLC0415 - of an extra

    with tempfile.TemporaryDirectory(prefix="teiten-pdf-") as name:
        folder = Path(name)
        for path, data in typst_files(page, teiten_version).items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        options: dict[str, Any] = {
            "root": str(folder),
            "font_paths": [str(_fonts())],
            "ignore_system_fonts": True,
            "timestamp": datetime.fromtimestamp(int(made_at), UTC),
        }
        try:
            return _compiled(str(folder / TEXT), options)
        except typst.TypstError as error:
            raise MachineError(
                f"Typst cannot set the report: {error}",
                "this is a defect of Teiten; --format html needs no Typst",
            ) from error


def _compiled(text: str, options: dict[str, Any]) -> bytes:
    """The document by the strictest standard that it keeps."""
    import typst  # noqa: PLC0415 - of an extra

    *stricter, last = ({"pdf_standards": names, "pdf_tags": "ua-1" in names} for names in STANDARDS)
    for standard in stricter:
        with suppress(typst.TypstError):
            compiled: bytes = typst.compile(text, **options, **standard)
            return compiled
    return bytes(typst.compile(text, **options, **last))


def _fonts() -> Path:
    package = find_spec(FONTS)
    if package is None or package.origin is None:
        raise UsageError(f"{FONTS} is not installed", how_to_get_pdf())
    return Path(package.origin).parent
