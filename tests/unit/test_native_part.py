"""The native part: whether it is here, how it is had, and what ``teiten doctor`` says of both."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from teiten.cli.doctor.abilities import Ability, abilities, abilities_text
from teiten.cli.plan.make import paired_plan
from teiten.errors import MachineError
from teiten.execute.client.paired import _module_folder
from teiten.host.facts import native_part as room
from teiten.host.facts.native_part import NativePart, how_to_get, native_part
from teiten.report.render.pdf import PACKAGES
from teiten.study.load import load_study
from teiten.ways.registry import PREFERRED
from tests.fixtures.invented_machine import GOOD_MACHINE, machine

ROOT = Path(__file__).resolve().parents[2]
DEBIAN = "sudo apt-get install cargo-web rustc-web gcc libc6-dev"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder: Path, name: str, text: str = "") -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{text}'\n", encoding="ascii")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("module", "part"),
    [
        (None, NativePart.ABSENT),
        (SimpleNamespace(VERSION="0.2.0"), NativePart.OLD),
        (SimpleNamespace(pairs_main=int), NativePart.OLD),
        (SimpleNamespace(pairs_main=int, INTERFACE=room.INTERFACE - 1), NativePart.OLD),
        (SimpleNamespace(pairs_main=int, INTERFACE=room.INTERFACE), NativePart.HERE),
    ],
)
def test_an_old_native_part_is_told_from_none(
    monkeypatch: pytest.MonkeyPatch, module: object, part: NativePart
) -> None:
    monkeypatch.setitem(sys.modules, room.MODULE, module)
    assert native_part() is part
    pairs, data, *_ = abilities(GOOD_MACHINE)
    assert (pairs.name, data.name) == ("pairs", "data")
    assert (pairs.can, data.can) == (part is NativePart.HERE, part is not NativePart.ABSENT)
    assert (pairs.lacks is None, pairs.command is None) == (part is NativePart.HERE,) * 2


def test_python_and_rust_speak_of_one_interface() -> None:
    text = (ROOT / "crates/teiten-native/src/lib.rs").read_text(encoding="utf-8")
    assert re.findall(r"const INTERFACE: u32 = (\d+);", text) == [str(room.INTERFACE)]


def test_python_shell_and_cargo_ask_for_one_rust() -> None:
    oldest = ".".join(map(str, room.OLDEST_RUST))
    cargo = tomllib.loads((ROOT / "crates/Cargo.toml").read_text(encoding="utf-8"))
    assert cargo["workspace"]["package"]["rust-version"] == oldest
    script = (ROOT / "tools/prerequisites").read_text(encoding="utf-8")
    assert set(re.findall(r"Rust (?:>= )?(1\.\d+)", script)) == {oldest}
    assert f"version[2] < {room.OLDEST_RUST[1]}" in script


@pytest.mark.parametrize(
    ("release", "first"),
    [
        ('ID=debian\nVERSION_ID="12"\n', DEBIAN),
        ('ID=debian\nVERSION_ID="13"\n', DEBIAN),
        ('ID=ubuntu\nVERSION_ID="26.04"\n', "sudo apt-get install cargo rustc gcc libc6-dev"),
        ('ID=ubuntu\nVERSION_ID="26.10"\n', "sudo apt-get install cargo rustc gcc libc6-dev"),
        ('ID=ubuntu\nVERSION_ID="22.04"\n', "install Rust 1.85 or newer (https://rustup.rs)"),
        ("", "install Rust 1.85 or newer (https://rustup.rs)"),
    ],
)
def test_rust_comes_from_where_it_is_new_enough(
    tmp_path: Path, programs: Path, release: str, first: str
) -> None:
    file = tmp_path / "etc" / "os-release"
    file.parent.mkdir()
    file.write_text(release, encoding="ascii")
    assert list(room._rust_first(tmp_path)) == [first]
    said = subprocess.run(
        ["/bin/sh", ROOT / "tools/prerequisites", "rust"],
        env={"PATH": "/usr/bin:/bin", "OS_RELEASE": str(file)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"hint: {first}\n" in said.stderr
    program(programs, "rustup")
    assert list(room._rust_first(tmp_path)) == ["rustup update"]


def test_a_rust_that_suffices_is_not_asked_for(programs: Path) -> None:
    program(programs, "cargo")
    program(programs, "rustc", "rustc 1.85.0 (abc 2025-02-17)")
    assert list(room._rust_first()) == [
        "install a linker (Debian: sudo apt-get install gcc libc6-dev)"
    ]
    program(programs, "cc")
    assert list(room._rust_first()) == []
    program(programs, "rustc", "rustc 1.84.1 (abc 2025-01-27)")
    assert len(list(room._rust_first())) == 1


def test_the_command_is_for_the_environment_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/usr")
    monkeypatch.setattr(sys, "executable", "/opt/a b/bin/python")
    monkeypatch.setattr(room, "_rust_first", lambda: iter(()))
    monkeypatch.setattr(room, "_source", lambda: ROOT)
    assert how_to_get() == (
        f"'/opt/a b/bin/python' -m pip install --no-deps --force-reinstall {shlex.quote(str(ROOT))}"
    )
    monkeypatch.setattr(sys, "prefix", str(ROOT / ".venv"))
    assert how_to_get() == f"make -C {shlex.quote(str(ROOT))} native"


@pytest.mark.parametrize(
    ("module", "lacks"),
    [
        (None, "is not here"),
        (SimpleNamespace(pairs_main=int, INTERFACE=room.INTERFACE - 1), "is of an earlier Teiten"),
    ],
)
def test_without_it_one_line_says_what_is_lost_and_the_next_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, module: object, lacks: str
) -> None:
    monkeypatch.setitem(sys.modules, room.MODULE, module)
    said: list[tuple[str, str]] = []
    console = SimpleNamespace(warn=lambda text, hint: said.append((text, hint)))
    study = load_study("observe", profile="quick", servers=("17", "18"))
    planned = paired_plan(console, study, lambda given: given, PREFERRED)  # type: ignore[arg-type, return-value]
    assert planned is None
    ((text, hint),) = said
    assert "no paired transactions, slower and less conclusive" in text
    assert lacks in text
    assert hint == how_to_get()
    with pytest.raises(MachineError, match=lacks):
        _module_folder()


def test_what_is_lacking_stands_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("teiten.cli.doctor.abilities.missing_for_pdf", lambda: ["typst"])
    poor = machine(perf=None)
    by_name = {ability.name: ability for ability in abilities(poor)}
    assert by_name["profiles"] == Ability(
        "profiles", False, "no perf", "sudo apt-get install linux-perf"
    )
    pdf = by_name["pdf"]
    assert not pdf.can and pdf.command is not None
    assert pdf.command.startswith(f"{sys.executable} -m pip install ")
    shown = abilities_text((pdf, Ability("data"), Ability("pairs", True, "old")), "en", 200).plain
    assert "no: typst" in shown
    assert f"→ {pdf.command}" in shown
    assert "yes, but old" in shown


def test_the_pdf_command_names_what_the_extra_has() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert sorted(project["project"]["optional-dependencies"]["pdf"]) == sorted(PACKAGES.values())
