"""``teiten gate`` with real servers. The difference is certain: a parameter of Teiten's own tells
each side's transactions how long to sleep."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation
from tests.fixtures.campaigns import Teiten, with_own_installations
from tests.fixtures.small_extension import with_pgxs, write_extension
from tests.fixtures.small_source import commit, write_source
from tests.fixtures.undrawn import PROGRAM

SLEEP = "SELECT pg_sleep(current_setting('teiten.milliseconds')::float8 / 1000);\n"
WITHOUT_SCALE = (
    *("--clients", "1", "--duration", "1s", "--set", "changes_data=no", "--set", "settle=0s"),
    *("--set", "warmup=0s", "--set", "disturbed_share=100%"),
)
QUICK = (*WITHOUT_SCALE, "--set", "scale=1")
AS_LONG = ("--guc", "teiten.milliseconds=10")
SLOWER = ("--guc-base", "teiten.milliseconds=10", "--guc-head", "teiten.milliseconds=20")
PATIENCE = 800.0
"""Seconds; builds and a campaign, on a machine that does other things too."""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "sleep.sql"
    path.write_text(SLEEP, encoding="ascii")
    return str(path)


@pytest.mark.pg(">=18")
def test_a_planted_slowdown_is_a_regression_and_stands_in_the_pull_request(
    teiten: Teiten, server: str, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary, table = tmp_path / "summary.md", tmp_path / "gate.md"
    summary.write_text("# Of another step\n", encoding="ascii")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    words = ("gate", server, server, *SLOWER, "--script", script, *QUICK, "--json")
    result = teiten.run(*words, "--markdown", table)
    assert result.returncode == 5, result.stderr
    answer = json.loads(result.stdout)
    assert answer["outcome"] == "regression" and answer["delta"] == 0.02
    (line,) = answer["workloads"]
    assert (line["workload"], line["outcome"], line["reason"]) == ("sleep", "regression", None)
    head, control = line["head"], line["control"]
    assert head["verdict"] == "slower" and head["at_least_delta"]
    assert 0.4 < head["interval"][0] < head["interval"][1] < 0.75, "near a half"
    assert control["verdict"] in ("equivalent", "inconclusive", "different-but-small")
    assert control["interval"][0] < control["interval"][1]
    cells = [trial.cell.level("server") for trial in teiten.plan().trials if trial.block == 1]
    assert sorted(map(str, cells)) == ["base", "base-again", "head"], "one start has all three"
    assert len(teiten.trials()) == 3 * line["pairs"]
    written = table.read_text(encoding="utf-8")
    assert "| **regression (slower by at least 2 %)** | sleep | " in written
    assert summary.read_text(encoding="utf-8") == "# Of another step\n" + written
    assert "::error title=Gate%3A regression (slower" in result.stderr
    assert "error: gate: regression" in result.stderr
    assert not list(teiten.workdir.clusters.iterdir())


@pytest.mark.pg(">=18")
def test_a_folder_against_itself_is_no_regression(teiten: Teiten, server: str, script: str) -> None:
    folder = Path(script).parent
    sides = ("gate", folder, folder, "--server", server)
    same = (*sides, *AS_LONG, *QUICK, "--delta", "50%")
    result = teiten.run(*same, "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["outcome"] == "none" and answer["workloads"][0]["needed"] is None
    assert "::" not in result.stderr, "nobody's CI runs this"


@pytest.mark.pg(">=18")
def test_old_and_new_statements_are_two_folders_and_one_brings_a_table(
    teiten: Teiten, server: str, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    files = {
        old / "nap.sql": "SELECT pg_sleep(0.01);\n",
        new / "nap.sql": "SELECT pg_sleep(milliseconds / 1000.0) FROM naps;\n",
        new / "schema.sql": "CREATE TABLE naps AS SELECT 25 AS milliseconds;\n",
        new / "further.sql": "SELECT 1;\n",
    }
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="ascii")
    words = ("gate", old, new, "--server", server, *WITHOUT_SCALE, "--set", "data.size=2MB")
    result = teiten.run(*words, "--json")
    assert result.returncode == 5, result.stderr
    assert "further.sql is left out: one of the two folders does not have it" in result.stderr
    answer = json.loads(result.stdout)
    (line,) = answer["workloads"]
    assert (line["workload"], line["outcome"]) == ("nap", "regression")
    assert line["head"]["interval"][1] < 0.6, "25 ms against 10"
    assert [name.partition(" on ")[0] for name in answer["servers"].values()] == ["old", "new"]
    plan = teiten.plan()
    assert len({trial.template.fingerprint for trial in plan.trials}) == 2, "the base has no table"
    assert plan.study.workloads[0].options.texts[1].text == files[new / "nap.sql"]
    nameless = teiten.run("gate", old, new)
    assert nameless.returncode == 2 and "is a folder of SQL, and no server" in nameless.stderr


@pytest.mark.pg(">=18")
def test_too_few_starts_cannot_tell_and_say_what_is_needed(
    teiten: Teiten, server: str, script: str
) -> None:
    words = ("gate", server, server, *SLOWER, "--script", script, *QUICK, "--blocks", "2")
    result = teiten.run(*words)
    assert result.returncode == 6, result.stderr
    first, report = result.stdout.splitlines()
    assert first.startswith("cannot tell (inconclusive): sleep ")
    assert Path(report).is_file()
    assert "error: gate: this runner cannot tell" in result.stderr
    assert "hint: what would help: sleep: " in result.stderr


def test_a_profile_without_conclusions_is_refused(teiten: Teiten) -> None:
    result = teiten.run("gate", "18", "18", "--profile", "quick")
    assert result.returncode == 2
    assert "gate: the profile quick of gate supports no conclusion" in result.stderr
    assert not list(teiten.workdir.campaigns.iterdir())


def test_commits_of_a_checkout_are_built(
    workdir: Workdir, installation: Callable[[str], Installation], script: str
) -> None:
    teiten = with_own_installations(workdir, "17")
    source = write_source(workdir.root / "checkout", installation("17"))
    commit(source, "the base")
    (source / "delay").write_text("25\n")
    head = commit(source, "a slowdown")
    sides = (f"{source}@HEAD~1", f"{source}@HEAD")
    words = ("gate", *sides, "--script", script, *QUICK, "--json")
    options = ("--configure", "--without-readline --without-zlib")
    result = teiten.run(*words, *options, patience=PATIENCE)
    assert result.returncode == 5, result.stderr
    answer = json.loads(result.stdout)
    assert answer["servers"]["head"].startswith(f"commit-{head[:10]}-")
    assert answer["workloads"][0]["head"]["verdict"] == "slower"
    unknown = teiten.run("gate", sides[0], f"{source}@nowhere", "--script", script, *QUICK)
    assert unknown.returncode == 2 and "has no commit 'nowhere'" in unknown.stderr


def test_commits_of_an_extension_are_built_into_copies_of_a_server(
    workdir: Workdir, installation: Callable[[str], Installation], tmp_path: Path
) -> None:
    teiten = with_own_installations(workdir, "17")
    server = with_pgxs(workdir.root / "server", installation("17"))
    checkout = write_extension(workdir.root / "nap", milliseconds=10)
    commit(checkout, "the base")
    head = commit(write_extension(checkout, milliseconds=25), "a slowdown")
    tables, script = tmp_path / "tables.sql", tmp_path / "nap.sql"
    tables.write_text("CREATE EXTENSION nap;\n", encoding="ascii")
    script.write_text("SELECT nap();\n", encoding="ascii")
    options = ("--extension", checkout, "--script", script, "--set", f"data.script={tables}")
    words = ("gate", "HEAD~1", "HEAD", *options, *WITHOUT_SCALE, "--json")
    result = teiten.run(*words, "--server", server, patience=PATIENCE)
    assert result.returncode == 5, result.stderr
    answer = json.loads(result.stdout)
    assert answer["servers"]["head"].startswith(f"nap-{head[:10]}-on-17.")
    assert answer["workloads"][0]["head"]["verdict"] == "slower"
    assert not list(server.rglob("nap*")), "the server itself is as it was"
    again = teiten.run(*words, "--server", server, "--blocks", "2", patience=PATIENCE)
    assert again.returncode == 6 and "is built already" in again.stderr, again.stderr
    scripts = next(server.rglob("plpgsql.control")).parent
    for version, milliseconds in (("1.0", 10), ("1.1", 25)):
        write_extension(scripts, milliseconds=milliseconds, version=version)
    sides = ("extension:nap@1.0", "extension:nap@1.1", "--server", server, "--script", script)
    versions = teiten.run("gate", *sides, *QUICK, "--json", patience=PATIENCE)
    assert versions.returncode == 5, versions.stderr
    assert json.loads(versions.stdout)["servers"]["head"].startswith("extension:nap = 1.1 on ")
    nameless = teiten.run(*words)
    assert nameless.returncode == 2 and "hint: for example --server 18" in nameless.stderr
    without = teiten.run(*words, "--server", "17")
    assert without.returncode == 2 and "hint: a server with PGXS" in without.stderr


ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "tools" / "ci"


def step(text: str, name: str) -> str:
    """The commands of a step of the action, or of a part of the GitLab template; neither needs more
    of YAML than that a block ends where a line stands further left."""
    key = f"    - name: {name}\n" if "composite" in text else f"  {name}:\n"
    block = text.split(key, 1)[1]
    if "composite" in text:
        block = block.split("      run: |\n", 1)[1]
    inside = itertools.takewhile(
        lambda line: not line.strip() or line.startswith("    "), block.splitlines()
    )
    kept = itertools.takewhile(lambda line: not line.startswith("    - name: "), inside)
    return "\n".join(line.removeprefix("    - ") for line in kept)


@pytest.fixture
def runner(workdir: Workdir) -> Path:
    """A runner's folder, as the step before has left it: this Teiten as the one that pip
    installed, and a working folder with servers. Its reports have no pictures."""
    folder = workdir.root / "runner"
    program = folder / "teiten" / "bin" / "teiten"
    program.parent.mkdir(parents=True)
    words = shlex.join(("env", f"PYTHONPATH={ROOT}", sys.executable, "-c", PROGRAM))
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    program.chmod(0o755)
    inside = Workdir(folder / "teiten-work")
    inside.prepare()
    Teiten.prepared(inside)
    return folder


@pytest.mark.pg(">=18")
def test_the_steps_of_the_github_action(
    runner: Path, server: str, script: str, tmp_path: Path
) -> None:
    files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    commands = step((CI / "github" / "action.yml").read_text(), "Gate")
    given = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "RUNNER_TEMP": str(runner),
        "TEITEN_WORKDIR": str(runner / "teiten-work"),
        "GITHUB_ACTIONS": "true", **{name: str(path) for name, path in files.items()},
        "BASE": server, "HEAD": server, "DELTA": "2%", "BUDGET": "10m",
        "SCRIPTS": f"{script}\n", "ARGUMENTS": " ".join((*AS_LONG, *QUICK, "--blocks", "2")),
    }  # fmt: skip

    def gate(strict: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", commands],
            env={**given, "STRICT": strict}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = gate("false")
    assert done.returncode == 0, done.stderr
    assert "outcome=cannot-tell" in files["GITHUB_OUTPUT"].read_text().splitlines()
    table = files["GITHUB_STEP_SUMMARY"].read_text()
    assert table in done.stdout, "a fork has it in the log"
    assert "::warning title=Gate%3A cannot tell" in done.stderr
    kept = {path.name for path in (runner / "teiten-gate").iterdir()}
    assert kept == {"gate.md", "gate.json", "report.html", "ledger.sqlite"}
    (runner / "teiten" / "bin" / "teiten").write_text("#!/bin/sh\nexit 6\n")
    assert gate("true").returncode == 6


@pytest.mark.pg(">=18")
def test_the_steps_of_the_gitlab_template(
    runner: Path, server: str, script: str, tmp_path: Path
) -> None:
    text = (CI / "gitlab" / "gate.yml").read_text()
    arguments = " ".join((*AS_LONG, *QUICK, "--script", script, "--blocks", "2"))
    given = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "CI_BUILDS_DIR": str(runner),
        "TEITEN_WORKDIR": str(runner / "teiten-work"),
        "BASE": server, "HEAD": server, "DELTA": "2%", "BUDGET": "10m", "ARGUMENTS": arguments,
    }  # fmt: skip
    codes = []
    for part in ("script", "after_script"):
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step(text, part)],
            env=given, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        codes.append(done.returncode)
    assert codes == [6, 0], done.stderr
    assert "cannot tell" in done.stdout
    kept = {path.name for path in (tmp_path / "gate").iterdir()}
    assert kept == {"gate.md", "gate.json", "report.html", "ledger.sqlite"}
    assert "exit_codes: [6]" in text, "only a runner that cannot tell is no failure"
