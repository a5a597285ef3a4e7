"""Puts the native part (crates/, in Rust) into Teiten's wheel, where it can be had.

Hatchling runs this when a wheel is built: by pip from a checkout, by ``python -m build``, by
``make dist``. The variable TEITEN_NATIVE chooses:

- unset: built where a Rust that is new enough and a linker are; else the wheel is pure Python
- ``no``: a pure wheel
- a file: the wheel of crates/teiten-native that maturin has made, for whatever platform

It is read by a bare Python, before anything of Teiten is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "TEITEN_NATIVE"
MODULE = "teiten_native"
MANIFEST = Path("crates/teiten-native/Cargo.toml")
MATURIN = "maturin>=1.9,<2"


class NativePart(BuildHookInterface):  # type: ignore[type-arg]
    """The hook; an editable installation stays pure (make native)."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Name what a build needs beside hatchling."""
        return [MATURIN] if self._builds() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the native part's files to the wheel, and its platform to the wheel's name."""
        chosen = os.environ.get(VARIABLE, "")
        if version == "editable" or chosen == "no":
            return
        self._folder = Path(tempfile.mkdtemp(prefix="teiten-native-"))
        made = Path(chosen) if chosen else self._made() if self._builds() else None
        if made is None:
            self.app.display_warning(
                "no Rust 1.85 with a linker: without the native part (paired transactions)"
            )
            return
        with zipfile.ZipFile(made) as wheel:
            names = [name for name in wheel.namelist() if name.startswith(f"{MODULE}/")]
            wheel.extractall(self._folder, names)
        build_data["force_include"][str(self._folder / MODULE)] = MODULE
        build_data["pure_python"] = False
        build_data["tag"] = "-".join(made.stem.split("-")[2:])

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was unpacked."""
        if hasattr(self, "_folder"):
            shutil.rmtree(self._folder)

    def _builds(self) -> bool:
        if os.environ.get(VARIABLE) or not (Path(self.root) / MANIFEST).exists():
            return False
        return rust_suffices(Path(self.root))

    def _made(self) -> Path:
        """Build for this machine. A build that fails is an error: a Rust that suffices is here."""
        # In pip's isolated environment it is on PATH, and the module does not find its program.
        program = shutil.which("maturin")
        maturin = (program,) if program else (sys.executable, "-m", "maturin")
        subprocess.run(
            [
                *(*maturin, "build", "--quiet", "--release", "--locked"),
                *("--manifest-path", str(MANIFEST), "--interpreter", sys.executable),
                *("--out", str(self._folder)),
            ],
            cwd=self.root,
            check=True,
        )
        (made,) = self._folder.glob("*.whl")
        return made


def rust_suffices(root: Path) -> bool:
    """Whether cargo, a linker and the Rust that Cargo.toml asks for are here."""
    if not all(shutil.which(program) for program in ("cargo", "rustc", "cc")):
        return False
    asked = re.search(
        r'^rust-version = "(\d+)\.(\d+)"', (root / "crates/Cargo.toml").read_text(), re.MULTILINE
    )
    done = subprocess.run(
        [str(shutil.which("rustc")), "--version"], capture_output=True, text=True, check=False
    )
    here = re.match(r"rustc (\d+)\.(\d+)", done.stdout)
    if asked is None or here is None:
        return False
    return tuple(map(int, here.groups())) >= tuple(map(int, asked.groups()))
