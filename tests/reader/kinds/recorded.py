"""What plans and sizes say of the findings that are about them, where such a finding looks."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from teiten.analysis.model.claims import Claim
from teiten.kinds.queries.claims.of_workers import WorkersByRule
from teiten.model.plan import PlannedTrial
from tests.reader.campaign import Campaign
from tests.reader.language import count
from tests.reader.reader import Reader

ENDS = {"first": 0, "last": -1}
LAUNCHED = re.compile(
    r"(?:(?P<server>PostgreSQL [^,]+|[^,:、]+)(?:, |、))?(?P<query>[^,:、]+): "
    r"(?:(?P<en>\d+) workers launched, (?P<en_rule>\d+) by the rule"
    r"|起動ワーカー数(?P<ja>\d+)、規則による数(?P<ja_rule>\d+))"
)
FEWER = {"fewer than by the rule", "規則による数より少ない"}
AS_MANY = {"as many as by the rule", "規則による数と等しい"}
REASONS = {
    "the plans are serial, and ask for no workers": "serial",
    "実行計画がパラレルではなく、ワーカーを要求していない": "serial",
    "the sizes of tables and indexes were not recorded": "sizes",
    "テーブルとインデックスのサイズが記録されていない": "sizes",
    "the trials hold no executed plan": "no-plans",
    "実行された実行計画の記録がない": "no-plans",
    "the data are too small for parallel workers": "too-small",
    "データが小さく、パラレルワーカーが使われない": "too-small",
}


@dataclass(frozen=True)
class Seen:
    """An executed plan, with the sizes and the limits of its server."""

    plan: dict[str, Any]
    sizes: dict[str, dict[str, Any]]
    planner: dict[str, str] | None

    @property
    def gathers(self) -> list[dict[str, Any]]:
        """Those with the most workers first."""
        found = [one for one in nodes(self.plan["Plan"]) if one["Node Type"].startswith("Gather")]
        return sorted(found, key=lambda one: -one["Workers Planned"])

    @property
    def launched(self) -> int:
        return int(self.gathers[0].get("Workers Launched", 0)) if self.gathers else 0

    @property
    def permitted(self) -> int:
        assert self.planner is not None
        names = ("max_parallel_workers_per_gather", "max_parallel_workers", "max_worker_processes")
        return min(int(self.planner[name]) for name in names)

    def by_rule(self, rule: WorkersByRule) -> int | None:
        """Workers that the rule gives; None where it takes what was not recorded."""
        if self.planner is None:
            return None
        if not rule.relation:
            return self._of_first_scan()
        if rule.rule.value == "partitions":
            parts = [size for size in self.sizes.values() if size["parent"] == rule.relation]
            tables = [part for part in parts if part["kind"] == "r"]
            return len(tables).bit_length() if tables else None
        return self._by_size(rule.relation)

    def _of_first_scan(self) -> int | None:
        """Of the table or index that the first process reads first."""
        if not self.gathers:
            return None
        node = self.gathers[0]
        while "Relation Name" not in node:
            node = next(one for one in node["Plans"] if one["Parent Relationship"] != "Inner")
        return self._by_size(node.get("Index Name") or node["Relation Name"])

    def _by_size(self, name: str) -> int | None:
        known = self.sizes.get(name)
        if known is None or not known["pages"] or self.planner is None:
            return None
        of = "index" if known["kind"] == "i" else "table"
        least, workers = int(self.planner[f"min_parallel_{of}_scan_size"]), 0
        while known["pages"] >= least:
            workers, least = workers + 1, least * 3
        return workers


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from nodes(below)


def finding_of(reader: Reader, text: str) -> Claim | None:
    """The finding whose words a row begins with."""
    found = [
        finding
        for finding in reader.campaign.findings
        if text.startswith(reader.own(finding.statement))
    ]
    return max(found, key=lambda one: len(reader.own(one.statement)), default=None)


def looked_at(campaign: Campaign, finding: Claim) -> list[PlannedTrial]:
    """The planned trials at the levels that a finding is about."""
    planned = campaign.planned(finding.workload)
    wanted = {}
    for factor, level in finding.at:
        here = {one.cell.level(factor) for one in planned}
        known = [one for one in campaign.levels(factor) if one in here]
        if level not in ENDS:
            wanted[factor] = level
        elif known:
            wanted[factor] = known[ENDS[level]]
    return [
        one
        for one in planned
        if all(one.cell.level(factor) == level for factor, level in wanted.items())
    ]


def seen_in(campaign: Campaign, planned: Sequence[PlannedTrial]) -> list[Seen]:
    """The executed plans of those of the trials that count."""
    sizes = {
        event.detail["fingerprint"]: {each["name"]: each for each in event.detail["relations"]}
        for event in campaign.events
        if event.kind == "relations"
    }
    found = []
    for one in planned:
        facts = getattr(campaign.counted.get(one.number), "facts", {})
        if "plan" in facts and facts.get("plan_executed"):
            document = json.loads(zlib.decompress(base64.b64decode(facts["plan"])))
            known = sizes.get(one.template.fingerprint, {})
            found.append(Seen(document[0], known, facts.get("planner")))
    return found


Place = tuple[str, str]
"""Server and query."""


def by_place(campaign: Campaign, finding: Claim, queries: Sequence[str]) -> dict[Place, list[Seen]]:
    found: dict[Place, list[PlannedTrial]] = {}
    for one in looked_at(campaign, finding):
        query = one.cell.level("query") or ""
        if not queries or query in queries:
            found.setdefault((one.cell.level("server") or "", query), []).append(one)
    return {place: seen_in(campaign, planned) for place, planned in found.items()}


def counted_in(rule: WorkersByRule, seen: Sequence[Seen]) -> list[tuple[int, int]]:
    """Launched and by the rule; "fewer" asks only those plans that ask for workers at all."""
    return [
        (one.launched, by_rule)
        for one in seen
        if (one.gathers or not rule.fewer) and (by_rule := one.by_rule(rule)) is not None
    ]


def lacks(rule: WorkersByRule, seen: Sequence[Seen]) -> str:
    """What stands in the way of a rule at one place; empty where nothing does."""
    if not seen:
        return "no-plans"
    parallel = [one for one in seen if one.gathers]
    known = [one for one in seen if one.by_rule(rule) is not None]
    if not parallel and (rule.fewer or not known):
        return "serial"
    found = counted_in(rule, seen)
    if not found:
        return "sizes"
    most = max(by_rule for _, by_rule in found)
    if most < 1:
        return "too-small"
    least = min(one.permitted for one in seen if one.planner is not None)
    return "permitted" if most > least else ""


def kept(rule: WorkersByRule, found: Sequence[tuple[int, int]]) -> str:
    agree = {launched < most if rule.fewer else launched == most for launched, most in found}
    if len(agree) > 1:
        return "inconclusive"
    return "reproduced" if True in agree else "contradicted"


def outcome_by_plans(reader: Reader, row: tuple[str, ...], word: str) -> None:
    """That an outcome on numbers of workers follows from the plans."""
    finding = finding_of(reader, row[0])
    if finding is None:
        reader.that(False, "no such finding")
        return
    rule = finding.predicate
    if not isinstance(rule, WorkersByRule):
        return
    places = by_place(reader.campaign, finding, rule.queries)
    lacking = {why for seen in places.values() if (why := lacks(rule, seen))}
    reader.that(not lacking, f"it is not applicable ({sorted(lacking)})")
    reader.that(row[3] in (FEWER if rule.fewer else AS_MANY), "another bound")
    found = {place: counted_in(rule, seen) for place, seen in places.items()}
    said = LAUNCHED.match(row[2])
    if said is None:
        reader.that(False, "no numbers of workers")
        return
    numbers = count(said["en"] or said["ja"]), count(said["en_rule"] or said["ja_rule"])
    known = {
        (median(one for one, _ in each), median(most for _, most in each))
        for (_, query), each in found.items()
        if query == said["query"] and each
    }
    reader.that(numbers in known, f"launched and by the rule are {known}")
    if lacking or not reader.campaign.plan.study.conclusive:
        return
    each = [kept(rule, one) for one in found.values()]
    expected = (
        "contradicted"
        if "contradicted" in each
        else "reproduced"
        if set(each) == {"reproduced"}
        else "inconclusive"
    )
    reader.equal(word, expected, "the outcome")


def reason_by_plans(reader: Reader, row: tuple[str, ...]) -> bool:
    """Whether a row's reason is one of plans, and was checked."""
    found = re.fullmatch(
        r"the rule gives (\d+) workers, and the parameters permit (\d+): they bind before the rule"
        r" does|規則では(\d+)個のワーカーとなるが、パラメータの上限が(\d+)個のため、規則どおりか判定できない",
        row[-1],
    )
    said = "permitted" if found else REASONS.get(row[-1])
    finding = finding_of(reader, row[0])
    if said is None or finding is None:
        return False
    rule = finding.predicate
    if isinstance(rule, WorkersByRule):
        places = by_place(reader.campaign, finding, rule.queries)
        reasons = {why for seen in places.values() if (why := lacks(rule, seen))}
        reader.that(said in reasons, f"what stands in the way is {sorted(reasons)}")
        if found:
            permit_is(reader, rule, list(places.values()), [one for one in found.groups() if one])
    elif said == "no-plans":
        bare = [not seen for seen in by_cell(reader.campaign, finding)]
        reader.that(any(bare), "there are executed plans everywhere")
    elif said == "too-small":  # of a curve: up to the most workers that were launched
        every = [one for seen in by_cell(reader.campaign, finding) for one in seen]
        reader.that(bool(every), "there is no plan")
        reader.that(not all(one.launched for one in every), "workers were launched everywhere")
    else:
        reader.that(False, "not of such a finding")
    return True


def by_cell(campaign: Campaign, finding: Claim) -> list[list[Seen]]:
    cells: dict[object, list[PlannedTrial]] = {}
    for one in looked_at(campaign, finding):
        cells.setdefault(one.cell, []).append(one)
    return [seen_in(campaign, planned) for planned in cells.values()]


def permit_is(
    reader: Reader, rule: WorkersByRule, places: Sequence[Sequence[Seen]], said: Sequence[str]
) -> None:
    """The workers by the rule, and those that the parameters permit."""
    known = {
        (str(max(most for _, most in found)), str(min(one.permitted for one in seen)))
        for seen in places
        if (found := counted_in(rule, seen))
    }
    reader.that(tuple(said) in known, f"they are {known}")
