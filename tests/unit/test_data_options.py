"""What kinds of data have of their own: the names of templates on users' disks stay as they are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.datasets.access_log.model import AccessLogTables
from teiten.datasets.pgbench.model import pgbench_data
from teiten.datasets.plan import plan_of
from teiten.datasets.probes.model import ProbesTables, SizedTable
from teiten.datasets.registry import names
from teiten.datasets.script.model import script_data
from teiten.datasets.ssb.model import ssb_data
from teiten.errors import LedgerError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.ledger import codec
from teiten.model.ssb import SsbVariant
from teiten.model.study import DataSet, Layout, Script
from teiten.model.units import MIB, Bytes
from tests.fixtures.synthetic_plan import make_installation, make_plan

GOLDEN = Path(__file__).parent.parent / "golden"
SQL = Script("tables.sql", False, "CREATE TABLE t (a int);\n")
KEYED = Layout(
    "keyed", (Script("keyed.sql", False, "ALTER TABLE t ADD PRIMARY KEY (a);\n"),), needs=10
)
PROBES = DataSet(1024, "probes", ProbesTables((SizedTable("pages", 1.2),)))
DATA = {
    "pgbench": pgbench_data(1),
    "pgbench, scale 50, fillfactor 80": pgbench_data(50, 80),
    "pgbench, keyed": pgbench_data(2, layout=KEYED),
    "script": script_data(SQL),
    "script, 20 MB": script_data(SQL, Bytes(20 * MIB)),
    "ssb": ssb_data(1),
    "ssb, scale 0.1, reports": ssb_data(0.1, SsbVariant.REPORTS),
    "ssb, keyed, as left": ssb_data(1, layout=replace(KEYED, all_visible=False)),
    "probes": PROBES,
    "access log": DataSet(2, "access_log", AccessLogTables(days=30, seed=1, products=10)),
}


def test_templates_that_0_2_built_are_used_again() -> None:
    """Their names, as they were before kinds of data had options of their own."""
    golden = json.loads((GOLDEN / "templates" / "fingerprints-0.2.json").read_text("utf-8"))
    installation = make_installation("18.4")
    found = {name: template_fingerprint(installation, True, DATA[name]) for name in golden}
    assert found == golden


def test_every_kind_says_what_the_name_of_a_template_is_made_of() -> None:
    assert {data.kind for data in DATA.values()} == set(names()), "add the new kind's data"
    made = {json.dumps(plan_of(one.kind).identity(one), sort_keys=True) for one in DATA.values()}
    assert len(made) == 7, "two of pgbench and of ssb, one of each other kind"
    for data in DATA.values():
        assert isinstance(data.options, plan_of(data.kind).options)


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_the_ledger_keeps_the_options_of_each_kind(data: DataSet) -> None:
    plan = make_plan(4, clients=("1",))
    templates = tuple(replace(template, data=data) for template in plan.templates)
    known = {template.fingerprint: template for template in templates}
    study = replace(
        plan.study,
        workloads=tuple(replace(workload, data=data) for workload in plan.study.workloads),
    )
    trials = tuple(
        replace(trial, templates=(known[trial.fingerprints[0]],)) for trial in plan.trials
    )
    plan = replace(plan, study=study, templates=templates, trials=trials)
    assert codec.decode_plan(codec.encode_plan(plan)) == plan


def test_data_of_0_1_keep_what_they_had() -> None:
    for path in sorted((GOLDEN / "ledger").glob("plan-0.1-*.json")):
        text = path.read_text(encoding="utf-8")
        plan, old = codec.decode_plan(text), json.loads(text)
        for one, before in zip(plan.templates, old["templates"], strict=True):
            data = before["data"]
            kind = data.get("kind", "pgbench")
            assert (one.data.scale, one.data.kind) == (data["scale"], kind)
            kept = {"pgbench": "fillfactor", "ssb": "variant"}[kind]
            assert one.data.options.told[kept] == data[kept]
            assert (one.data.layout is None) == (data["layout"] is None)


def test_a_kind_of_data_that_is_not_there_is_told() -> None:
    table = json.loads(codec.encode_plan(make_plan(4, clients=("1",))))
    table["templates"][0]["data"]["kind"] = "tpch"
    with pytest.raises(LedgerError, match="of the kind 'tpch', which this Teiten does not have"):
        codec.decode_plan(json.dumps(table))
