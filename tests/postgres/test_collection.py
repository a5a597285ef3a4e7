"""A small collection with real servers: killed, interrupted, resumed, and nothing is run twice."""

from __future__ import annotations

import hashlib
import json
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from teiten.cli.collection.state import read_state
from teiten.host.system.paths import Workdir
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.lock import workdir_lock
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from teiten.model.progress import ALLOTTED, Ending
from teiten.model.trial import Outcome
from tests.fixtures.campaigns import Teiten, kill, step_of

TINY = """# At so small an α six blocks give no interval: chance gives no further ones.

name = "tiny"
title = {{ en = "Two tiny studies", ja = "2つの小さな検証" }}
budget = "10m"
target = "1m"
atlas = true

[[campaigns]]
study = "checksums"
servers = [{server}]
set = [
    "scale=1", "duration=1s", "warmup=0s", "settle=0s", "clients=1", "workloads=read",
    "prewarm=no", "disturbed_share=100%", "alpha=0.001%",
]

[[campaigns]]
study = {own}
name = "own"
set = ["delta=50%"] # decided with the first interval
remark = {{ en = "<b>of one's own</b>", ja = "独自" }}

[[campaigns]]
study = "compiler-flags"
"""


@pytest.fixture
def collection(emptied: Teiten, installation: Callable[[str], Installation]) -> Path:
    """A file: a study with findings, one of two versions without, and one that cannot run."""
    older, newest = installation("17"), installation("18")
    server = json.dumps(str(newest.bin_directory))
    own = json.dumps(str(emptied.study(older, newest, workload="reads")))
    path = emptied.workdir.root / "tiny-collection.toml"
    path.write_text(TINY.format(server=server, own=own), encoding="utf-8")
    return path


def test_a_killed_collection_resumes_to_its_report(emptied: Teiten, collection: Path) -> None:
    teiten, folder = emptied, emptied.workdir.collections
    process = teiten.start("collection", "run", collection, "--name", "night")
    teiten.wait_for(process, step_of(3, "measure"))
    kill(process)
    before = trials(teiten, "night-checksums")
    assert before and json.loads((folder / "night" / "collection.json").read_text())
    ledger = sqlite3.connect(teiten.workdir.campaigns / "night-checksums" / FILE_NAME)
    with closing(ledger), ledger:  # as a kill leaves it that comes before its first blocks
        of_events = "FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'event'"
        triggers = ledger.execute(f"SELECT name, sql {of_events}").fetchall()
        for name, _ in triggers:
            ledger.execute(f'DROP TRIGGER "{name}"')
        assert ledger.execute("DELETE FROM event WHERE kind = ?", (ALLOTTED,)).rowcount == 1
        for _, definition in triggers:
            ledger.execute(definition)

    budget = read_state(folder, "night").budget
    with workdir_lock(teiten.workdir.root):
        refused = teiten.run("collection", "resume", "--budget", "8h")
    assert refused.returncode != 0 and "another campaign is being measured" in refused.stderr
    assert read_state(folder, "night").budget == budget, "it got no time"

    process = teiten.start("collection", "resume", "--budget", "1s")
    teiten.wait_for(process, step_of(len(before) + 2, "measure"))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "teiten collection resume night continues it" in errors

    result = teiten.run("collection", "resume", "night", "--json")
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    campaigns = {campaign["name"]: campaign for campaign in told["campaigns"]}
    assert campaigns["own"]["lacking"] is None
    assert trials(teiten, "night-checksums")[: len(before)] == before
    for name in ("night-checksums", "night-own"):
        assert_nothing_ran_twice(teiten, name)
    assert campaigns["checksums"]["blocks"] >= 6 and campaigns["own"]["blocks"] >= 6
    assert "source" in campaigns["compiler-flags"]["lacking"]
    assert {finding["study"] for finding in told["findings"]} == {"checksums", "compiler-flags"}
    assert {finding["outcome"] for finding in told["findings"]} <= {*told["counts"]}
    assert sum(told["counts"].values()) == len(told["findings"])
    assert told["counts"]["not-run"] == sum(
        finding["study"] == "compiler-flags" for finding in told["findings"]
    )
    (line,) = told["atlas"]
    assert line["campaign"] == "own" and line["first"].startswith("17.")
    (point,) = line["points"]
    assert point["version"].startswith("18.") and point["verdict"] == "equivalent"
    assert json.loads((folder / "night" / "findings.json").read_text()) == told
    for language in ("en", "ja"):
        page = (folder / "night" / f"report.{language}.html").read_text(encoding="utf-8")
        assert "<b>of one" not in page
        link = f"../../campaigns/night-checksums/report/report.{language}.html"
        assert line["first"] in page and 'id="atlas"' in page
        assert link in page and (folder / "night" / link).resolve().is_file()

    done = {name: trials(teiten, name) for name in ("night-checksums", "night-own")}
    again = teiten.run("collection", "report")
    assert again.returncode == 0 and "reproduced" in again.stderr
    assert teiten.run("collection", "report", "night", "--format", "md").returncode == 0
    for language in ("en", "ja"):
        page = (folder / "night" / f"markdown.{language}" / "report.md").read_text(encoding="utf-8")
        assert f"../../../campaigns/night-checksums/report/report.{language}.html" in page
    assert {name: trials(teiten, name) for name in done} == done

    published = teiten.workdir.root / "published"
    assert teiten.run("collection", "publish", "night", "--to", published).returncode == 0
    assert_its_tables_come_again_from_what_is_published(teiten, published, told)


def assert_its_tables_come_again_from_what_is_published(
    teiten: Teiten, published: Path, told: dict[str, Any]
) -> None:
    assert json.loads((published / "findings.json").read_text()) == told
    ledger = published / "ledgers" / "night-checksums.sqlite.xz"
    for language in ("en", "ja"):
        page = (published / language / "report.md").read_text(encoding="utf-8")
        assert f"../ledgers/{ledger.name}" in page
    elsewhere = Teiten(Workdir(teiten.workdir.root / "elsewhere"))
    for _ in range(2):  # what is there already stays
        restored = elsewhere.run("collection", "restore", published)
        assert restored.returncode == 0 and restored.stdout == "night\n", restored.stderr
    again = elsewhere.run("collection", "report", "--json")
    recomputed = json.loads(again.stdout)
    assert recomputed == told
    again_written = elsewhere.workdir.collections / "night" / "findings.json"
    assert again_written.read_bytes() == (published / "findings.json").read_bytes()
    assert elsewhere.run("report", "night-checksums").returncode == 0
    refused = elsewhere.run("resume", "night-checksums")
    assert refused.returncode != 0 and "published copy" in refused.stderr
    compared = json.loads(elsewhere.run("collection", "compare", "night", "night", "--json").stdout)
    assert [one["id"] for one in compared["findings"]] == [one["id"] for one in told["findings"]]
    assert not any(one["depends"] for one in compared["findings"])
    assert compared["prediction"] is None
    foretold = elsewhere.run("collection", "predict", "--cores", "1", "--memory", "1GB", "--json")
    digest = hashlib.sha256((published / "findings.json").read_bytes()).hexdigest()
    assert json.loads(foretold.stdout)["digest"] == digest
    late = elsewhere.workdir.root / "prediction.json"
    late.write_text(foretold.stdout)
    refused = elsewhere.run("collection", "compare", "night", "night", "--prediction", late)
    assert refused.returncode == 2 and "foretells nothing of it" in refused.stderr

    bare = Teiten(Workdir(teiten.workdir.root / "bare"))
    wrong = bare.run("collection", "restore", published, "--without", "checksum")
    assert wrong.returncode == 2 and "Did you mean 'checksums'?" in wrong.stderr
    assert bare.run("collection", "restore", published, "--without", "checksums").returncode == 0
    assert not (bare.workdir.campaigns / "night-checksums").exists()
    assert (bare.workdir.campaigns / "night-own").is_dir()

    ledger.write_bytes(ledger.read_bytes()[:-40])
    broken = Teiten(Workdir(teiten.workdir.root / "broken"))
    result = broken.run("collection", "restore", published)
    assert result.returncode == 2 and "night-checksums is damaged: it is cut off" in result.stderr


def trials(teiten: Teiten, name: str) -> list[tuple[int, int, Outcome]]:
    with Ledger.open(teiten.workdir.campaigns / name, read_only=True) as ledger:
        return ledger.finished()


def assert_nothing_ran_twice(teiten: Teiten, name: str) -> None:
    """Each trial counts once, in whole blocks; the ledger says why it went no further."""
    ended = trials(teiten, name)
    counted = Counter(number for number, _, outcome in ended if outcome is Outcome.COUNTED)
    assert counted and set(counted.values()) == {1}
    with Ledger.open(teiten.workdir.campaigns / name, read_only=True) as ledger:
        kinds = [event.kind for event in ledger.campaign_events()]
        blocks = Counter(ledger.plan.trials[number - 1].block for number in counted)
    assert set(blocks.values()) == {2}
    assert Ending.ALLOTTED_SPENT.value in kinds
