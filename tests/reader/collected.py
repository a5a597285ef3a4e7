"""Reports that retell campaigns: collections of published findings, and the index of a site.

What they say of a campaign stands in that campaign's own report, word for word or, of a finding,
number for number in the row of the same finding. What they count are rows of their own tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tests.reader.arithmetic import Judgement, ratio_of
from tests.reader.campaign import USUAL, Campaign
from tests.reader.document import Document, Table
from tests.reader.evidence import MOMENT, Evidence
from tests.reader.language import SLOT, printed
from tests.reader.named import working_seconds
from tests.reader.nouns import counted
from tests.reader.texts import phrase

ATLAS = re.compile(r".+: (?:speed by that on .+|.+に対する性能比)")
VERDICTS = re.compile("Verdicts by version|バージョンごとの判定数")
"""Captions of the tables of an atlas, and of what they count."""
SAID = {
    "faster": ("faster", "速い"),
    "slower": ("slower", "遅い"),
    "equivalent": ("equivalent", "同等"),
    "small": ("different but", "差はあるが"),
    "mixed": ("mixed", "水準によって", "混在"),
    "inconclusive": ("inconclusive", "判定できない"),
}
"""Verdicts in the order of their columns."""
ALL = ("all", "合計", "全体")
SHOWN = 2
"""Verdicts of a campaign that an index shows before it folds the others."""
BLOCK = 90.0
"""Seconds of a block."""
EVERY, OUTCOME = ("Every finding that was judged", "検証したすべての結果"), 3
"""The table of findings, and which of its columns has the outcome."""
REST, REASON = ("Findings that were not judged", "検証していない結果"), 1
WAITING = {"not run": "its campaign has not run", "未実施": "対応する検証が実施されていない"}
"""The outcome of findings whose campaign has not run, and their reason."""


# --- what they say ----------------------------------------------------------------------------


def numbers(text: str) -> list[tuple[float, str]]:
    return [(number.value, number.bound) for number in map(printed, SLOT.findall(text))]


class Retold:
    """The reports of the campaigns."""

    def __init__(self, documents: Sequence[Document]) -> None:
        parts = [part.text for document in documents for part in document.parts]
        self.text = "\n".join(parts)
        self.rows = [
            row for document in documents for table in document.tables for row in table.rows
        ]

    def untold(self, text: str) -> str:
        """The lines of a text that stand in no report."""
        lines = (line.removeprefix(": ") for line in text.split("\n"))
        return "\n".join(line for line in lines if not self.word_for_word(line))

    def word_for_word(self, line: str) -> bool:
        return re.search(rf"(?<![\w.]){re.escape(line)}(?![\w.])", self.text) is not None

    def in_its_row(self, cell: str, row: Sequence[str], evidence: Evidence) -> bool:
        """Whether the row of the same first cell in a report has these numbers in one cell."""
        wanted = [numbers(evidence.unnamed(line)) for line in cell.split("\n")]
        known = [
            numbers(evidence.unnamed(line))
            for same in self.rows
            if same[0] == row[0]
            for each in same
            for line in each.split("\n")
        ]
        return all(line in known for line in wanted if line)


def retold_objections(document: Document, retold: Retold, evidence: Evidence) -> Iterator[str]:
    """Objects to numbers of tables that no report has, and that count no rows."""
    atlases = [table for table in document.tables if ATLAS.fullmatch(table.caption)]
    for table in document.tables:
        if table in atlases:
            yield from _atlas_objections(table, evidence)
            continue
        if VERDICTS.search(table.caption):
            yield from _counts_of_verdicts(table, atlases)
            continue
        for row in table.rows:
            for at in range(len(row)):
                for why in _cell_objections(document, table, row, at, retold, evidence):
                    yield f"{table.caption} · {table.columns[at]}: {why}"


def _cell_objections(
    document: Document,
    table: Table,
    row: Sequence[str],
    at: int,
    retold: Retold,
    evidence: Evidence,
) -> Iterator[str]:
    cell, count = row[at], _counted(document, table, row, at, evidence)
    ran = _ran_for(evidence, row).get(table.columns[at]) if count is None else {float(count)}
    if ran is not None and SLOT.fullmatch(cell):
        if printed(cell).value not in ran:
            yield f"it is {sorted(ran)}, not {cell}"
        return
    moments = {found[0] for found in MOMENT.finditer(cell)}
    yield from (f"nothing was at {moment}" for moment in moments - evidence.moments)
    untold = retold.untold(cell)
    yield from evidence.words_objections(untold)
    yield from filter(None, (why for _, why in counted(untold, evidence.every)))
    unknown = numbers(evidence.unnamed(untold))
    known = {value for value, _ in unknown} <= _of_all(evidence.every)
    if unknown and not known and not retold.in_its_row(cell, row, evidence):
        yield f"{cell} is in no report"


def _atlas_objections(table: Table, evidence: Evidence) -> Iterator[str]:
    """Objects to cells of an atlas that the trials of its campaign do not say."""
    for row in table.rows:
        for version, cell in zip(table.columns[1:], row[1:], strict=True):
            campaign, judgement = _on_version(evidence, table.caption, row[0], version)
            about = f"{table.caption}: {row[0]}, {version}: {cell}"
            *figures, word = cell.split("\n")
            conclusive = campaign.plan.study.conclusive
            if conclusive and not any(form in word for form in SAID[judgement.word]):
                yield f"{about}: it is {judgement.word}"
            if bool(figures) == bool(judgement.reason):
                yield f"{about}: the reason is {judgement.reason}"
            yield from (f"{about}: {why}" for why in _wrong_numbers(figures, word, judgement))


def _wrong_numbers(figures: Sequence[str], word: str, judgement: Judgement) -> Iterator[str]:
    """Objects to the ratio and its ends; a verdict's word has δ, or what was measured."""
    known = (100 * judgement.delta, 100 * (ratio_of(judgement.mean) - 1))
    for number in SLOT.findall(word):
        if not any(printed(number).is_of(value) for value in known):
            yield f"{number} is neither δ nor the ratio"
    logs = (judgement.mean, judgement.low, judgement.high)
    if judgement.lower_is_better:
        logs = (-judgement.mean, -judgement.high, -judgement.low)
    for number, log in zip(SLOT.findall("\n".join(figures)), logs, strict=False):
        if not printed(number).is_of(ratio_of(log)):
            yield f"{number} is {ratio_of(log)}"


def _on_version(
    evidence: Evidence, caption: str, title: str, version: str
) -> tuple[Campaign, Judgement]:
    """The campaign of an atlas' table, and its verdict on a workload."""
    own = evidence.reader.own
    for campaign in evidence.every:
        sides = {str(server.version): level for level, server in campaign.plan.servers}
        for workload in campaign.workloads():
            if caption.startswith(own(campaign.plan.study.title)) and own(workload.title) == title:
                metric = USUAL[workload.kind]
                return campaign, campaign.judged(workload.name, metric, sides[version]).overall
    raise AssertionError(f"no campaign has {title} of {caption}")


def _counts_of_verdicts(table: Table, atlases: Sequence[Table]) -> Iterator[str]:
    """Objects to counts that the cells below do not have; what supports no conclusion is open."""
    for row in table.rows:
        words = [
            _word_of(cells[atlas.columns.index(row[0])])
            for atlas in atlases
            if row[0] in atlas.columns
            for cells in atlas.rows
        ]
        for count, word in zip(row[1:], SAID, strict=True):
            if count != str(words.count(word)):
                yield f"{table.caption}, {row[0]}: {words.count(word)} are {word}, not {count}"


def _word_of(cell: str) -> str:
    last = cell.rsplit("\n", maxsplit=1)[-1]
    known = (word for word, forms in SAID.items() if any(form in last for form in forms))
    return next(known, "inconclusive")


COUNTED = ("findings", "reproduced", "contradicted", "inconclusive", "not_applicable", "not_run")
FORECAST = re.compile(r"about (\d+) further blocks?, (\d+) minutes?|あと約(\d+)ブロック、(\d+)分")


def outcomes_of(document: Document) -> dict[str, set[float]]:
    """How many findings there are of each outcome, by the names of places of the answer."""
    rows = (table.rows[-1] for table in document.tables if table.rows)
    totals = next((row[1:] for row in rows if row[0] in ALL), ())
    counts = {name: {float(total)} for name, total in zip(COUNTED, totals, strict=bool(totals))}
    if not counts:
        return {}
    applying = sum(min(counts[name]) for name in COUNTED[1:4])
    still_open = counts["inconclusive"]
    return counts | {
        "applying": {applying},
        "collection.left-open.one count": still_open,
        "collection.left-open.many count": still_open,
    }


def without_forecast(text: str) -> tuple[str, list[str]]:
    """A text without the blocks to come, and objections where their minutes are not theirs."""
    wrong = []
    for found in FORECAST.finditer(text):
        blocks, minutes = (int(each) for each in found.groups() if each)
        if abs(minutes - blocks * BLOCK / 60) > 1:
            wrong.append(f"{blocks} blocks take {blocks * BLOCK / 60} minutes: {found[0]}")
    return FORECAST.sub("", text), wrong


def _ran_for(evidence: Evidence, row: Sequence[str]) -> dict[str, set[float]]:
    """By their headings, the blocks and the minutes of the campaign of a row; 0 of none."""
    blocks, minutes = {0.0}, {0.0}
    named = [each for each in evidence.every if any(each.name in cell for cell in row)]
    for campaign in named:
        ran = {trial.number for trial in campaign.trials}
        blocks = {
            float(len({trial.block for trial in campaign.plan.trials if trial.number in ran}))
        }
        minutes = {float(round(working_seconds(campaign) / 60))}
    headings = ("collection.blocks", "collection.minutes")
    names = (phrase(evidence.reader.language, key) for key in headings)
    return dict(zip(names, (blocks, minutes), strict=True))


def _of_all(campaigns: Sequence[Campaign]) -> set[float]:
    """How many campaigns there are, and the cores of each."""
    return {float(len(campaigns)), *(float(each.facts.cpu.logical) for each in campaigns)}


def site_numbers(campaigns: Sequence[Campaign]) -> dict[str, set[float]]:
    """What the index of a site counts: campaigns of one study, and verdicts that are folded."""
    folded = {float(len(list(each.answers())) - SHOWN) for each in campaigns}
    names = ("site.shown", "site.campaigns.one count", "site.campaigns.many count")
    return {"site.more count": folded, **{name: {float(len(campaigns))} for name in names}}


def _counted(
    document: Document, table: Table, row: Sequence[str], at: int, evidence: Evidence
) -> int | None:
    """How many findings a row and a column name; None where they count none."""
    findings = [
        (finding[0], finding[OUTCOME] if judged else _outcome(table.columns[-2], finding))
        for captions, judged in ((EVERY, True), (REST, False))
        for listed in document.tables
        if listed.caption in captions
        for finding in listed.rows
    ]
    if at == 0 or not findings or table.rows[-1][0] not in ALL:
        return None
    of_subject = {
        evidence.reader.own(claim.statement)
        for campaign in evidence.every
        if evidence.reader.own(campaign.plan.study.title) == row[0]
        for claim in campaign.findings
    }
    named = [
        outcome
        for finding, outcome in findings
        if row is table.rows[-1]
        or finding.split("\n")[0] in of_subject
        or finding.split("\n")[-1].startswith(row[0])
    ]
    return sum(at == 1 or outcome.startswith(table.columns[at]) for outcome in named)


def _outcome(not_applicable: str, finding: Sequence[str]) -> str:
    """The outcome of a finding that was not judged, by its reason."""
    waiting = next((word for word, why in WAITING.items() if finding[REASON] == why), None)
    return waiting or not_applicable
