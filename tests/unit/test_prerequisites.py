"""``tools/prerequisites``, which runs before anything of Teiten does: it names what is missing, and
knows of builds what the product knows."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from teiten.execute.postgres.building.prerequisites import COMPILERS, PACKAGES, compiler_line
from teiten.host.system.users import server_user

ROOT = Path(__file__).parents[2]
USED_BY_ITSELF = ("awk", "cat", "sed", "tr")
NOT_TESTED = {"meson", "ninja"}
"""No test builds with them."""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for PATH in which is what the script itself uses, and no more."""
    for name in USED_BY_ITSELF:
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    return tmp_path


def prerequisites(words: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "tools/prerequisites", *words.split()],
        cwd=ROOT, env={"PATH": str(path), "OS_RELEASE": "/dev/null"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def packages(path: Path) -> set[str]:
    done = prerequisites("tests-packages", path)
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


def test_a_bare_machine_is_told_all_packages_that_a_build_needs(programs: Path) -> None:
    wanted = {name: text.split() for name, text in PACKAGES.items() if name not in NOT_TESTED}
    assert {name for names in wanted.values() for name in names} <= packages(programs)
    assert {"chromium", "chromium-driver"} <= packages(programs)


@pytest.mark.parametrize("name", [*COMPILERS, *sorted(PACKAGES.keys() - {"compiler"} - NOT_TESTED)])
def test_what_is_here_is_not_asked_for(programs: Path, name: str) -> None:
    (programs / name).symlink_to("/bin/true")
    kind = "compiler" if name in COMPILERS else name
    assert not set(PACKAGES[kind].split()) & packages(programs)


def test_what_tests_lack_is_a_note_and_no_failure(programs: Path) -> None:
    done = prerequisites("tests", programs)
    assert done.returncode == 0 and done.stdout == ""
    assert "note: no bison: tests of builds from source, teiten bisect are left out" in done.stderr
    assert "note: no Rust 1.85 with a linker" in done.stderr
    assert "sudo apt-get install gcc libc6-dev make git bison flex perl chromium" in done.stderr


def test_all_that_is_missing_is_named_at_once(programs: Path) -> None:
    done = prerequisites("packages python3", programs)
    assert done.returncode == 3
    assert "error: python3 is missing" in done.stderr
    assert "error: neither npm nor Maven is here" in done.stderr
    assert "hint: sudo apt-get install python3 python3-venv npm" in done.stderr
    (programs / "mvn").symlink_to("/bin/true")
    assert "npm" not in prerequisites("packages python3", programs).stderr
    assert prerequisites(f"packages {sys.executable}", programs).returncode == 0


@pytest.mark.parametrize(
    ("version", "hint"),
    [("1.84.1", "https://rustup.rs"), ("1.85.0", "gcc libc6-dev"), ("2.0.0", "gcc libc6-dev")],
)
def test_a_rust_that_is_too_old_or_cannot_link(programs: Path, version: str, hint: str) -> None:
    assert "https://rustup.rs" in prerequisites("rust", programs).stderr
    (programs / "cargo").symlink_to("/bin/true")
    rustc = programs / "rustc"
    rustc.write_text(f"#!/bin/sh\necho 'rustc {version} (abc 2025-01-01)'\n", encoding="ascii")
    rustc.chmod(0o755)
    done = prerequisites("rust", programs)
    assert done.returncode == 3 and hint in done.stderr
    (programs / "cc").symlink_to("/bin/true")
    done = prerequisites("rust", programs)
    assert done.returncode == (3 if version.startswith("1.84") else 0)


def test_a_rust_without_clippy_is_a_note_before_all_else(programs: Path) -> None:
    for name in ("rustfmt", "cc"):
        (programs / name).symlink_to("/bin/true")
    for name, code in (
        ("rustc", "echo 'rustc 1.99.0 (abc 2026-01-01)'"),
        ("cargo", '[ "$1" = fmt ]'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{code}\n", encoding="ascii")
        (programs / name).chmod(0o755)
    assert prerequisites("rust", programs).returncode == 0
    done = prerequisites("rust-tools", programs)
    assert done.returncode == 3 and "sudo apt-get install rust-clippy rustfmt" in done.stderr
    done = prerequisites("tests", programs)
    assert done.returncode == 0 and "note: Rust without clippy or rustfmt" in done.stderr
    (programs / "cargo").write_text("#!/bin/sh\n", encoding="ascii")
    assert "clippy" not in prerequisites("tests", programs).stderr


def test_a_study_s_compiler_never_runs_as_root() -> None:
    """``CC=`` may be any program; ``find_tools`` asks it before anything is confirmed."""
    assert compiler_line("sh -c 'id -un' sh") == server_user().name
