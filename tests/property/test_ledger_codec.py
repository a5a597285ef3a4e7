"""Whatever a plan, a machine or a trial is: from the ledger it comes back as it was."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from teiten.datasets import registry as data
from teiten.datasets.plan import plan_of as plan_of_data
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names
from teiten.ledger import codec
from teiten.model.facts import Caution, HostFacts
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import DataSet, Study, Workload
from teiten.model.trial import Problem, Series

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(max_size=20)
PATHS = st.text("abc/.é 日", min_size=1, max_size=12).map(Path)

st.register_type_strategy(float, FINITE)
st.register_type_strategy(str, TEXT)
st.register_type_strategy(Path, PATHS)


def few(kind: type[tuple[object, ...]]) -> st.SearchStrategy[tuple[object, ...]]:
    """Of a tuple of any length no more than two: a third is written as the second, and whoever
    invents a plan with long ones runs out of room and begins anew, nine times of ten."""
    of = get_args(kind)
    if of[1:] == (...,):
        return st.lists(st.from_type(of[0]), max_size=2).map(tuple)
    return st.tuples(*map(st.from_type, of))


st.register_type_strategy(tuple, few)


def of_kind(workload: Workload) -> st.SearchStrategy[Workload]:
    """The workload with a kind that there is, and options of that kind."""
    return st.sampled_from(names()).flatmap(
        lambda kind: st.from_type(plan_of(kind).options).map(
            lambda options: replace(workload, kind=kind, options=options)
        )
    )


def of_data_kind(made: DataSet) -> st.SearchStrategy[DataSet]:
    """The data set with a kind that there is, and options of that kind."""
    return st.sampled_from(data.names()).flatmap(
        lambda kind: st.from_type(plan_of_data(kind).options).map(
            lambda options: replace(made, kind=kind, options=options)
        )
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """A plan that keeps its texts, with trials of its workloads on its templates, and loads of
    their kinds."""
    plan = draw(st.builds(Plan, trials=st.just(())))
    plan = replace(plan, study=replace(plan.study, keep_texts=True))
    workloads = {workload.name: workload for workload in plan.study.workloads}
    templates = {template.fingerprint: template for template in plan.templates}
    if not workloads or not templates:
        return plan
    trials = []
    for trial in draw(st.lists(st.builds(PlannedTrial), max_size=2)):
        name = draw(st.sampled_from(sorted(workloads)))
        used = draw(st.lists(st.sampled_from(sorted(templates)), min_size=1, max_size=2))
        load = draw(st.from_type(plan_of(workloads[name].kind).load))
        cell = replace(trial.cell, workload=name)
        nodes = tuple(templates[one] for one in used)
        trials.append(replace(trial, cell=cell, templates=nodes, load=load))
    return replace(plan, trials=tuple(trials))


st.register_type_strategy(Workload, st.builds(Workload).flatmap(of_kind))
st.register_type_strategy(DataSet, st.builds(DataSet).flatmap(of_data_kind))

# A plan is so large that most inventions of it run out of room, and are begun anew.
LARGE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
SLOW = settings(max_examples=30, suppress_health_check=LARGE, deadline=None)


@SLOW
@given(plans())
def test_plans(plan: Plan) -> None:
    assert codec.decode_plan(codec.encode_plan(plan)) == plan


@SLOW
@given(st.from_type(HostFacts))
def test_facts(facts: HostFacts) -> None:
    assert codec.decode(HostFacts, codec.encode(HostFacts, facts)) == facts


@SLOW
@given(st.from_type(Study))
def test_encoding_is_the_same_each_time(study: Study) -> None:
    text = codec.encode(Study, study)
    assert codec.encode(Study, codec.decode(Study, text)) == text


@given(st.lists(st.from_type(Caution), max_size=4).map(tuple))
def test_cautions(cautions: tuple[Caution, ...]) -> None:
    form = tuple[Caution, ...]
    assert codec.decode(form, codec.encode(form, cautions)) == cautions


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
"""Lone surrogates too, as a log that is no UTF-8 gives."""


@given(st.lists(st.builds(Problem, ANY_TEXT, ANY_TEXT), max_size=4).map(tuple))
def test_problems(problems: tuple[Problem, ...]) -> None:
    text = codec.encode(tuple[Problem, ...], problems)
    assert codec.decode(tuple[Problem, ...], text) == problems
    assert text.isascii()


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=4).map(tuple))
def test_evidence(evidence: tuple[tuple[str, str], ...]) -> None:
    form = tuple[tuple[str, str], ...]
    assert codec.decode(form, codec.encode_json(evidence)) == evidence


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(ANY_TEXT, JSON, max_size=4))
def test_objects(value: dict[str, object]) -> None:
    assert codec.decode_object(codec.encode_json(value)) == value


@given(st.dictionaries(TEXT, st.floats(), max_size=6))
def test_metrics(metrics: dict[str, float]) -> None:
    found = codec.decode_metrics(codec.encode_metrics(metrics))
    np.testing.assert_equal(found, metrics)


@given(st.integers(0, 50).flatmap(lambda n: st.tuples(*[arrays.arrays(np.float64, n)] * 3)))
def test_series_to_the_bit(found: tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]) -> None:
    seconds, one, other = found
    series = Series("os", seconds, {"cpu_user_share": one, "IO:WALSync": other})
    back = codec.decode_series("os", codec.encode_series(series))
    assert list(back.columns) == ["cpu_user_share", "IO:WALSync"]
    pairs = [(back.seconds, seconds), *zip(back.columns.values(), (one, other), strict=True)]
    for got, given_ in pairs:
        assert got.tobytes() == given_.tobytes() or all(
            math.isnan(a) == math.isnan(b) and (math.isnan(a) or a == b)
            for a, b in zip(got, given_, strict=True)
        )
