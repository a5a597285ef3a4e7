"""The claims of the catalogue: well-formed, bilingual, kept by the tables they come from."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from statistics import fmean

import pytest

from teiten.analysis.claims.outcomes import in_print
from teiten.analysis.model.claims import (
    Claim,
    ClaimStanding,
    PublishedCurves,
    PublishedQueries,
)
from teiten.claims.catalogue import (
    PUBLISHED,
    claims_of,
    published_table,
    read_claims,
    sources,
)
from teiten.errors import StudyError
from teiten.report.claim_words import needs_text
from teiten.report.texts import texts

CLAIMS = claims_of()
WITH_TABLE = [one for one in CLAIMS if one.published is not None]

MINIMAL = """
study = "observe"
report = "A report"

[[claims]]
id = "one"
section = "1"
statement = { en = "It is slower.", ja = "遅い。" }
workload = "read"
metric = "tps"
contrast = { factor = "server", old = "13", new = "14" }
predicate = { kind = "effect", parts = [{ high = 0.99 }] }
"""


def column(table: str, name: str) -> list[float]:
    with (PUBLISHED / f"{table}.csv").open(encoding="utf-8", newline="") as stream:
        return [float(row[name]) for row in csv.DictReader(stream) if row[name]]


def recomputed(claim: str) -> list[str]:
    (found,) = (one for one in CLAIMS if one.id == claim)
    return [one.recomputed for one in found.printed if one.recomputed]


VAGUE = re.compile(
    r"\b(nearly|almost|hardly|constant|levels off|far (?:more|faster)|a few|clear(?:ly)?|alike"
    r"|about \w+ times|next to nothing)\b"
)
OURS = re.compile(r"\bask|\bbound|\bcounts? as|looked at|within", re.IGNORECASE)


def test_a_bound_of_a_word_without_a_number_is_said_to_be_ours() -> None:
    vague = [one for one in CLAIMS if VAGUE.search(one.statement.en)]
    assert len(vague) > 30
    assert [one.id for one in vague if not (one.remark and OURS.search(one.remark.en))] == []


def test_every_report_has_its_claims() -> None:
    reports = {one.source.report for one in CLAIMS if not one.promise}
    promised = {one.source.report for one in CLAIMS if one.promise}
    assert promised == {f"PostgreSQL {major} release notes" for major in range(13, 19)}
    years = (2013, 2020, 2021)
    assert reports == {*(f"PGECons WG1 {year}" for year in years), "PGECons WG3 2021"}
    assert len({one.id for one in CLAIMS}) == len(CLAIMS) >= 22
    assert claims_of("no-such-study") == ()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda one: one.id)
def test_a_claim_is_said_in_both_languages_and_names_its_place(claim: Claim) -> None:
    assert claim.statement.en and claim.statement.ja
    assert claim.statement.en != claim.statement.ja
    assert claim.source.section
    assert claim.predicate.compares == (claim.contrast is not None)


@pytest.mark.parametrize("claim", WITH_TABLE, ids=lambda one: one.id)
def test_the_printed_table_keeps_the_bounds_of_its_own_claim(claim: Claim) -> None:
    check = in_print(claim)
    assert check is not None
    assert check.standing is ClaimStanding.REPRODUCED


def test_a_claim_about_versions_needs_these_versions() -> None:
    for claim in CLAIMS:
        if claim.contrast is not None and claim.contrast.factor == "server":
            assert claim.needs.servers == (claim.contrast.old, claim.contrast.new)


def test_recomputed_values_follow_from_the_printed_tables() -> None:
    clients = column("observe-2013-checksums", "clients")
    off = dict(zip(clients, column("observe-2013-checksums", "tps_off"), strict=True))
    on = dict(zip(clients, column("observe-2013-checksums", "tps_on"), strict=True))
    assert recomputed("2013-checksums-low-load") == [f"{100 * on[16] / off[16]:.2f} %"]
    assert recomputed("2013-checksums-saturation") == [f"{100 * on[48] / off[48]:.2f} %"]
    old = fmean(column("observe-2021-read", "tps_13.4"))
    new = fmean(column("observe-2021-read", "tps_14.0"))
    assert recomputed("2021-read-14-slower") == [
        f"{old:.2f}",
        f"{new:.2f}",
        f"{100 * (1 - new / old):.2f} %",
    ]


def test_published_tables_name_their_source_and_hold_their_columns() -> None:
    for name, source in sources().items():
        assert source.report and source.section and source.licence
        for curve, of_column in source.curves.items():
            table = published_table(name, [curve], "tps")
            if isinstance(table, PublishedQueries):
                count = len(table.columns[0].values)
            else:
                count = len(table.curves[0].points)
            assert count == len(column(name, of_column))
    assert {path.stem for path in PUBLISHED.glob("*.csv")} == set(sources())


def test_shares_and_latencies_are_in_base_units() -> None:
    idle = published_table("observe-2013-versions", ["idle 9.2"], "cpu_idle_share")
    assert isinstance(idle, PublishedCurves)
    assert idle.curves[0].points[0] == pytest.approx((1.0, 0.9825))
    latency = published_table("observe-2021-read", ["13.4"], "latency_mean")
    assert isinstance(latency, PublishedCurves) and latency.derived
    assert latency.curves[0].points[-1] == pytest.approx((192.0, 192 / 8188.156))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id = "one"', 'id = "o/ne"', "claims.1.id: 'o/ne' is not a name"),
        ('kind = "effect", parts = [{', 'kind = "query-order", parts = [{', "classes"),
        (
            'kind = "effect", parts = [{ high = 0.99 }]',
            'kind = "plan-value", parts = [{ high = 0.99 }]',
            "a predicate 'plan-value' has no contrast",
        ),
        (
            'kind = "effect", parts = [{ high = 0.99 }]',
            'kind = "workers-by-rule", rule = "partitions"',
            "needs the relation whose size or partitions count",
        ),
        ('factor = "server"', 'factor = "sever"', "is not a factor. Did you mean 'server'?"),
        ('metric = "tps"', 'metric = "plan_blocks"', "Did you mean 'plan_blocks:…'?"),
        ("high = 0.99", "least = 1.0", "a claim must be able to fail"),
        ("high = 0.99", "high = 0.9, low = 0.95", "low must be below high"),
        ("high = 0.99", "high = 0.9, each = true, per_doubling = true", "each level, or per doubl"),
        (
            'kind = "effect", parts = [{ high = 0.99 }]',
            'kind = "rising", to = 2.0, ends = true, slower_beyond = true',
            "a rise either ends or is slower",
        ),
        (
            'kind = "effect", parts = [{ high = 0.99 }]',
            'kind = "rising", to = 2.0, within = 0.1',
            "within is about a rise that ends",
        ),
        ('metric = "tps"', 'metric = "tsp"', "Did you mean 'tps'?"),
        ('kind = "effect"', 'kind = "affect"', "predicate"),
        ("contrast = {", "# contrast = {", "a predicate 'effect' needs a contrast"),
        ('section = "1"', 'sektion = "1"', "section"),
        ('study = "observe"', "study = ", "this is not TOML"),
        (
            'metric = "tps"',
            'metric = "tps"\npublished = { file = "observe-2021-read", curves = ["13.4", "15"] }',
            "has no curve '15'",
        ),
        ('workload = "read"', 'workload = "reed"', "has no workload 'reed'"),
        (
            'metric = "tps"',
            'metric = "tps"\npublished = { file = "observe-1999", curves = ["13.4", "15"] }',
            "there is no published table 'observe-1999'",
        ),
    ],
)
def test_what_is_wrong_with_a_claims_file_is_said(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(MINIMAL, encoding="utf-8")
    assert len(list(read_claims(path))) == 1
    assert old in MINIMAL
    path.write_text(MINIMAL.replace(old, new), encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        list(read_claims(path))
    assert said in caught.value.message


def test_what_claims_need_is_listed_as_the_language_lists() -> None:
    japanese = texts("ja")
    needs = [needs_text(japanese, claim) for claim in CLAIMS]
    assert not [need for need in needs if ", " in need]
    several = next(claim for claim in CLAIMS if len(claim.needs.servers) > 1)
    servers = "、".join(several.needs.servers)
    assert f"；PostgreSQL {servers}；" in f"{needs_text(japanese, several)}；"
