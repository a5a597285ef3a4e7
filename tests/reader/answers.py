"""The first page: notices, verdicts, cost, what was excluded and what is open."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from teiten.model.plan import PlannedTrial
from teiten.model.trial import Outcome
from teiten.ways.registry import way_of
from tests.reader.arithmetic import Judgement
from tests.reader.campaign import Campaign
from tests.reader.document import Part
from tests.reader.language import NUMBER, PART_OF, Book, Groups, as_factor, count, printed
from tests.reader.reader import Reader

BOOK = Book(__name__)

REASONS = {
    "too-few-pairs": (
        "there are fewer than two valid pairs of trials",
        "有効な試行の組が2組に満たないため",
    ),
    "incomplete-blocks": (
        "there are pairs of trials, but fewer than two blocks have valid ones at every level",
        "試行の組はあるが、すべての水準がそろったブロックが2つに満たないため",
    ),
    "not-positive": ("a measured value is zero", "測定値にゼロが含まれるため"),
    "identical-pairs": (
        "all pairs are exactly equal, so that their spread cannot be estimated",
        "すべての組の比が完全に一致し、ばらつきを推定できないため",
    ),
    "left-behind": (
        "what each side leaves behind for the other is more than a quarter of δ, so that"
        " paired transactions cannot decide; --way classic loads one side at a time",
        "一方のサーバが他方に残す影響が判定基準の4分の1を超え、ペアトランザクションでは判定できないため"
        "(--way classicで片方ずつ測定する)",
    ),
    "over-timeout": ("a query exceeded its time limit", "制限時間を超えたクエリがあるため"),
    "not-averaged": (
        "its levels are not amounts and disagree, so that no mean over them is given",
        "水準が量ではなく、判定もそろっていないため、平均は示さない",
    ),
    "levels-differ": ("its levels contradict one another", "水準によって結果が異なるため"),
    "infinite-interval": (
        "there are too few pairs yet for an interval that is valid at every look",
        "組の数がまだ少なく、逐次判定で有効な区間を求められないため",
    ),
}
WORDS = {
    "faster": ("faster", "速い"),
    "slower": ("slower", "遅い"),
    "equivalent": ("equivalent within ±{delta} %", "±{delta}%の範囲で同等"),
    "small": ("different but below {delta} %", "差はあるが{delta}%未満"),
    "mixed": ("mixed", "水準によって異なる"),
    "inconclusive": ("inconclusive", "判定できない"),
    "alone": ("interval alone", "区間のみ"),
}
BEYOND = {
    "faster": ("faster by at least {delta} %", "少なくとも{delta}%速い"),
    "slower": ("slower by at least {delta} %", "少なくとも{delta}%遅い"),
}
PROBLEMS = {
    "server-error": ("the server's log holds an error", "サーバログにエラー"),
    "pgbench-failed": ("pgbench failed", "pgbenchが失敗"),
    "wrong-answer": ("a query answered other rows than before", "クエリの返した行が以前と異なる"),
    "steal": ("the hypervisor took CPU time", "ハイパーバイザによるCPU時間の横取り(steal)"),
    "other-load": ("other processes used the CPU", "他のプロセスがCPUを使用"),
    "partner": ("the other trial of its pair does not count", "組の相手の試行が無効"),
}


def plain_number(value: float) -> str:
    """A declared number, with no digit more than it has."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def reason_text(reader: Reader, reason: str) -> str:
    return REASONS[reason][reader.language == "ja"]


def verdict_text(reader: Reader, found: Judgement) -> str:
    """The one way in which a verdict is said; none in a campaign that supports no conclusion."""
    if not reader.campaign.plan.study.conclusive:
        return no_conclusion_text(reader, found)
    forms = BEYOND if found.beyond else WORDS
    return forms[found.word][reader.language == "ja"].format(delta=plain_number(found.delta * 100))


def no_conclusion_text(reader: Reader, found: Judgement) -> str:
    """Without the percentage where there is none; else up to where it begins."""
    japanese = reader.language == "ja"
    if found.reason:
        return ("no conclusion", "結論は導けない")[japanese]
    return ("no conclusion; measured ", "結論は導けない(測定値は")[japanese]


def says_verdict(reader: Reader, text: str, found: Judgement) -> None:
    """The verdict in a heading or a cell; of no conclusion what was measured."""
    expected = verdict_text(reader, found)
    if reader.campaign.plan.study.conclusive or found.reason:
        reader.equal(text, expected, "the verdict")
        return
    reader.that(text.startswith(expected), f"a verdict of what supports no conclusion: {text}")
    share = text.removeprefix(expected).rstrip(")")
    reader.same(
        share.replace("%", "").strip(), (math.exp(found.mean) - 1) * 100, "what it measured"
    )


# --- the headline ----------------------------------------------------------------------------


def answer_of(reader: Reader, groups: Groups) -> Judgement | None:
    """What the numbers say of the contrast that a sentence is about."""
    workload = reader.workload_of(groups["workload"])
    new, old = reader.side_of(groups["new"]), reader.side_of(groups["old"])
    if workload is None or new is None or old is None:
        reader.that(False, f"unknown workload or side ({workload}, {new} against {old})")
        return None
    sides = reader.campaign.sides(workload)
    reader.that(sides[0] == old and new in sides[1:], f"{new} is not compared with {old}")
    metric = metric_in(reader, groups.get("lead") or "", workload)
    said = reader.said_first.setdefault((workload, new), groups)
    reader.that(said is groups, "said twice")
    servers_in(reader, groups.get("lead") or "", workload)
    about_machine(reader, groups["machine"])
    if "delta" in groups:
        reader.same(groups["delta"], reader.measure.delta * 100, "δ")
    return reader.overall(workload, metric, new)


USUAL = {
    "pgbench": "tps",
    "queries": "query_seconds",
    "procedure": "procedure_seconds",
    "probes": "probe_seconds",
}


def metric_in(reader: Reader, lead: str, workload: str) -> str:
    """The metric that an answer is judged by, where it is not what the workload is about."""
    found = re.search(r"Judged by (.+?): |(.+?)による判定: ", lead)
    usual = reader.campaign.plan.study.workload(workload).kind
    if found is None:
        return USUAL[usual]
    metric = reader.metric_of(found[1] or found[2])
    reader.that(metric is not None, "unknown metric")
    return metric or "tps"


def servers_in(reader: Reader, lead: str, workload: str) -> None:
    """An answer that is a mean over several servers names them, and no other does."""
    campaign = reader.campaign
    servers = [
        one
        for one in campaign.levels("server")
        if campaign.contrast != "server"
        and any(dict(context).get("server") == one for context in campaign.contexts(workload))
    ]
    found = re.search(r"On average over (.+?): |(?:^|: )([^:]+?)の平均: ", lead)
    named = (found[1] or found[2]).split(reader.separator) if found else []
    expected = servers if len(servers) > 1 else []
    levels = [reader.server_of(one) for one in named]
    reader.that(levels == expected, f"the mean is over the servers {expected}")


def about_machine(reader: Reader, text: str) -> None:
    """``2 cores of Invented``"""
    facts = reader.campaign.facts.cpu
    found = re.fullmatch(r"(\d+) cores?(?: of (.+))?|(?:(.+) )?(\d+)コア(?:のマシン)?", text)
    if found is None:
        reader.that(False, "no machine")
        return
    reader.equal(found[1] or found[4], facts.logical, "the number of processors")
    model = found[2] or found[3] or ""
    reader.that(all(word in facts.model for word in model.split()), "another processor")


def change_is(
    reader: Reader, groups: Groups, found: Judgement, *, word: str, signed: bool = False
) -> None:
    """Percentage and interval of a sentence, of the difference that the word says."""
    reader.that(found.word == word, f"the verdict is {found.word}")
    if found.reason:
        return
    ratio, low, high = (math.exp(one) for one in (found.mean, found.low, found.high))
    values = (ratio - 1, low - 1, high - 1)
    if not signed and ratio < 1:
        values = (1 - ratio, 1 - high, 1 - low)
    for name, value in zip(("percent", "low", "high"), values, strict=True):
        if name in groups:
            reader.same(groups[name], value * 100, name, slack=reader.slack * 100)
    wide = found.high - found.low > math.log(WIDEST)
    reader.that("low" in groups or wide, "an interval that tells something is not given")
    reader.that(not signed or "low" not in groups or not wide, "an interval that tells nothing")
    reader.same(groups["confidence"], found.confidence * 100, "confidence")


def times_are(reader: Reader, groups: Groups, found: Judgement) -> None:
    """A factor and its interval, of a time that is so many times shorter or longer."""
    sign = -1 if found.mean < 0 else 1
    ends = sorted((sign * found.low, sign * found.high))
    for name, value in zip(("factor", "low", "high"), (sign * found.mean, *ends), strict=True):
        factor = as_factor(groups[name])
        reader.same(factor, math.exp(min(value, 700)), name, slack=reader.slack)
    reader.same(groups["confidence"], found.confidence * 100, "confidence")


WIDEST, MOST_DETECTABLE = 100.0, 9.0


DIRECTIONS = {
    **dict.fromkeys(("faster", "速い", "速く"), "faster"),
    **dict.fromkeys(("slower", "遅い", "遅く"), "slower"),
}


@BOOK.says()
def answer(reader: Reader, groups: Groups, part: Part) -> None:
    """An answer with its percentage: its word, direction and interval."""
    found, form = answer_of(reader, groups), groups["form"]
    direction = DIRECTIONS.get(groups.get("word", ""))
    conclusive = reader.campaign.plan.study.conclusive
    reader.that(conclusive or form == "no_conclusion_answer", "it supports no conclusion")
    if found is None:
        return
    signed = form in {"equivalent", "inconclusive", "no_conclusion_answer"}
    by_direction = form in {"decided", "decided_beyond"}
    word = found.word if form == "no_conclusion_answer" else direction if by_direction else form
    change_is(reader, groups, found, word=word or "", signed=signed)
    if by_direction:
        reader.that(found.beyond == (form == "decided_beyond"), "it is by at least δ, or not")
    elif form == "small":
        reader.that(direction == found.direction, f"it is {found.direction}")
        reader.that(groups.get("again", groups["new"]) == groups["new"], "another side")
    elif form == "inconclusive":
        reader.that(not found.reason, "there is no interval")
        reader.last = found
        told = re.search(r"could have shown|検出できる", part.text) is not None
        helps = found.detectable <= MOST_DETECTABLE
        reader.that(told == helps, "what could have been seen is told where that helps")
    elif form == "no_conclusion_answer":
        reader.that(not conclusive, "it supports a conclusion")


@BOOK.says()
def mixed(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(reader.campaign.plan.study.conclusive, "it supports no conclusion")
    _extremes(reader, groups)


@BOOK.says()
def mixed_without_conclusion(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(not reader.campaign.plan.study.conclusive, "it supports a conclusion")
    _extremes(reader, groups)


@BOOK.says()
def no_mean(_reader: Reader, _groups: Groups, _part: Part) -> None:
    """Said of every mixed verdict, whose sentence has no number but the extremes'."""


def _extremes(reader: Reader, groups: Groups) -> None:
    overall = answer_of(reader, groups)
    if overall is None:
        return
    reader.that(overall.word == "mixed", f"the verdict is {overall.word}")
    workload, new = reader.workload_of(groups["workload"]), reader.side_of(groups["new"])
    if workload is None or new is None or not overall.extremes:
        return
    metric = metric_in(reader, groups.get("lead") or "", workload)
    levels = reader.judged(workload, metric, new).levels
    for name, context in zip(("least", "most"), overall.extremes, strict=True):
        named = reader.context_texts(workload, context)
        reader.that(groups[f"{name}_at"] in named, f"{context} is the {name}")
        _extreme(reader, groups[name], groups[f"{name}_interval"], levels[context])
        reader.same(groups["confidence"], levels[context].confidence * 100, "confidence")


EXTREME = re.compile(
    rf"is {NUMBER} % (?:faster|slower)|is {NUMBER} times as fast|takes {NUMBER} times as long"
    rf"|measured {NUMBER} %|{NUMBER}%(?:速い|遅い)?|性能が{NUMBER}倍|処理時間が{NUMBER}倍|処理時間が{PART_OF['ja']}"
)


def _extreme(reader: Reader, said: str, interval: str, level: Judgement) -> None:
    """``is 3.1 % slower`` or ``takes 2.5 times as long``, and its interval in the same terms."""
    reader.that(EXTREME.fullmatch(said) is not None, f"an extreme in other words: {said}")
    faster = re.search(r"faster|as fast|速い|性能|1/", said)
    slower = None if faster else re.search(r"slower|as long|遅い|処理時間", said)
    if faster or slower:
        reader.that(level.word == ("faster" if faster else "slower"), f"it is {level.word}")
    else:
        reader.that(level.word not in {"faster", "slower"}, f"it is {level.word}")
    ends = re.split(" to |〜", interval)
    logs = (level.mean, level.low, level.high)
    if re.search("times|倍|1/", said):
        sign = -1 if level.mean < 0 else 1
        values = [math.exp(min(sign * log, 700)) for log in logs]
    elif faster or slower:
        values = [abs(math.expm1(log)) * 100 for log in logs]
    else:
        values = [math.expm1(log) * 100 for log in logs]
    values[1:] = sorted(values[1:])
    if "1/" in said:
        said, ends = as_factor(re.sub("[^<>1/0-9,. ]", "", said)), list(map(as_factor, ends))
    ends = sorted(ends, key=lambda end: printed(end).value) if "1/" in interval else ends
    number = re.search(r"[<>+−-]? ?[\d.,]+", said)
    texts = (number[0] if number else "", *(end.replace("%", "").strip() for end in ends))
    for text, value in zip(texts, values, strict=True):
        reader.same(text, value, "an extreme", slack=reader.slack * 100)


@BOOK.says()
def detectable(reader: Reader, groups: Groups, _part: Part) -> None:
    found = reader.last
    reader.that(found is not None, "of nothing")
    if found is not None:
        reader.equal(groups["pairs"], found.pairs, "the number of pairs")
        reader.same(
            groups["percent"],
            found.detectable * 100,
            "detectable",
            safe="up",
            slack=reader.slack * 1000,
        )
        one = found.pairs == 1
        noun = groups.get("these"), groups.get("noun")
        reader.that(
            noun in {("This" if one else "These", "pair" if one else "pairs"), (None, None)},
            "one or several",
        )


@BOOK.says()
def times(reader: Reader, groups: Groups, _part: Part) -> None:
    word = groups["form"]
    least = re.fullmatch(
        r" |, (?P<word>faster|slower) by at least (?P<en>[\d.]+) % "
        r"|い|る|[くり]、その差は少なくとも(?P<ja>[\d.]+)%ある",
        groups["least"],
    )
    found = answer_of(reader, groups)
    if found is None:
        return
    reader.that(found.word == word, f"the verdict is {found.word}")
    reader.that(least is not None, "no such words")
    if least is not None and not found.reason:
        said = least["en"] or least["ja"]
        reader.that(bool(said) == found.beyond, "by at least δ, or not")
        reader.that(least["word"] in {None, word}, "another direction")
        if said:
            reader.same(said, found.delta * 100, "δ")
        times_are(reader, groups, found)


@BOOK.says()
def nothing(reader: Reader, groups: Groups, _part: Part) -> None:
    found = answer_of(reader, groups)
    if found is not None:
        expected = reason_text(reader, found.reason) if found.reason else "there is an answer"
        reader.equal(groups["reason"], expected, "the reason")


@BOOK.says(of="heading")
def verdict_heading(reader: Reader, groups: Groups, part: Part) -> None:
    """The heading above an answer; the order of the answers is that of the headings."""
    reader.that(part.kind == "heading" and part.section == 1, "a claim out of its place")
    reader.headings.append((reader.workload_of(groups["workload"]), groups["verdict"]))


def close(reader: Reader) -> None:
    """What can be said only at the end of the first page."""
    said = list(reader.said_first.items())
    reader.that(len(said) == len(reader.headings), "answers without their headings")
    for (workload, verdict), ((of, new), groups) in zip(reader.headings, said, strict=False):
        reader.about = f"heading {workload}: {verdict}"
        reader.that(workload == of, "another workload")
        metric = metric_in(reader, groups.get("lead") or "", of)
        says_verdict(reader, verdict, reader.overall(of, metric, new))


@BOOK.says()
def one_start(reader: Reader, _groups: Groups, _part: Part) -> None:
    servers = [one for _, one in reader.campaign.plan.servers]
    reader.that(any(server.attached is not None for server in servers), "Teiten starts the servers")


# --- notices and remarks ---------------------------------------------------------------------


BOOK.holds(
    "no_conclusion",
    lambda reader: {
        "it is not conclusive": not reader.campaign.plan.study.conclusive,
        "profile": reader.campaign.plan.study.profile,
    },
)


@BOOK.says()
def incomplete(reader: Reader, groups: Groups, _part: Part) -> None:
    unended = unended_trials(reader)
    reader.equal(groups["count"], unended, "trials that have not ended")
    reader.same(groups["planned"], len(reader.campaign.plan.trials), "planned trials")
    if "has" in groups:
        reader.equal(groups["has"], "has" if unended == 1 else "have", "one or several")


def unended_trials(reader: Reader) -> int:
    """Those that do not count and may still run. A comparison is repeated as a whole: what one of
    its sides has been tried beyond, the others are not tried again for."""
    campaign = reader.campaign
    tries = Counter(trial.number for trial in campaign.trials)
    attempts = 1 + campaign.plan.study.measure.repeats
    rounds: Counter[tuple[object, ...]] = Counter()
    for one in campaign.plan.trials:
        key = _comparison(one, campaign.contrast)
        rounds[key] = max(rounds[key], tries[one.number])
    unended = 0
    for one in campaign.plan.trials:
        had = max(1, rounds[_comparison(one, campaign.contrast)])
        following = had + 1 if tries[one.number] == had else had
        unended += one.number not in campaign.counted and following <= attempts
    return unended


def _comparison(trial: PlannedTrial, contrast: str) -> tuple[object, ...]:
    others = tuple(pair for pair in trial.cell.levels if pair[0] != contrast)
    return trial.block, trial.cell.workload, others


BOOK.holds(
    "undecided_yet",
    lambda reader: {
        "it is sequential": reader.measure.sequential is not None,
        "it has not ended": not reader.says_ended,
    },
)


@BOOK.says()
def cost(reader: Reader, groups: Groups, _part: Part) -> None:
    campaign = reader.campaign
    trials = campaign.trials
    planned = needed(reader, count(groups["trials"]))
    blocks = len({one.block for one in planned})
    reader.same(groups["trials"], len(planned), "planned trials")
    reader.same(groups["blocks"], blocks, "blocks")
    reader.same(groups["attempts"], len(trials), "ended trials")
    measured = sum(trial.metrics.get("measured_seconds", 0.0) for trial in trials)
    if way_of(reader.measure).concurrent:
        measured /= 2  # of both sides at once
    reader.lasts(groups["measured"], measured)
    reader.lasts(groups["wall"], working_seconds(reader.campaign))
    if "noun" in groups:
        reader.equal(groups["noun"], "trial" if len(planned) == 1 else "trials", "number")
        reader.equal(groups["block"], "block" if blocks == 1 else "blocks", "number")


def needed(reader: Reader, said: int) -> Sequence[PlannedTrial]:
    """The planned trials that the campaign does not do without.

    A sequential one that ended has run all of them. One that was interrupted may have decided some
    of its comparisons, which then run no further: wholly or not at all, whatever the count says.
    """
    campaign = reader.campaign
    planned = list(campaign.plan.trials)
    if campaign.plan.study.measure.sequential is None:
        return planned
    tried = {trial.number for trial in campaign.trials}
    ran = [one for one in planned if one.number in tried]
    if reader.says_ended:
        return ran
    contrast = campaign.plan.study.contrast
    left: dict[object, list[PlannedTrial]] = defaultdict(list)
    for one in planned:
        if one.number not in tried:
            left[one.cell.workload, one.cell.context(contrast)].append(one)
    for groups in range(len(left), -1, -1):
        for chosen in itertools.combinations(left.values(), groups):
            due = [*ran, *(one for group in chosen for one in group)]
            if len(due) == said:
                return due
    return planned


def working_seconds(campaign: Campaign) -> float:
    """From the start to the last thing that happened, without the time between sessions."""
    begins = {"campaign-started", "resumed"}
    moments = [(campaign.created_at, False)]
    moments += [(event.at, event.kind in begins) for event in campaign.events]
    moments += [(trial.finished_at, False) for trial in campaign.trials]
    moments.sort()
    return sum(
        later - before for (before, _), (later, new) in itertools.pairwise(moments) if not new
    )


BOOK.holds(
    "nothing_excluded",
    lambda reader: {
        "all count": all(trial.outcome is Outcome.COUNTED for trial in reader.campaign.trials)
    },
)


@BOOK.says()
def excluded(reader: Reader, groups: Groups, part: Part) -> None:
    trials = reader.campaign.trials
    out = [trial for trial in trials if trial.outcome is not Outcome.COUNTED]
    reader.same(groups["out"], len(out), "trials that do not count")
    reader.same(groups["attempts"], len(trials), "trials that ended")
    if "do" in groups:
        reader.equal(groups["do"], "does" if len(out) == 1 else "do", "one or several")
    ja = reader.language == "ja"
    known = Counter(
        PROBLEMS[code][ja]
        for one in out
        for code in {problem.code for problem in getattr(one, "problems", ())}
    )
    said = re.findall(
        r"(.+?) \((\d+)\)(?:, |$)" if not ja else r"(.+?)\((\d+)回\)(?:、|$)", groups["reasons"]
    )
    reader.that(dict(known) == {name: int(number) for name, number in said}, f"it is {dict(known)}")
    lost = {one.number for one in out} - reader.campaign.counted.keys()
    tail = re.search(r"(\d+) planned trials? ha\w+ no valid|計画した(\d+)試行には有効な", part.text)
    reader.that((tail is not None) == bool(lost), f"{len(lost)} planned trials are lost")


@BOOK.says()
def lost(reader: Reader, groups: Groups, _part: Part) -> None:
    out = {trial.number for trial in reader.campaign.trials} - reader.campaign.counted.keys()
    reader.same(groups["count"], len(out), "trials without a measurement")
    if "noun" in groups:
        reader.equal(groups["noun"], "trial has" if len(out) == 1 else "trials have", "number")


@BOOK.says(of="pair")
def undecided(reader: Reader, groups: Groups, _part: Part) -> None:
    """Every open level of the answers on this page, and no other."""
    none = {"Nothing: every level has a verdict.", "なし。すべての条件で判定できた。"}
    listed = groups["listed"]
    study = reader.campaign.plan.study
    if not study.conclusive:
        nothing = {
            f"Everything: a campaign of the profile “{study.profile}” decides nothing.",
            f"すべて。プロファイル「{study.profile}」の検証では、何も判定しない。",
        }
        reader.that(listed in nothing, "such a campaign decides nothing")
        return
    expected = []
    asked = list(reader.said_first)
    overall = ("the mean over all levels", "全条件の平均")[reader.language == "ja"]
    for (workload, new), said in reader.said_first.items():
        metric = metric_in(reader, said.get("lead") or "", workload)
        judged = reader.judged(workload, metric, new)
        found = [[overall]] if judged.overall.word == "inconclusive" else []
        alone = bool(found) and len(judged.levels) < 2
        opened = [one for one, level in judged.levels.items() if level.word == "inconclusive"]
        found += [sorted(reader.context_texts(workload, one)) for one in opened]
        if alone:
            reason = judged.overall.reason
            found = [[reason_text(reader, reason)]] if reason else [[""]]
        title = reader.own(reader.campaign.plan.study.workload(workload).title)
        several = sum(one == workload for one, _ in asked) > 1
        if found:
            expected.append((title, new if several else None, found, len(judged.levels)))
    if not expected:
        reader.that(listed in none, "nothing is open")
        return
    rest = listed
    for title, side, found, levels in expected:
        rest = _open_part(reader, rest, title, side, found, levels)
    reader.that(not rest, f"more than is open: {rest}")


def _open_part(
    reader: Reader, text: str, title: str, new: str | None, found: list[list[str]], levels: int
) -> str:
    """Takes what is said of one answer off the text; what is left of it."""
    colon = "" if found == [[""]] else ": "
    head = re.match(rf"(?:; ?)?{re.escape(title)}(?: ?\((.+?)\))?{colon}", text)
    if head is None or (new is None) != (head[1] is None):
        reader.that(False, f"{title} ({new}) is open")
        return text
    if new is not None:
        reader.that(reader.side_of(head[1]) == new, f"it is {new} that is open")
    rest = text[head.end() :]
    many = re.match(r"(\d+) of (\d+) levels, as the tables name them", rest) or re.match(
        r"(?P<of>\d+)条件のうち(?P<count>\d+)条件\(結果の表に示す\)", rest
    )
    if many:
        named = many.groupdict()
        open_, of = named.get("count", many[1]), named.get("of", many[2])
        means = (["the mean over all levels"], ["全条件の平均"])
        single = [one for one in found if one not in means]
        reader.that((int(open_), int(of)) == (len(single), levels), f"{len(single)} of {levels}")
        return rest[many.end() :]
    for at, texts in enumerate(found):
        separator = reader.separator if at else ""
        taken = max(
            (text for text in texts if rest.startswith(separator + text)), key=len, default=None
        )
        if taken is None:
            reader.that(False, f"{texts} is open")
            return ""
        rest = rest[len(separator + taken) :]
    return rest


@BOOK.says()
def ended(reader: Reader, groups: Groups, _part: Part) -> None:
    """Decided, all that was planned, or no time for more."""
    form = groups["form"]
    if form == "all":
        last = max(trial.block for trial in reader.campaign.plan.trials)
        reader.equal(groups["blocks"], last, "the planned blocks")
    for workload, new in reader.campaign.answers() if form == "decided" else ():
        judged = reader.judged(workload, "tps", new)
        reader.that(judged.overall.word != "inconclusive", f"{workload} is not decided")
        for context, level in judged.levels.items():
            reader.that(level.word != "inconclusive", f"{context} is not decided")
    numbers = {trial.number for trial in reader.campaign.trials}
    blocks = {trial.block for trial in reader.campaign.plan.trials if trial.number in numbers}
    reader.equal(groups["blocks"], len(blocks), "the blocks that ran")
    if "noun" in groups:
        noun = re.split(r"[,:]", groups["noun"])[0]
        reader.equal(noun, "block" if len(blocks) == 1 else "blocks", "number")
