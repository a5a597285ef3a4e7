"""What a reader types to have the same again, and what differs from the versions' defaults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.host.facts.kernel import read_kernel_parameters, read_product, read_scheduler
from teiten.model.facts import Caution, Severity
from teiten.model.text import Language
from teiten.model.trial import Event
from teiten.report.blocks import Cautions, Code, of_kind
from teiten.report.tables import Table
from teiten.report.view.evidence import cautions, evidence
from teiten.report.view.kit import Kit
from teiten.report.view.repeat import repeat_blocks, without_place
from teiten.report.view.settings import amount, settings_table
from tests.fixtures.invented_analysis import invented_analysis

ANALYSIS = invented_analysis(seconds=2)


def with_facts(**facts: object) -> Kit:
    trials = tuple(replace(trial, facts={**trial.facts, **facts}) for trial in ANALYSIS.trials)
    return Kit(replace(ANALYSIS, trials=trials), "en")


def test_a_command_line_is_told_without_the_place_where_it_ran() -> None:
    command = (
        "/opt/x/pgbench -n -h '/tmp/a b' -p 33 -U postgres -f /x/read.sql -c 2 -l"
        " --log-prefix=/dev/shm/t bench"
    )
    assert without_place(command) == "pgbench -n -U postgres -f read.sql -c 2 -l bench"


def test_loads_clusters_and_kernel_can_be_repeated() -> None:
    kit = with_facts(command="/x/pgbench -h /s -p 1 -c 1 bench")
    facts = replace(kit.analysis.facts, kernel_parameters=(("vm.swappiness", "60"),))
    kit = Kit(replace(kit.analysis, facts=facts), "en")
    shown = list(repeat_blocks(kit))
    clusters, loads = (one.text for one in of_kind(shown, Code))
    assert all(line.startswith("initdb --locale=C ") for line in clusters.splitlines())
    assert len(loads.splitlines()) == len({trial.workload for trial in kit.analysis.trials})
    assert loads.startswith("pgbench -c 1 bench    # ")
    assert [one.name for one in of_kind(shown, Table)] == ["kernel"]


def test_one_table_of_what_differs_from_each_version() -> None:
    kit = with_facts(settings={"work_mem": "4096 kB", "TimeZone": "UTC"})
    table = settings_table(kit)
    assert table is not None
    told = {row[0].text: [cell.text for cell in row[1:-2]] for row in table.rows}
    assert told["work_mem"] == ["4MB"] * 2
    assert told["data_checksums"] == ["on", "—"]  # both have them; 18 has unless told otherwise
    first, *others = kit.analysis.trials
    changed = replace(first, facts={"settings": {"work_mem": "8192 kB"}})
    analysis = replace(kit.analysis, trials=(changed, *others))
    tables = settings_table(Kit(analysis, "en")), settings_table(Kit(analysis, "ja"))
    for table, listed in zip(tables, ("4MB, 8MB", "4MB、8MB"), strict=True):
        assert table and listed in [cell.text for row in table.rows for cell in row]
    asked = settings_table(Kit(ANALYSIS, "en"))
    assert asked is not None and "default" not in asked.note


@pytest.mark.parametrize(
    ("least", "most", "language", "sentence"),
    [
        (0.005, 0.015, "en", "other programs used 0.5 % to 1.5 % of the CPU."),
        (0.0056, 0.0062, "en", "other programs used 0.6 % of the CPU."),
        (0.0, 0.0004, "en", "other programs used less than 0.1 % of the CPU."),
        (0.0, 0.0004, "ja", "ほかのプログラムが使ったCPUは0.1%未満であった。"),
        (0.0, 0.028, "ja", "ほかのプログラムが使ったCPUは0.0%〜2.8%であった。"),
    ],
)
def test_cautions_stand_beside_what_was_measured(
    least: float, most: float, language: Language, sentence: str
) -> None:
    load = Caution("other-load", Severity.WARNING, (("load", "2.0"), ("cores", "2")))
    trials = tuple(
        replace(trial, metrics={**trial.metrics, "cpu_other_share": most if at % 2 else least})
        for at, trial in enumerate(ANALYSIS.trials)
    )
    shown = cautions(Kit(replace(ANALYSIS, cautions=(load,), trials=trials), language))
    assert isinstance(shown, Cautions)
    assert shown.cautions[0].advice.replace("\u00a0", " ").endswith(sentence)


def test_what_an_event_says_at_length_is_cut_with_a_sign() -> None:
    relations = [{"name": f"access_log_{day}", "pages": 6} for day in range(200)]
    said = [Event(1.0, "relation-sizes", None, None, {"relations": relations})]
    said.append(Event(2.0, "resumed", None, None, {"why": "short"}))
    events = {
        one.name: one
        for one in of_kind(evidence(Kit(replace(ANALYSIS, events=tuple(said)), "en")).blocks, Table)
    }["events"]
    long, short = (row[-1].text for row in events.rows)
    assert len(long) < 320 and long.endswith(" …") and "teiten export" in events.note
    assert short == "why short"


def test_the_kernel_is_read(tmp_path: Path) -> None:
    for name, text in {
        "proc/sys/vm/swappiness": "60\n",
        "sys/class/block/vda/queue/scheduler": "none [mq-deadline] kyber\n",
        "sys/class/block/vda/vda1/start": "1\n",
        "sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
        "sys/class/dmi/id/product_name": "m5.large\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "sys/class/block/vda1").symlink_to(tmp_path / "sys/class/block/vda/vda1")
    assert read_kernel_parameters(tmp_path) == (("vm.swappiness", "60"),)
    assert read_scheduler("/dev/vda1", tmp_path) == "mq-deadline"
    assert read_scheduler("/dev/none", tmp_path) is None
    assert read_product(tmp_path) == "Amazon EC2 m5.large"
    assert (read_kernel_parameters(tmp_path / "x"), read_product(tmp_path / "x")) == ((), None)


def test_amounts_are_said_as_postgresql_says_them() -> None:
    said = ("24576 8kB", "128 16MB", "2048 kB", "3600 s", "100 kB", "0 8kB", "on")
    assert [amount(value) for value in said] == [
        *("192MB", "2GB", "2MB", "3600 s", "100kB", "0 8kB", "on")
    ]
