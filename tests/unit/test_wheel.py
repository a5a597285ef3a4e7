"""The wheel that has everything: what ``hatch_build.py`` puts into it, and its platform."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLATFORM = "cp311-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64"
BUILD = """
import sys
from hatchling.build import build_wheel
print(build_wheel(sys.argv[1]))
"""


def built(folder: Path, native: str, **environment: str) -> tuple[str, set[str]]:
    """The name of the wheel that hatchling builds from the tree, and what is in it."""
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)],
        cwd=ROOT, env={**os.environ, "TEITEN_NATIVE": native, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    name = done.stdout.split()[-1]
    with zipfile.ZipFile(folder / name) as wheel:
        return name, set(wheel.namelist())


def test_the_native_part_of_a_wheel_goes_into_ours_with_its_platform(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    native = tmp_path / f"teiten_native-0.2.0-{PLATFORM}.whl"
    with zipfile.ZipFile(native, "w") as wheel:
        wheel.writestr("teiten_native/__init__.py", "")
        wheel.writestr("teiten_native/teiten_native.abi3.so", b"\x7fELF")
        wheel.writestr("teiten_native-0.2.0.dist-info/METADATA", "")
    name, files = built(tmp_path, str(native))
    assert name == f"teiten-0.2.0-{PLATFORM}.whl"
    assert {"teiten_native/teiten_native.abi3.so", "teiten/start.py"} <= files
    assert not [file for file in files if file.startswith("teiten_native-")]


@pytest.mark.parametrize(("native", "path"), [("no", os.environ["PATH"]), ("", "/nowhere")])
def test_without_it_or_without_rust_the_wheel_is_pure(
    tmp_path: Path, native: str, path: str
) -> None:
    pytest.importorskip("hatchling")
    name, files = built(tmp_path, native, PATH=path)
    assert name == "teiten-0.2.0-py3-none-any.whl"
    assert "teiten/start.py" in files
    assert not [file for file in files if file.startswith("teiten_native")]


@pytest.mark.skipif(
    not all(map(shutil.which, ("cargo", "rustc", "cc"))), reason="no Rust with a linker"
)
def test_maturin_is_taken_from_path_where_pips_isolated_environment_has_it(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    native = tmp_path / f"teiten_native-0.2.0-{PLATFORM}.whl"
    with zipfile.ZipFile(native, "w") as wheel:
        wheel.writestr("teiten_native/__init__.py", "")
    program = tmp_path / "bin" / "maturin"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nfor folder; do :; done\nexec cp {native} "$folder"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    name, inside = built(tmp_path, "", PATH=path)
    assert name.endswith(f"{PLATFORM}.whl") and "teiten_native/__init__.py" in inside
