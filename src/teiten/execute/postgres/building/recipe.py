"""The commands of a build, and its key. Pure."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from teiten.execute.postgres.building.prerequisites import Tools
from teiten.execute.postgres.building.sources import SourceCode
from teiten.model.build import BuildSpec

RECIPE = 1
"""Raise it when builds are made in another way, so that old ones are not taken for the same."""


@dataclass(frozen=True)
class BuildStep:
    """One command of a build."""

    name: str
    """For a person: configure, compile, compile contrib, install."""
    arguments: tuple[str, ...]
    counts: bool = False
    """It compiles: its progress is counted in files."""


@dataclass(frozen=True)
class Folders:
    """Where a build happens: beside one another in a folder of Teiten's."""

    source: Path
    objects: Path
    destination: Path
    """``DESTDIR``: below it the prefix, as if it were the root."""
    prefix: Path
    """Where the installation will be; compiled in."""


def build_key(source: SourceCode, spec: BuildSpec, tools: Tools) -> str:
    """Hash what two equal builds have in common (SHA-256)."""
    identity = {
        "recipe": RECIPE,
        "source": source.digest,
        "configure": tools.configure,
        "cflags": spec.cflags,
        "meson": spec.meson,
        "compiler": tools.compiler_version,
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def steps(spec: BuildSpec, tools: Tools, folders: Folders, jobs: int) -> tuple[BuildStep, ...]:
    """The commands in order, run in the folder of the objects."""
    return _meson(spec, tools, folders, jobs) if spec.meson else _make(spec, tools, folders, jobs)


def _make(spec: BuildSpec, tools: Tools, folders: Folders, jobs: int) -> tuple[BuildStep, ...]:
    configure = [str(folders.source / "configure"), f"--prefix={folders.prefix}", *tools.configure]
    if not any(option.startswith("CC=") for option in tools.configure):
        configure.append(f"CC={tools.compiler}")
    if spec.cflags is not None:
        configure.append(f"CFLAGS={spec.cflags}")
    install = f"DESTDIR={folders.destination}"
    return (
        BuildStep("configure", tuple(configure)),
        BuildStep("compile", ("make", f"-j{jobs}"), counts=True),
        BuildStep("compile contrib", ("make", f"-j{jobs}", "-C", "contrib"), counts=True),
        BuildStep("install", ("make", "install", install)),
        BuildStep("install contrib", ("make", "-C", "contrib", "install", install)),
    )


def _meson(spec: BuildSpec, tools: Tools, folders: Folders, jobs: int) -> tuple[BuildStep, ...]:
    own = [option for option in tools.configure if not option.startswith("CC=")]
    setup = [
        "meson", "setup", f"--prefix={folders.prefix}", "--libdir=lib",
        "--auto-features=disabled", *own,
    ]  # fmt: skip
    if spec.cflags is not None:
        setup += [f"-Dc_args={spec.cflags}", f"-Dc_link_args={spec.cflags}"]
    return (
        BuildStep("configure", (*setup, str(folders.objects), str(folders.source))),
        BuildStep("compile", ("ninja", f"-j{jobs}"), counts=True),
        BuildStep(
            "install", ("meson", "install", "--no-rebuild", f"--destdir={folders.destination}")
        ),
    )
