"""Reads a report and objects to what of it is not so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from typing import Any

from teiten.model.study import Measure
from teiten.model.text import Bilingual
from tests.reader.arithmetic import Judgement
from tests.reader.campaign import METRICS, Campaign, Context, Judged
from tests.reader.document import Document, Part, Table, plain
from tests.reader.language import Book, Groups, Language, Pattern, Printed, count, printed

SEPARATOR = {"en": ", ", "ja": "、"}
ANYTHING = {"table_caption", "plan_caption"}
"""Patterns that fit every caption."""
ANOTHER = (
    "unread sentence",
    "of no answer",
    "no such level",
    "not new against old",
    "nothing is open",
    "the caches is",
    "another metric",
    "the levels are",
    "there are cautions",
    "of what is this said",
)
"""What shows that a pattern took a sentence of another kind for its own."""
CALLED = {
    ("nodes", "0"): ("plain PostgreSQL", "単体のPostgreSQL", "plain", "単体"),
    ("scenario", "throughput"): ("tables of a fixed size", "一定サイズのテーブル"),
    ("scenario", "size"): (
        "tables that grow with the nodes",
        "ノード数に比例して拡大するテーブル",
    ),
}
"""Levels that have words of their own."""


class Reader:
    """Of one report in one language."""

    def __init__(
        self,
        document: Document,
        campaign: Campaign,
        language: Language,
        books: tuple[Book, ...],
        tabled: Callable[[Reader, str, str, str], Judged],
    ) -> None:
        self.document = document
        self.campaign = campaign
        self.language: Language = language
        self.books = books
        self.tabled = tabled
        """What a table of this report says, where nothing else is known."""
        self.objections: list[str] = []
        self.figures: Callable[[Part], Iterator[str]] | None = None
        """Checks the numbers of sentences that no pattern knows; None where each must be known."""
        self.read = 0
        """Sentences that were understood."""
        self.said: dict[str, int] = {}
        """How often each pattern was met."""
        self.about = ""
        self.said_first: dict[tuple[str, str], Groups] = {}
        """The answers of the first page: workload and new side."""
        self.headings: list[tuple[str | None, str]] = []
        self.sweep: tuple[str, Context] | None = None
        """The workload and the query of the sweep that the sentence before was about."""
        self.flames: str | None = None
        """The side of the flame graph above."""
        self.last: Judgement | None = None
        """What the sentence before was about."""

    # --- what the patterns ask ---------------------------------------------------------------

    def that(self, holds: bool, why: str) -> None:
        if not holds:
            self.objections.append(f"{why}: {self.about}")

    def same(
        self, text: str, value: float, what: str, *, slack: float = 0.0, safe: str = ""
    ) -> None:
        """That a printed number is this one."""
        holds = printed(text).is_of(value, slack=slack, safe=safe)
        self.that(holds, f"{what} is {value:.8g}, not {text}")

    def number(self, text: str) -> Printed:
        return printed(text)

    def equal(self, text: str, value: object, what: str) -> None:
        self.that(text == str(value), f"{what} is {value}, not {text}")

    def lasts(self, text: str, seconds: float) -> None:
        """``1 h 5 min``, ``42 s``"""
        hours = re.fullmatch(r"([\d,]+) ?(?:h |時間)(\d+) ?(?:min|分)", text)
        if hours:
            said, step = count(hours[1]) * 3600.0 + count(hours[2]) * 60, 60.0
        elif re.search("min|分", text):
            said, step = count(re.findall(r"[\d,]+", text)[0]) * 60.0, 60.0
        else:
            said, step = printed(text).value, printed(text).step
        room = step / 2 + 0.5 * (step >= 60) + 1e-6
        self.that(abs(said - seconds) <= room, f"it is {seconds} s")

    def holds(self, groups: Groups, kinds: Mapping[str, str], expected: Mapping[str, Any]) -> None:
        """That places of a sentence are of what is expected, by their kinds; what stands at no place
        must be true."""
        for name, value in expected.items():
            if name not in kinds:
                if isinstance(value, bool):
                    self.that(value, name)
            elif name in groups:
                if kinds[name] == "d":
                    self.lasts(groups[name], value)
                elif kinds[name] == "p":
                    self.same(groups[name], value * 100, name)
                elif isinstance(value, float):
                    self.same(groups[name], value, name)
                elif kinds[name] == "i":
                    self.equal(groups[name].replace(",", ""), value, name)
                else:
                    self.equal(groups[name], value, name)

    @property
    def measure(self) -> Measure:
        return self.campaign.plan.study.measure

    @property
    def separator(self) -> str:
        return SEPARATOR[self.language]

    @property
    def slack(self) -> float:
        """How far numbers may be off that are known from a table only."""
        return 1e-5 if self.campaign.by_hand else 0.0

    @cached_property
    def says_ended(self) -> bool:
        """A sequential campaign that says why it ended."""
        return any(part.text.startswith(("Ended: ", "終了: ")) for part in self.document.parts)

    def judged(self, workload: str, metric: str, new: str) -> Judged:
        if self.campaign.by_hand:
            return self.tabled(self, workload, metric, new)
        return self.campaign.judged(workload, metric, new)

    def overall(self, workload: str, metric: str, new: str) -> Judgement:
        return self.judged(workload, metric, new).overall

    def own(self, text: Bilingual) -> str:
        """A text of the study's author, as it is read."""
        return plain(text.in_language(self.language))

    def workload_of(self, title: str) -> str | None:
        """Of a title, as it stands or as it stands inside of a sentence; a side may stand behind it
        in brackets."""
        bare = re.sub(r" ?\([^()]*\)$", "", title)
        for called in dict.fromkeys((title, bare)):
            for workload in self.campaign.workloads():
                own = self.own(workload.title)
                if called in {own, own[:1].lower() + own[1:]}:
                    return workload.name
        return None

    @cached_property
    def versions(self) -> dict[str, str]:
        return {level: str(one.version) for level, one in self.campaign.plan.servers}

    def server_of(self, text: str) -> str | None:
        """The level of the factor server that a text names."""
        for level, version in self.versions.items():
            forms = {
                level,
                version,
                f"PostgreSQL {version}",
                f"PostgreSQL {version} ({level})",
                f"PostgreSQL {version}({level})",
            }
            several = list(self.versions.values()).count(version) > 1
            if several:
                forms -= {version, f"PostgreSQL {version}"}
            own = (f"{level} (PostgreSQL {version}", f"{level}(PostgreSQL {version}")
            if text in forms or text.startswith(own):
                return level
        return None

    def side_of(self, text: str) -> str | None:
        """The level of the contrasted factor that a text names."""
        contrast = self.campaign.contrast
        if contrast == "server":
            return self.server_of(text)
        for level in self.campaign.levels(contrast):
            if text in self.level_names(contrast, level):
                return level
        return None

    def level_names(self, factor: str, level: str) -> set[str]:
        """How a level of a factor that is no server is called, alone and as a side."""
        name = factor.removeprefix("guc:")
        unit = "core" if level == "1" else "cores"
        forms = {
            level,
            f"{name} = {level}",
            f"{self.factor_text(factor)} = {level}",
            f"{name} “{level}”",
            f"{name.capitalize()} “{level}”",
            f"配置「{level}」",
            f"パラメータの組「{level}」",
            *CALLED.get((factor, level), ()),
            *self.titles.get(level, ()),
        }
        if factor == "cores":
            forms |= {f"{level} {unit}", f"PostgreSQL on {level} {unit}"}
            forms |= {f"{level}コア", f"{level}コア使用時"}
        if factor == "nodes" and level == "0":
            forms -= {f"{name} = {level}", f"{self.factor_text(factor)} = {level}"}
        if factor == "checksums":
            word, ja = ("with", "有効") if level == "on" else ("without", "無効")
            forms |= {f"PostgreSQL {word} checksums", f"{word} checksums"}
            forms |= {f"チェックサム{ja}時", ja}
        return forms

    @cached_property
    def titles(self) -> dict[str, tuple[str, ...]]:
        """What a study calls its methods and probes, by their names."""
        found: dict[str, tuple[str, ...]] = {}
        for workload in self.campaign.workloads():
            for listed in ("methods", "probes"):
                for each in getattr(workload.options, listed, ()):
                    title = self.own(each.title)
                    found[each.name] = (title, title[:1].lower() + title[1:])
        return found

    def sides_named(self, text: str) -> list[str | None]:
        return [self.side_of(one) for one in text.split(self.separator)]

    def context_of(self, workload: str, text: str) -> Context | None:
        """The context that a text names; None where none or more than one can be meant."""
        found = [
            one
            for one in self.campaign.contexts(workload)
            if text in self.context_texts(workload, one)
        ]
        return found[0] if len(found) == 1 else None

    def context_texts(self, workload: str, context: Context) -> set[str]:
        contexts = self.campaign.contexts(workload)
        several = {
            factor
            for factor, level in context
            if len({dict(context)[factor] for context in contexts}) > 1
        }
        shown = [pair for pair in context if pair[0] in several or pair[0] == "query"]
        without = [pair for pair in context if pair[0] != "server"]
        return {
            self.separator.join(self.level_text(*pair) for pair in pairs)
            for pairs in (context, shown, without)
            if pairs
        } or {"all trials", "全試行"}

    def level_text(self, factor: str, level: str) -> str:
        if factor == "query":
            return level
        if factor in {"clients", "cores"}:
            if self.language == "ja":
                return f"{level}{'接続' if factor == 'clients' else 'コア'}"
            return f"{level} {factor if level != '1' else factor[:-1]}"
        if factor == "server":
            version = self.versions.get(level, level)
            clear = list(self.versions.values()).count(version) == 1
            space = " " * (self.language == "en")
            return f"PostgreSQL {version}" if clear else f"PostgreSQL {version}{space}({level})"
        if (factor, level) in CALLED and factor != "nodes":
            return CALLED[factor, level][self.language == "ja"]
        return f"{self.factor_text(factor)} = {level}"

    def factor_text(self, factor: str) -> str:
        known = {
            "query_mode": ("query mode", "クエリモード"),
            "layout": ("layout", "データの配置"),
            "parameters": ("parameters", "パラメータの組"),
            "checksums": ("checksums", "チェックサム"),
            "clients": ("clients", "クライアント接続数"),
            "cores": ("cores", "CPUコア数"),
            "server": ("server", "サーバ"),
            "query": ("query", "クエリ"),
            "directory": ("data directory", "データディレクトリ"),
            "method": ("method", "方式"),
            "placement": ("placement", "ファイル配置"),
            "nodes": ("nodes", "ノード数"),
            "scenario": ("size of the tables", "テーブルのサイズ"),
        }
        name = factor.removeprefix("guc:")
        return known.get(factor, (name, name))[self.language == "ja"]

    def metric_of(self, text: str) -> str | None:
        """The metric that a text names; a caption begins with a capital letter."""
        known = METRICS[self.language]
        return known.get(text) or known.get(text[:1].lower() + text[1:])

    def tables(self, columns: Sequence[str]) -> list[Table]:
        """Those that have all of these columns."""
        return [
            table
            for table in self.document.tables
            if all(column in table.columns for column in columns)
        ]

    @cached_property
    def given(self) -> set[str]:
        """Texts that the study's author wrote, word for word."""
        return {" ".join(self.own(text).split(" ")) for text in texts_in(self.campaign.plan.study)}

    # --- reading -----------------------------------------------------------------------------

    def read_all(self) -> list[str]:
        for part in self.document.parts:
            if part.kind in {"title", "meta", "heading", "caption", "text", "item", "pair"}:
                self._read(part)
        return self.objections

    def _read(self, part: Part) -> None:
        self.about = part.text[:300]
        if part.text in self.given or part.text.removesuffix(":") in self.given:
            self.read += 1
            return
        found = self._understood_caption(part.text) if part.kind == "caption" else None
        found = found or self._understood(part.text, part.kind)
        if found is None:
            self.unknown(part)
            return
        before = len(self.objections)
        for pattern, groups in found:
            self.read += 1
            self.said[pattern.name] = self.said.get(pattern.name, 0) + 1
            pattern.check(self, groups, part)
        if self.figures is not None and any(
            why.startswith(ANOTHER) or "is open: " in why for why in self.objections[before:]
        ):
            del self.objections[before:]
            self.unknown(part)

    def unknown(self, part: Part) -> None:
        """Of a sentence that no pattern knows, its numbers."""
        if self.figures is None:
            self.objections.append(f"unread sentence ({part.kind}): {part.text}")
            return
        self.read += 1
        self.objections += [f"{why}: {part.text}" for why in self.figures(part)]

    def _understood_caption(self, caption: str) -> Understood | None:
        """A caption behind which a workload stands, as several have one of its kind; None of one
        that is known with its workload."""
        bare = self._without_workload(caption)
        found = self._understood(bare, "caption") if bare != caption else None
        if found is None or any(pattern.name in ANYTHING for pattern, _ in found):
            return None
        return found

    def _without_workload(self, caption: str) -> str:
        """A caption without the workload that it names."""
        for workload in self.campaign.workloads():
            title = self.own(workload.title)
            if self.language == "ja" and caption.startswith(f"{title}: "):
                return caption.removeprefix(f"{title}: ")
            if self.language == "en" and caption.endswith(f", {title}"):
                return caption.removesuffix(f", {title}")
        return caption

    def _understood(self, text: str, kind: str) -> Understood | None:
        return understood(self.books, self.language, text, kind)


def texts_in(value: object) -> Iterator[Bilingual]:
    """Every text in both languages inside of a value."""
    if isinstance(value, Bilingual):
        yield value
    elif is_dataclass(value):
        for each in fields(value):
            yield from texts_in(getattr(value, each.name))
    elif isinstance(value, tuple):
        for inner in value:
            yield from texts_in(inner)


Understood = tuple[tuple[Pattern, Groups], ...]
ENDS = re.compile(r"\.(?= )|。(?=.)")
"""Of sentences that another follows; a version has a full stop within."""


@cache
def patterns_of(books: tuple[Book, ...], language: Language) -> tuple[Pattern, ...]:
    """Those that say most first."""
    every = [pattern for book in books for pattern in book.patterns]
    return tuple(sorted(every, key=lambda one: -one.weight[language]))


@cache
def understood(
    books: tuple[Book, ...], language: Language, text: str, kind: str
) -> Understood | None:
    """The patterns that make up all of a text, one after another."""
    for pattern in patterns_of(books, language):
        if pattern.of and kind not in pattern.of:
            continue
        expression = pattern.matches[language]
        whole = expression.fullmatch(text)
        if whole:
            return ((pattern, groups_of(pattern, whole)),)
        if expression.match(text) is None:
            continue
        for end in ENDS.finditer(text):
            first = expression.fullmatch(text, 0, end.end())
            rest = understood(books, language, text[end.end() :].lstrip(), kind) if first else None
            if first is not None and rest is not None:
                return ((pattern, groups_of(pattern, first)), *rest)
    return None


def groups_of(pattern: Pattern, found: re.Match[str]) -> Groups:
    """What stands in the places of a pattern; what may be missing and is, is not among it."""
    groups = {name: text for name, text in found.groupdict().items() if text is not None}
    return {**groups, "form": pattern.form} if pattern.form else groups
