"""Terminals and pipes as they may be: closed, full, gone, of an old encoding, or attacked."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from teiten.cli.console import Console, Verbosity
from teiten.cli.text.layout import plain
from tests.fixtures.verbs import verbs_in

TEITEN = [sys.executable, "-m", "teiten"]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /dev/full")


def run(
    *words: str, redirect: str = "", folder: Path, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """A command line with a shell's redirection."""
    line = f'exec "$@" {redirect}'
    return subprocess.run(
        ["sh", "-c", line, "sh", *TEITEN, "--workdir", str(folder), *words],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("redirect", ["2>&-", "<&- 2>&-"])
def test_closed_streams_do_not_matter(redirect: str, tmp_path: Path) -> None:
    done = run("studies", redirect=redirect, folder=tmp_path)
    assert done.returncode == 0 and b"observe" in done.stdout


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
@linux
def test_data_that_cannot_be_written_are_a_failure(redirect: str, tmp_path: Path) -> None:
    done = run("studies", redirect=redirect, folder=tmp_path)
    assert done.returncode == 3
    assert b"error: the output could not be written" in done.stderr
    assert b"Exception ignored" not in done.stderr


@linux
def test_words_for_people_that_nobody_can_read(tmp_path: Path) -> None:
    assert run("runs", redirect="2>/dev/full", folder=tmp_path).returncode == 0


def test_a_reader_that_leaves_has_what_it_wanted(tmp_path: Path) -> None:
    done = run("show", "observe", redirect="| head -1", folder=tmp_path)
    assert done.returncode == 0 and not done.stderr


@pytest.mark.parametrize("encoding", ["euc_jp", "iso-8859-1"])
def test_an_old_encoding(encoding: str, tmp_path: Path) -> None:
    done = run("show", "observe", "--lang", "ja", folder=tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    done.stdout.decode(encoding)


def test_json_in_an_old_encoding_stays_json(tmp_path: Path) -> None:
    done = run("studies", "--json", folder=tmp_path, PYTHONIOENCODING="euc_jp")
    assert json.loads(done.stdout.decode("ascii"))


def test_titles_do_not_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, teiten = tmp_path / "evil.toml", verbs_in(tmp_path, capsys)
    copy = teiten("init", "observe").out
    study.write_text(
        copy.replace("title =", 'title = "\\u001b[2Jgone\\u0007" #', 1), encoding="utf-8"
    )
    shown = teiten("show", str(study))
    assert shown.code == 0 and "\x1b" not in shown.out + shown.err
    assert plain("a\x1b[31mb\x9b\u202ec\td\n") == "a\\x1b[31mb\\x9b\\u202ec\td\n"


def test_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert Console(Verbosity.NORMAL, "auto").people.no_color
    assert not Console(Verbosity.NORMAL, "always").people.no_color
    monkeypatch.delenv("NO_COLOR")
    assert not Console(Verbosity.NORMAL, "auto").people.no_color
    assert Console(Verbosity.NORMAL, "never").people.no_color


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows")
@pytest.mark.parametrize(
    ("ending", "moments"),
    [("SIGINT", (0.01, 0.13)), ("SIGTERM", (0.07, 0.19)), ("SIGHUP", (0.1,))],
)
def test_a_signal_in_the_first_moments_shows_no_traceback(
    ending: str, moments: tuple[float, ...], tmp_path: Path
) -> None:
    """From Teiten's first line on; before that, while its file is looked for, it is Python's."""
    program = (
        "import os, signal, sys, threading\n"
        "moment = float(sys.argv.pop(1))\n"
        f"number = signal.{ending}\n"
        "threading.Timer(moment, os.kill, (os.getpid(), number)).start()\n"
        "from teiten.start import run\n"
        "run()\n"
    )
    for moment in moments:
        done = subprocess.run(
            [sys.executable, "-c", program, str(moment), "--workdir", str(tmp_path),
             "show", "observe"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr or "start.py" not in done.stderr, done.stderr
        assert done.returncode in (0, 130, -getattr(signal, ending)), done.stderr


def test_a_terminal_that_is_closed_ends_it(tmp_path: Path) -> None:
    """A verb that waits for an answer, on a terminal that goes away."""
    master, slave = pty.openpty()
    program = (
        "import sys, time\n"
        "from teiten.cli.main import teiten, main\n"
        "import click\n"
        "from teiten.cli import main as module\n"
        "@click.command()\n"
        "def wait():\n"
        "    for _ in range(600):\n"
        "        sys.stderr.write('x'); sys.stderr.flush(); time.sleep(0.05)\n"
        "teiten.add_command(wait); module.VERBS['wait'] = ''\n"
        "module.Verbs.get_command = lambda self, context, name: wait\n"
        "main(['wait'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=slave, stdout=slave, stderr=slave,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    while b"x" not in os.read(master, 100):
        time.sleep(0.01)
    os.close(master)
    assert process.wait(timeout=300) == 130
