"""``teiten compare``: names and paths, refusals, --anyway, --fail-on; ledgers are only read."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from teiten.cli.main import teiten
from teiten.datasets.pgbench.model import pgbench_data
from teiten.errors import LedgerError, UsageError, VerdictError
from teiten.ledger import migrate
from teiten.ledger import reading as reading_module
from teiten.ledger import store as store_module
from teiten.ledger.reading import reading
from teiten.model.plan import Plan
from tests.fixtures.two_machines import OTHER, plan_of, times, write_campaign


@pytest.fixture(scope="module")
def workdir(module_folder: Path) -> Path:
    write_campaign(module_folder / "campaigns" / "linux-2025")
    write_campaign(
        module_folder / "campaigns" / "linux-2026", facts=OTHER, speed=times(0.8), seed=2
    )
    write_campaign(module_folder / "campaigns" / "large", plan=larger(plan_of()), seed=3)
    return module_folder


def larger(plan: Plan) -> Plan:
    first, *rest = plan.study.workloads
    study = replace(plan.study, workloads=(replace(first, data=pgbench_data(100)), *rest))
    return replace(plan, study=study)


def run(workdir: Path, *arguments: str) -> Result:
    command = ["--workdir", str(workdir), "compare", *arguments]
    return CliRunner().invoke(teiten, command, standalone_mode=False)


def test_a_prefix_and_a_copied_file_are_compared(workdir: Path, tmp_path: Path) -> None:
    copied = tmp_path / "from windows.sqlite"
    shutil.copyfile(workdir / "campaigns" / "linux-2026" / "ledger.sqlite", copied)
    before = hashlib.sha256(copied.read_bytes()).hexdigest()
    done = run(workdir, "linux-2025", str(copied), "--to", str(tmp_path / "out"), "--json")
    assert done.exception is None
    told = json.loads(done.stdout)
    assert (told["a"], told["b"], told["comparable"]) == ("linux-2025", "linux-2026", True)
    assert {one["verdict"] for one in told["results"] if one["metric"] == "tps"} == {"slower"}
    assert [Path(one).name for one in told["reports"]] == [
        "comparison.en.html",
        "comparison.ja.html",
    ]
    assert hashlib.sha256(copied.read_bytes()).hexdigest() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [copied.name]


def test_other_data_are_refused_unless_anyway(workdir: Path, tmp_path: Path) -> None:
    refused = run(workdir, "linux-2025", "large").exception
    assert isinstance(refused, UsageError)
    assert "scale factor of read: 50 (A), 100 (B)" in refused.message
    assert "--anyway" in refused.hint
    done = run(workdir, "linux-2025", "large", "--anyway", "--lang", "en", "--to", str(tmp_path))
    assert done.exception is None
    html = (tmp_path / "comparison.en.html").read_text(encoding="utf-8")
    notice = html.index('compared only because <span class="whole">--anyway</span> was given')
    assert notice < html.index('class="statement"')


def test_a_verdict_can_end_it_with_5(workdir: Path, tmp_path: Path) -> None:
    failed = run(
        workdir, "linux-2025", "linux-2026", "--fail-on", "slower", "--to", str(tmp_path)
    ).exception
    assert isinstance(failed, VerdictError)
    assert "slower" in failed.message and "scatter of trials only" in failed.message
    kept = run(workdir, "linux-2025", "linux-2026", "--fail-on", "faster", "--to", str(tmp_path))
    assert kept.exception is None


def test_markdown_has_charts_and_data(workdir: Path, tmp_path: Path) -> None:
    done = run(
        workdir, "linux-2025", "linux-2026", "--format", "markdown", "--lang", "ja", "--to",
        str(tmp_path),
    )  # fmt: skip
    folder = tmp_path / "markdown.ja"
    assert done.stdout == f"{folder / 'report.md'}\n"
    assert "試行のばらつきだけ" in (folder / "report.md").read_text(encoding="utf-8")
    assert list((folder / "charts").glob("*.svg")) and list((folder / "data").glob("*.csv"))


def test_what_is_no_ledger_is_told(workdir: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be read as one " * 40)
    stranger = tmp_path / "stranger.sqlite"
    with closing(sqlite3.connect(stranger)) as connection:
        connection.execute("CREATE TABLE mine (x)")
    broken = tmp_path / "broken.sqlite"
    data = bytearray((workdir / "campaigns" / "large" / "ledger.sqlite").read_bytes())
    data[4096:12288] = b"\xff" * 8192
    broken.write_bytes(data)
    for path, said in ((text, "no SQLite file"), (stranger, "not a ledger"), (broken, "damaged")):
        refused = run(workdir, "large", str(path)).exception
        assert isinstance(refused, LedgerError), refused
        assert said in refused.message and str(path) in refused.message
        assert refused.hint
    assert isinstance(run(workdir, "large", str(tmp_path / "none")).exception, LedgerError)


def test_an_older_ledger_is_migrated_on_a_copy(
    workdir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later Teiten that knows one more version reads this one's ledgers without touching them."""
    folder = tmp_path / "old"
    shutil.copytree(workdir / "campaigns" / "large", folder)
    before = (folder / "ledger.sqlite").read_bytes()
    later = migrate.CURRENT + 1
    steps = {**migrate.MIGRATIONS, later: ""}
    monkeypatch.setattr(migrate, "MIGRATIONS", steps)
    for module in (migrate, reading_module, store_module):
        monkeypatch.setattr(module, "CURRENT", later)
    with reading(folder) as ledger:
        assert ledger.name == "large"
        assert ledger.folder != folder
        assert len(list(ledger.trials())) == ledger.planned
    assert (folder / "ledger.sqlite").read_bytes() == before
