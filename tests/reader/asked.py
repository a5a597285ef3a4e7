"""What was asked and how, and the evidence: design, procedure, cautions, how to repeat it."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime

from teiten.model.plan import PlannedTrial
from teiten.ways.registry import way_of
from tests.reader.answers import plain_number
from tests.reader.document import Part
from tests.reader.language import Book, Groups
from tests.reader.reader import Reader

BOOK = Book(__name__)


@BOOK.says()
def about(reader: Reader, groups: Groups, part: Part) -> None:
    campaign = reader.campaign
    reader.equal(groups["name"], campaign.name, "the campaign")
    start, *end = re.split(r" UTC · (?:ended|終了) ", groups["start"])
    reader.equal(start, moment(campaign.created_at), "the start")
    if end:
        last = max(trial.finished_at for trial in campaign.trials)
        reader.equal(end[0], moment(last), "the end")
    reader.equal(groups["profile"], campaign.plan.study.profile, "the profile")


@BOOK.says(of="item")
def changed(reader: Reader, groups: Groups, _part: Part) -> None:
    told = [
        override
        for override in reader.campaign.plan.study.overrides
        if not override.startswith("server")
    ]
    reader.equal(groups["values"], reader.separator.join(told), "what was changed")


@BOOK.says(of="text")
def page_head(reader: Reader, groups: Groups, part: Part) -> None:
    """The first line of a page."""
    campaign = reader.campaign
    reader.that(part.section == 0, "a date out of its place")
    reader.equal(groups["name"], campaign.name, "the campaign")
    reader.equal(groups["start"], moment(campaign.created_at), "the start")


@BOOK.says(of="text")
def page_foot(reader: Reader, groups: Groups, part: Part) -> None:
    about(reader, {**groups, "name": reader.campaign.name}, part)


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


BOOK.holds("made", lambda reader: {"name": reader.campaign.name, "version": "0.1.0"})
BOOK.holds(
    "sources", lambda reader: {"sources": reader.separator.join(reader.campaign.plan.study.sources)}
)
BOOK.holds("contrast", lambda reader: {"factor": reader.factor_text(reader.campaign.contrast)})


@BOOK.says(of="pair")
def factor(reader: Reader, groups: Groups, part: Part) -> None:
    """A factor with its levels; or a workload with its description."""
    study = reader.campaign.plan.study
    texts = {reader.own(workload.title): workload for workload in study.workloads}
    if groups["factor"] in texts and part.section != 1:
        said = reader.own(texts[groups["factor"]].description)
        reader.equal(groups["levels"], said, "the description")
        return
    known = {reader.factor_text(one.name): one for one in study.factors}
    found = known.get(groups["factor"])
    reader.that(found is not None and part.section == 2, "unread sentence")
    if found is None:
        return
    named = split_names(groups["levels"], reader.separator)
    if found.name in {"server", reader.campaign.contrast}:
        side = reader.server_of if found.name == "server" else reader.side_of
        levels = [side(one) for one in named]
        reader.that(levels == list(found.levels), f"the levels are {found.levels}")
    else:
        each = zip(named, found.levels, strict=False)
        known_ones = all(name in reader.level_names(found.name, level) for name, level in each)
        reader.that(
            known_ones and len(named) == len(found.levels), f"the levels are {found.levels}"
        )


def split_names(text: str, separator: str) -> list[str]:
    """Names with a separator between them, which may stand inside of parentheses too."""
    names: list[str] = []
    for one in text.split(separator):
        if names and names[-1].count("(") > names[-1].count(")"):
            names[-1] += separator + one
        else:
            names.append(one)
    return names


BOOK.holds("blocks", lambda reader: {"blocks": reader.measure.blocks})
BOOK.holds(
    "most_blocks",
    lambda reader: {
        "blocks": reader.measure.blocks,
        "budget": reader.measure.sequential.budget if reader.measure.sequential else None,
    },
)
BOOK.holds("planned_trials", lambda reader: {"trials": len(reader.campaign.plan.trials)})


@BOOK.says(of="pair")
def data(reader: Reader, groups: Groups, part: Part) -> None:
    """What the tables of each workload are; those that are alike stand together. Of kinds without
    a form of their own, the numbers."""
    alike: dict[str, list[str]] = {}
    for one in reader.campaign.workloads():
        scale = plain_number(one.data.scale) if one.data.scale else "—"
        form = DATA[reader.language].get(one.data.kind)
        if form is None:
            reader.unknown(part)
            return
        told = form.format(scale=scale, **one.data.options.told)
        alike.setdefault(told, []).append(reader.own(one.title))
    each = [f"{reader.separator.join(titles)}: {text}" for text, titles in alike.items()]
    reader.equal(groups["data"], {"en": "; ", "ja": ";"}[reader.language].join(each), "the data")


DATA = {
    "en": {
        "ssb": "Star Schema Benchmark, scale factor {scale}, variant {variant}",
        "pgbench": "scale factor {scale}, fillfactor {fillfactor}",
    },
    "ja": {
        "ssb": "Star Schema Benchmark(スケールファクタ{scale}、バリアント{variant})",
        "pgbench": "スケールファクタ{scale}、フィルファクタ{fillfactor}",
    },
}


BOOK.holds(
    "declared", lambda reader: {"delta": reader.measure.delta, "alpha": reader.measure.alpha}
)
BOOK.holds("profile", lambda reader: {"profile": reader.campaign.plan.study.profile})
BOOK.holds("seed", lambda reader: {"seed": reader.campaign.plan.seed})
BOOK.holds("starts_every", lambda reader: {"starts are not shared": _pairs_of_a_start(reader) == 1})
BOOK.holds("starts_shared", lambda reader: {"pairs": _pairs_of_a_start(reader)})
BOOK.holds(
    "starts_one_server", lambda reader: {"all sides have one server": one_server_of(reader) != []}
)


@BOOK.says()
def sides(reader: Reader, groups: Groups, _part: Part) -> None:
    """By the plan: the most levels of a block, and how often each but the first is in one."""
    base, *others = reader.campaign.plan.study.contrasted_levels
    blocks: dict[int, set[str]] = {}
    for trial in reader.campaign.plan.trials:
        level = trial.cell.level(reader.campaign.contrast) or ""
        blocks.setdefault(trial.block, set()).add(level)
    most = max(len(levels - {base}) for levels in blocks.values())
    each = sum(others[0] in levels for levels in blocks.values())
    reader.equal(groups["others"], str(most), "the levels of a start")
    reader.equal(groups["count"], str(len(others)), "the levels")
    reader.equal(groups["blocks"], str(round(len(blocks) / each)), "the blocks of all")


def one_server_of(reader: Reader) -> list[str]:
    """The parameters in which the trials of a start differ, all of which run on one copy."""
    starts: dict[int, list[PlannedTrial]] = {}
    for trial in reader.campaign.plan.trials:
        starts.setdefault(trial.restart, []).append(trial)
    names: dict[str, None] = {}
    for trials in starts.values():
        if len({trial.copy for trial in trials}) > 1:
            return []
        each = [dict(trial.settings) for trial in trials]
        every = {name: None for settings in each for name in settings}
        names |= {one: None for one in every if len({each.get(one) for each in each}) > 1}
    return list(names)


def _pairs_of_a_start(reader: Reader) -> int:
    blocks: dict[int, set[int]] = {}
    for trial in reader.campaign.plan.trials:
        blocks.setdefault(trial.restart, set()).add(trial.block)
    return max(len(found) for start, found in blocks.items() if start)


# --- the procedure ---------------------------------------------------------------------------


@BOOK.says()
def restored(reader: Reader, groups: Groups, _part: Part) -> None:
    changing = [one for one in reader.campaign.workloads() if one.changes_data]
    expected = reader.separator.join(reader.own(one.title) for one in changing)
    reader.equal(groups["workloads"], expected, "the workloads that change data")


BOOK.holds("started", lambda reader: {"Teiten starts a server": starts_any(reader)})


def starts_any(reader: Reader) -> bool:
    """Whether Teiten starts any server."""
    return any(one.attached is None for _, one in reader.campaign.plan.servers)


def is_limited(reader: Reader) -> bool:
    """Whether the memory of any trial is limited."""
    return any(trial.memory_limit is not None for trial in reader.campaign.plan.trials)


BOOK.holds("limited", lambda reader: {"memory is limited": is_limited(reader)})


@BOOK.says()
def caches(reader: Reader, groups: Groups, part: Part) -> None:
    wanted = reader.measure.caches.value
    if is_limited(reader) and wanted == "keep":  # what is kept would not be in the limit
        wanted = "evict"
    reader.equal(groups["form"], wanted, "the caches")
    reader.that(starts_any(reader), "Teiten starts no server")


BOOK.holds(
    "side_by_side",
    lambda reader: {
        "Teiten starts a server": starts_any(reader),
        "both run": way_of(reader.measure).side_by_side,
    },
)
BOOK.holds(
    "one_server",
    lambda reader: {
        "Teiten starts a server": starts_any(reader),
        "parameters": reader.separator.join(one_server_of(reader)),
    },
)
BOOK.holds(
    "read_before",
    lambda reader: {
        "it is prewarmed": reader.measure.prewarm,
        "settle": reader.measure.settle,
        "some have no pg_prewarm": reader.campaign.plan.servers_without("pg_prewarm") != (),
    },
)
BOOK.holds(
    "prewarmed",
    lambda reader: {"it is prewarmed": reader.measure.prewarm, "settle": reader.measure.settle},
)
BOOK.holds(
    "not_prewarmed",
    lambda reader: {
        "it is not prewarmed": not reader.measure.prewarm,
        "settle": reader.measure.settle,
    },
)
BOOK.holds(
    "checked",
    lambda reader: {"share": reader.measure.disturbed_share, "repeats": reader.measure.repeats},
)
BOOK.holds("profiled", lambda reader: {"window": reader.measure.flame_graph_window})
BOOK.holds("fixed_design", lambda reader: {"it is fixed": reader.measure.sequential is None})
BOOK.holds(
    "sequential_design", lambda reader: {"it is sequential": reader.measure.sequential is not None}
)


@BOOK.says()
def script(reader: Reader, groups: Groups, _part: Part) -> None:
    known = {one.options.source for one in reader.campaign.workloads()}
    reader.that(groups["name"] in known, "no such script")


@BOOK.says()
def squares(reader: Reader, groups: Groups, _part: Part) -> None:
    known = {reader.factor_text(one.name) for one in reader.campaign.plan.study.factors}
    reader.that(groups["label"] in known, "no such factor")


# --- results that every kind has -------------------------------------------------------------


def confidence_of(reader: Reader, text: str) -> None:
    reader.same(text, (1 - reader.campaign.alpha) * 100, "the confidence")


def level_of(reader: Reader, groups: Groups) -> None:
    """The confidence at each of several levels, of some workload that has so many."""
    if "level" not in groups:
        return
    counts = {len(reader.campaign.contexts(one.name)) for one in reader.campaign.workloads()}
    shares = [1 - reader.campaign.alpha / count for count in counts if count > 1]
    said = reader.number(groups["level"])
    reader.that(any(said.is_of(share * 100) for share in shares), "no level's confidence")


@BOOK.says()
def paired(reader: Reader, groups: Groups, _part: Part) -> None:
    confidence_of(reader, groups["confidence"])
    level_of(reader, groups)
    reader.that(reader.measure.sequential is None, "it is sequential")


@BOOK.says()
def paired_sequentially(reader: Reader, groups: Groups, _part: Part) -> None:
    confidence_of(reader, groups["confidence"])
    level_of(reader, groups)
    reader.that(reader.measure.sequential is not None, "it is fixed")


BOOK.holds("band", lambda reader: {"delta": reader.measure.delta})


@BOOK.says(of="caption")
def forest_caption(reader: Reader, groups: Groups, part: Part) -> None:
    reader.that(part.kind == "caption", "a caption out of its place")
    reader.that(reader.workload_of(groups["workload"]) is not None, "another workload")
    reader.that(reader.metric_of(groups["metric"]) is not None, "another metric")


# --- evidence --------------------------------------------------------------------------------


BOOK.holds("seed_again", lambda reader: {"seed": reader.campaign.plan.seed})


@BOOK.says()
def study_file(reader: Reader, groups: Groups, _part: Part) -> None:
    study = reader.campaign.plan.study
    reader.equal(
        groups["name"], study.file.name if study.file else f"{study.name}.toml", "the file"
    )


@BOOK.says()
def trials_shown(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.same(groups["count"], len(reader.campaign.trials), "the trials")
    table = next(
        table
        for table in reader.document.tables
        if table.caption in {"Every trial", "全試行の一覧"}
    )
    reader.same(groups["shown"], len(table.rows), "the rows")


@BOOK.says()
def no_cautions(reader: Reader, _groups: Groups, part: Part) -> None:
    reader.that(part.part in {"Cautions", "注意事項"}, "nothing of what")
    said = [part for part in reader.document.parts if part.text.startswith(("warning: ", "警告: "))]
    reader.that(not reader.campaign.cautions and not said, "there are cautions")


@BOOK.says()
def drift(reader: Reader, groups: Groups, _part: Part) -> None:
    """The correlation with the pair before, and Mann and Kendall's trend."""
    new, old = groups["sides"].split("/")
    workload = reader.workload_of(groups["workload"]) or groups["workload"]
    side = reader.side_of(new) or new
    metric = "tps" if reader.campaign.plan.study.workload(workload).kind == "pgbench" else ""
    judged = reader.judged(workload, metric or "query_seconds", side)
    reader.that(judged.old == (reader.side_of(old) or old), "another side")
    reader.equal(groups["pairs"], judged.overall.pairs, "the pairs")
    d = reader.campaign.block_means(workload, metric or "query_seconds", side)
    mean = sum(d) / len(d)
    total = sum((one - mean) ** 2 for one in d)
    lag = sum((a - mean) * (b - mean) for a, b in itertools.pairwise(d)) / total
    rises = sum((b > a) - (b < a) for at, a in enumerate(d) for b in d[at + 1 :])
    n = len(d)
    spread = (n * (n - 1) * (2 * n + 5) / 18) ** 0.5
    reader.same(groups["lag"], lag, "the correlation")
    reader.same(groups["trend"], rises / spread, "the trend")


@BOOK.says()
def elsewhere(reader: Reader, groups: Groups, _part: Part) -> None:
    """What opens the table of the findings that do not apply."""
    captions = {"Findings that do not apply here", "本検証では対象外のもの"}
    tables = [table for table in reader.document.tables if table.caption in captions]
    rows = sum(len(table.rows) for table in tables)
    reader.equal(groups["count"], rows, "the findings in the table")
    if "noun" in groups:
        one = "finding that does" if rows == 1 else "findings that do"
        reader.equal(groups["noun"], one, "one or several")


BOOK.holds(
    "kernel_parameters", lambda reader: {"count": len(reader.campaign.facts.kernel_parameters)}
)


@BOOK.says()
def bare_squares(_reader: Reader, _groups: Groups, _part: Part) -> None:
    """They are too small for labels."""
