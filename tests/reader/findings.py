"""Published findings: their outcomes by intervals, plans and sizes."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median

from teiten.analysis.model.claims import Claim, PublishedQueries
from teiten.kinds.queries.claims.of_plans import WorkersByRule
from teiten.model.plan import PlannedTrial
from tests.reader.arithmetic import geometric_mean
from tests.reader.campaign import Campaign
from tests.reader.document import Part, Table
from tests.reader.evidence import numbers_in
from tests.reader.language import SLOT, printed
from tests.reader.nouns import counted
from tests.reader.plan_nodes import Seen, executed
from tests.reader.reader import Reader
from tests.reader.relations import halfway_objections
from tests.reader.texts import phrase, sentence

CHECK = re.compile(
    r": (\S+?) ?\([\d.]+ ?%(?: interval |信頼区間 )([<>]? ?[\d.,]+)(?: to |〜)([<>]? ?[\d.,]+)\)"
)
"""A ratio with its interval."""
OUTCOMES = ("reproduced", "contradicted", "inconclusive", "not-applicable")
ENDS = {"first": 0, "last": -1}
OF_PLANS = ("serial", "sizes", "no-plans", "too-small")
"""What can stand in the way of a finding on numbers of workers, besides what is permitted."""


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


Place = tuple[str, str]
"""Server and query."""


def by_place(campaign: Campaign, finding: Claim, queries: Sequence[str]) -> dict[Place, list[Seen]]:
    found: dict[Place, list[PlannedTrial]] = {}
    for one in looked_at(campaign, finding):
        query = one.cell.level("query") or ""
        if not queries or query in queries:
            found.setdefault((one.cell.level("server") or "", query), []).append(one)
    return {place: executed(campaign, planned) for place, planned in found.items()}


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
    bound = "claim.fewer-than-rule" if rule.fewer else "claim.bound-workers"
    reader.equal(row[3], phrase(reader.language, bound), "the bound")
    found = {place: counted_in(rule, seen) for place, seen in places.items()}
    said = sentence(reader.language, "claim.workers").match(row[2])
    if said is None:
        reader.that(False, "no numbers of workers")
        return
    numbers = printed(said["launched"]).value, printed(said["rule"]).value
    known = {
        (median(one for one, _ in each), median(most for _, most in each))
        for (_, query), each in found.items()
        if query == said["queries"].split(reader.separator)[-1] and each
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
    found = said_reason(reader, "permitted", row[-1])
    known = (key for key in OF_PLANS if said_reason(reader, key, row[-1]))
    said = "permitted" if found else next(known, None)
    finding = finding_of(reader, row[0])
    if said is None or finding is None:
        return False
    rule = finding.predicate
    if isinstance(rule, WorkersByRule):
        places = by_place(reader.campaign, finding, rule.queries)
        reasons = {why for seen in places.values() if (why := lacks(rule, seen))}
        reader.that(said in reasons, f"what stands in the way is {sorted(reasons)}")
        if found:
            permit_is(reader, rule, list(places.values()), (found["needed"], found["here"]))
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


def said_reason(reader: Reader, key: str, text: str) -> re.Match[str] | None:
    return sentence(reader.language, f"claim-reason.{key}").fullmatch(text)


def by_cell(campaign: Campaign, finding: Claim) -> list[list[Seen]]:
    cells: dict[object, list[PlannedTrial]] = {}
    for one in looked_at(campaign, finding):
        cells.setdefault(one.cell, []).append(one)
    return [executed(campaign, planned) for planned in cells.values()]


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


# --- the tables of findings -----------------------------------------------------------------------


def rows_below(reader: Reader, caption: str) -> list[tuple[str, ...]]:
    """The rows of the tables with a caption, by its key."""
    wanted = phrase(reader.language, f"table.{caption}")
    return [
        row for table in reader.document.tables if table.caption == wanted for row in table.rows
    ]


def bounds_are_declared(reader: Reader, row: tuple[str, ...]) -> None:
    """That what a row must lie between is what its finding declares, and a ratio in the middle of
    its interval."""
    finding = finding_of(reader, row[0])
    numbers = numbers_in(finding)
    own = [reader.measure.delta, *(value for path, value in numbers if path[0] != "needs")]
    near = [1 + sign * value for value in own for sign in (-1, 1) if value < 1]
    declared = [*own, *near, *(1 / value for value in (*own, *near) if value)]
    for number in map(printed, SLOT.findall(row[3])):
        known = any(number.is_of(value * scale) for value in declared for scale in (1.0, 100.0))
        reader.that(known, f"no bound is {number.value}")
    table = Table(row[0], ("", row[2]), [])
    for line in row[2].split("\n"):
        within = CHECK.search(line)
        if within is not None:
            reader.objections += halfway_objections(table, 1, line, *within.groups())


def in_print(finding: Claim, line: str) -> set[float]:
    """What one printed number divided by another of its column, or of its level, comes to; of the
    queries that a line names the geometric mean."""
    published = finding.published
    if isinstance(published, PublishedQueries):
        columns = [dict(column.values) for column in published.columns]
        named = [query for query in columns[0] if re.search(rf"(?<![\w.]){query}(?![\w.])", line)]
        pairs = itertools.permutations(columns, 2) if named else ()
        return {geometric_mean([old[query] / new[query] for query in named]) for old, new in pairs}
    known = set()
    for a, b in itertools.permutations(published.curves if published else (), 2):
        known |= {y / dict(b.points)[x] for x, y in a.points if x in dict(b.points)}
    for curve in published.curves if published else ():
        for (x, y), (first, least) in itertools.permutations(curve.points, 2):
            known |= {y / least, (y / x) / (least / first)}
    return known


def check_print(reader: Reader, row: Sequence[str]) -> None:
    """That a ratio of printed numbers follows from them, where the line is of two of them."""
    finding = finding_of(reader, row[0])
    kinds = ("contrast.many", "contrast.one", "levels", "per-core", "speed-up")
    for line in row[1].split("\n") if finding else ():
        for key in ("claim.in-print", "claim.in-print-derived"):
            said = sentence(reader.language, key).fullmatch(line)
            what, _, ratio = said["check"].rpartition(": ") if said else ("", "", "")
            if finding and any(
                sentence(reader.language, f"claim.{kind}").fullmatch(what) for kind in kinds
            ):
                known = in_print(finding, what)
                right = any(printed(ratio).is_of(value) for value in known)
                reader.that(right, f"no printed numbers make {ratio}")


def check_workers(reader: Reader) -> None:
    """The workers that are printed, that a rule gives and that were launched, of each query."""
    for row in rows_below(reader, "published-workers.caption"):
        reader.about = " | ".join(row)
        known, published = set(), {"—"}
        for finding in reader.campaign.findings:
            rule, print_of = finding.predicate, finding.published
            if isinstance(print_of, PublishedQueries):
                values = [dict(each.values) for each in print_of.columns]
                published |= {f"{each[row[1]]:g}" for each in values if row[1] in each}
            if isinstance(rule, WorkersByRule):
                places = by_place(reader.campaign, finding, (row[1],))
                known |= {
                    tuple(f"{median(each):g}" for each in zip(*found, strict=True))[::-1]
                    for seen in places.values()
                    if (found := counted_in(rule, seen))
                }
        reader.that(row[-2:] in known, f"by the rule and launched are {known}")
        print_has = row[2:-2] or ("—",)  # a column in which nothing is printed is left out
        reader.that(print_has[0] in published, f"printed are {published}")


def check_findings(reader: Reader) -> None:
    """Each row of the findings by itself, and as many as are counted of each outcome."""
    check_workers(reader)
    for row in (*rows_below(reader, "claims.caption"), *rows_below(reader, "claims.elsewhere")):
        reader.about = " | ".join(row)[:300]
        check_print(reader, row)
    for row in rows_below(reader, "claims.caption"):
        reader.about = " | ".join(row)[:300]
        outcome(reader, row)
        of_probes = any(each.kind == "probes" for each in reader.campaign.workloads())
        for _, why in counted(row[2] if not of_probes else "", [reader.campaign]):
            reader.that(not why, why)
        bounds_are_declared(reader, row)
    for row in rows_below(reader, "claims.elsewhere"):
        reader.about = " | ".join(row)[:300]
        if not reason_by_plans(reader, row):
            reason(reader, row)


def outcomes(reader: Reader) -> dict[str, str]:
    """How each outcome is told."""
    return {key: phrase(reader.language, f"claim-outcome.{key}") for key in OUTCOMES}


def check_counts(reader: Reader) -> None:
    """That as many findings are counted of each outcome as the tables have."""
    ends = tuple(outcomes(reader).values())
    counts = Counter(
        next((word for word in ends if row[-1].startswith(word)), "")
        for row in rows_below(reader, "claims.caption")
    )
    counts[ends[-1]] += len(rows_below(reader, "claims.elsewhere"))
    form = r"{}(\d+)件" if reader.language == "ja" else r"(\d+) {}"
    for part in counts_of(reader):
        reader.about = part.text
        found = {word: re.findall(form.format(re.escape(word)), part.text) for word in ends}
        told = {word: int(number[0]) for word, number in found.items() if number}
        reader.that(told == {**+counts}, f"{sorted(counts.items())} are")
        first = re.search(r"\d+", part.text)
        right = first is not None and int(first[0]) == counts.total()
        reader.that(right, f"{counts.total()} are")


def counts_of(reader: Reader) -> list[Part]:
    """The sentence that counts the findings."""
    begin = phrase(reader.language, "claim.summary.many").split("{")[0]
    return [part for part in reader.document.parts if begin and part.text.startswith(begin)]


def outcome(reader: Reader, row: tuple[str, ...]) -> None:
    """A check's interval against the bounds that it must lie between."""
    known = (key for key, text in outcomes(reader).items() if row[-1].startswith(text))
    word = next(known, None)
    if word is None:
        reader.that(False, "no such outcome")
        return
    why = re.fullmatch(r"[^:(]+(?:: (.+)|\((.+)\))", row[-1])
    if why:
        reason(reader, (*row[:-1], why[1] or why[2]))
    outcome_by_plans(reader, row, word)
    check = CHECK.search(row[2])
    bounds, beyond = bounds_of(reader, row[3])
    kept = sentence(reader.language, "claim.of-checks").search(row[2])
    if kept:
        left, of = int(kept["kept"]), int(kept["count"])
        reader.that(left <= of, "more kept than checks")
        reader.that(of in (checks_of(reader, row) or {of}), f"another number of checks than {of}")
        reader.that(
            not left or ": —" not in row[2] or has_pairs(reader, row),
            "no two levels have two blocks in common",
        )
        whole = word == "reproduced"
        reader.that(whole == (left == of) or word == "inconclusive", f"{word} with {left} of {of}")
    if check is None or bounds is None:
        return
    ratio, low, high = (printed(one) for one in check.groups())
    room = 0.5 * max(low.step, high.step) + 1e-9
    inside = low.value >= bounds[0] - room and high.value <= bounds[1] + room
    assert beyond is not None
    outside = low.value >= beyond[1] - room or high.value <= beyond[0] + room
    plainly = low.value >= bounds[1] - room or high.value <= bounds[0] + room
    ahead = 1 + reader.measure.delta
    if beyond != bounds:
        reader.that(
            1.0 in bounds and min(abs(beyond[0] - ahead), abs(1 / beyond[1] - ahead)) < 1e-3,
            "not contradicted from the difference that matters",
        )
    reader.that(low.value - room <= ratio.value <= high.value + room, "not within its interval")
    if word == "reproduced":
        reader.that(inside, "not within the bounds")
    if word == "contradicted":
        below_delta = why and said_reason(reader, "below-delta", why[1] or why[2])
        reader.that(outside, "not outside of the bounds")
        reader.that(plainly or bool(below_delta), "no word on the difference that matters")
    if word == "inconclusive":
        certainly = low.value > bounds[0] + room and high.value < bounds[1] - room
        reader.that(not certainly or bool(why), "it lies within the bounds")


def checks_of(reader: Reader, row: tuple[str, ...]) -> set[int]:
    """How many levels a finding on queries or transactions is about: all of them, or each server's but
    the first."""
    campaign, finding = reader.campaign, finding_of(reader, row[0])
    if finding is None or campaign.plan.study.workload(finding.workload).kind == "probes":
        return set()
    cells = {trial.cell for trial in looked_at(campaign, finding)}
    servers = {cell.level("server") for cell in cells}
    contexts = {cell.context(campaign.contrast) for cell in cells}
    return {len(contexts), len(cells) - len(servers)}


def has_pairs(reader: Reader, row: tuple[str, ...]) -> bool:
    """Whether any two cells of a finding's workload have enough blocks in common for an interval."""
    finding, blocks = finding_of(reader, row[0]), defaultdict[object, set[int]](set)
    for trial in reader.campaign.planned(finding.workload) if finding else ():
        if trial.number in reader.campaign.counted:
            blocks[trial.cell].add(trial.block)
    every = itertools.combinations(blocks.values(), 2)
    return finding is None or any(len(a & b) > 1 for a, b in every)


Ends = tuple[float, float]


def bounds_of(reader: Reader, text: str) -> tuple[Ends | None, Ends | None]:
    """Where a check must lie, and outside of what it contradicts; the same, but for ``≥ 1;
    contradicted below 1.02``."""
    for key in ("claim.contradicted-below", "claim.contradicted-above"):
        said = sentence(reader.language, key).fullmatch(text)
        bounds = plain_bounds(reader, said["bounds"]) if said else None
        if said and bounds and SLOT.fullmatch(said["end"]):
            end = printed(said["end"]).value
            return bounds, (end, bounds[1]) if key.endswith("below") else (bounds[0], end)
    bounds = plain_bounds(reader, text)
    return bounds, bounds


def plain_bounds(reader: Reader, text: str) -> Ends | None:
    """``≥ 1.2``, ``0.9 to 1.1``, ``1.2以上``"""
    for key in ("claim.at-least", "claim.at-most", "interval.plain"):
        said = sentence(reader.language, key).fullmatch(text)
        if said and all(SLOT.fullmatch(number) for number in said.groups()):
            numbers = [printed(number).value for number in said.groups()]
            ends = [0.0] * (key == "claim.at-most") + numbers
            return ends[0], (*ends, float("inf"))[1]
    return None


def reason(reader: Reader, row: tuple[str, ...]) -> None:
    """What is said at the end of a row to stand in the way of its finding, as far as the campaign
    tells."""
    text, finding = row[-1], finding_of(reader, row[0])
    campaign, study = reader.campaign, reader.campaign.plan.study
    versions = [server.version for _, server in campaign.plan.servers]
    known = {str(version) for version in versions}
    majors = {str(version.major) for version in versions}
    told = {key: said_reason(reader, key, text) for key in
            ("below-delta", "over-timeout", "profile", "quick-look", "before", "servers", "cores", "workload")}  # fmt: skip
    if said := told["below-delta"]:
        delta = printed(said["delta"])
        reader.that(delta.is_of(100 * reader.measure.delta), "another difference matters")
    elif told["over-timeout"]:
        over = any("over_timeout" in trial.metrics for trial in campaign.counted.values())
        reader.that(over, "no query exceeded its limit")
    elif told["profile"]:
        reader.that(not study.conclusive, "the profile is conclusive")
    elif told["quick-look"]:
        reader.that(study.conclusive and not study.replicates, "the profile is another")
    elif said := told["before"]:
        here = {*re.split(", |、", said["here"])}
        reader.that(here <= known, f"here are {known}")
        reader.that(all(int(name.split(".")[0]) >= int(said["needed"]) for name in here), "older")
    elif said := told["servers"]:
        here = {*re.split(", |、", said["here"])}
        reader.that(here <= known | majors | {*campaign.levels("server")}, f"here are {known}")
        reader.that(not {*re.split(", |、", said["needed"])} <= majors, "they are here")
    elif said := told["cores"]:
        reader.equal(said["here"], campaign.facts.cpu.logical, "the cores")
        reader.that(int(said["needed"]) > int(said["here"]), "so many are here")
        needed = finding.needs.cores if finding else None
        reader.equal(said["needed"], needed, "the cores that it needs")
    elif said := told["workload"]:
        names = {workload.name for workload in study.workloads}
        reader.that(said["workload"] not in names, "the workload is here")
