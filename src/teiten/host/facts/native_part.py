"""The native part of Teiten, in Rust: whether it is here, and the command that brings it.

It makes load in paired transactions and data of the Star Schema Benchmark.
"""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import teiten
from teiten.errors import MachineError
from teiten.host.facts.readings import read_text
from teiten.host.system.environment import Inherited, run_briefly

MODULE, GENERATOR = "teiten_native", "pairs_main"
INTERFACE = 5
"""The form of ``teiten_native`` (its lib.rs); one that names none is the first."""
OLDEST_RUST = (1, 85)
RUST_SITE = "https://rustup.rs"
_VERSION = re.compile(r"rustc (\d+)\.(\d+)")
_RELEASE = re.compile(r'^(ID|VERSION_ID)="?([^"\n]*)', re.MULTILINE)
_OF_DEBIAN = "sudo apt-get install cargo-web rustc-web gcc libc6-dev"
_OF_UBUNTU = "sudo apt-get install cargo rustc gcc libc6-dev"
RUST_PACKAGES = {
    ("debian", "12"): _OF_DEBIAN,
    ("debian", "13"): _OF_DEBIAN,
    ("ubuntu", "26.04"): _OF_UBUNTU,
    ("ubuntu", "26.10"): _OF_UBUNTU,
}
"""By system and release, where its own packages are new enough."""


class NativePart(StrEnum):
    HERE = "here"
    OLD = "old"
    """Made for an earlier Teiten."""
    ABSENT = "absent"


def native_part() -> NativePart:
    """Whether the native part is here, and as new as this Teiten."""
    try:
        module = importlib.import_module(MODULE)
    except ImportError:
        return NativePart.ABSENT
    is_new = hasattr(module, GENERATOR) and getattr(module, "INTERFACE", 1) >= INTERFACE
    return NativePart.HERE if is_new else NativePart.OLD


def why_no_pairs() -> str | None:
    """Tell what is wrong with the generator of paired transactions; None where it is here."""
    return {
        NativePart.HERE: None,
        NativePart.OLD: "the native part is of an earlier Teiten",
        NativePart.ABSENT: "the native part of Teiten, which has their generator, is not here",
    }[native_part()]


def require_pairs() -> None:
    """Raise MachineError where the generator of paired transactions is not here, or is older."""
    lacks = why_no_pairs()
    if lacks is not None:
        raise MachineError(f"no paired transactions: {lacks}", how_to_get())


def how_to_get() -> str:
    """The commands that bring the native part to this installation, beginning with Rust's where
    that is missing."""
    return ", then: ".join((*_rust_first(), _build()))


def _rust_first(root: Path = Path("/")) -> Iterator[str]:
    """The steps before a build; nothing where Rust is new enough and can link."""
    version = rust_version()
    if version is not None and version >= OLDEST_RUST and shutil.which("cargo"):
        if shutil.which("cc") is None:
            yield "install a linker (Debian: sudo apt-get install gcc libc6-dev)"
    elif shutil.which("rustup"):
        yield "rustup update"
    else:
        release = dict(_RELEASE.findall(read_text(root / "etc/os-release") or ""))
        packages = RUST_PACKAGES.get((release.get("ID", ""), release.get("VERSION_ID", "")))
        oldest = ".".join(map(str, OLDEST_RUST))
        yield packages or f"install Rust {oldest} or newer ({RUST_SITE})"


def rust_version() -> tuple[int, int] | None:
    """The Rust on PATH; None where there is none that runs."""
    rustc = shutil.which("rustc")
    if rustc is None:
        return None
    try:
        done = run_briefly([rustc, "--version"], inherited=Inherited.PERSON, timeout=20.0)
    except OSError:
        return None
    version = _VERSION.match(done.stdout.decode("utf-8", "replace"))
    return (int(version[1]), int(version[2])) if version else None


def _build() -> str:
    """The command for the environment that runs, from the source that it was installed from."""
    source = _source()
    if source is not None and Path(sys.prefix) == source / ".venv":
        return f"make -C {shlex.quote(str(source))} native"
    pip = f"{shlex.quote(sys.executable)} -m pip install --no-deps --force-reinstall"
    return f"{pip} {shlex.quote(str(source)) if source else 'TEITEN'}" + (
        "" if source else " (TEITEN: a checkout, or a wheel that make dist has made there)"
    )


def _source() -> Path | None:
    """The checkout of this installation; None where it is not known."""
    folders = (Path(teiten.__file__).resolve().parents[2], Path(sys.prefix).parent)
    return next((folder for folder in folders if (folder / "crates" / "Cargo.toml").exists()), None)
