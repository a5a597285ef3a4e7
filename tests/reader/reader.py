"""A report that is read: its campaign, what its names mean, and what it was objected to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property

from teiten.model.study import Measure
from teiten.model.text import Bilingual
from tests.reader.campaign import METRICS, Campaign, Context
from tests.reader.document import Document, plain
from tests.reader.language import Language, printed
from tests.reader.texts import SEPARATOR, phrases


class Reader:
    """Of one report in one language."""

    def __init__(self, document: Document, campaign: Campaign, language: Language) -> None:
        self.document = document
        self.campaign = campaign
        self.language: Language = language
        self.objections: list[str] = []
        self.read = 0
        """Sentences whose numbers were read."""
        self.about = ""

    def that(self, holds: bool, why: str) -> None:
        if not holds:
            self.objections.append(f"{why}: {self.about}")

    def same(self, text: str, value: float, what: str, *, safe: str = "") -> None:
        """That a printed number is this one."""
        holds = printed(text).is_of(value, safe=safe)
        self.that(holds, f"{what} is {value:.8g}, not {text}")

    def equal(self, text: str, value: object, what: str) -> None:
        self.that(text == str(value), f"{what} is {value}, not {text}")

    @property
    def measure(self) -> Measure:
        return self.campaign.plan.study.measure

    @property
    def separator(self) -> str:
        return SEPARATOR[self.language]

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
        worded = phrases(self.language).get(f"level.{factor}.{level}", level)
        side = phrases(self.language).get(f"side-of.{factor}", worded).format(level=worded)
        forms = {
            level,
            f"{name} = {level}",
            f"{self.factor_text(factor)} = {level}",
            side,
            side[:1].upper() + side[1:],
            *self.words_of(factor, level),
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

    def words_of(self, factor: str, level: str) -> list[str]:
        """The words for a level: in a chart, in a sentence, at its beginning, and in short."""
        known = phrases(self.language)
        keys = (f"{part}.{factor}.{level}" for part in ("level", "side", "side.short"))
        words = [known[key] for key in keys if key in known]
        emulated = known.get(f"emulated.side.{factor}", "{level}")
        words += [emulated.format(level=word) for word in words]
        return [*words, *(word[:1].upper() + word[1:] for word in words)]

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
        otherwise = f"{self.factor_text(factor)} = {level}"
        return phrases(self.language).get(f"level.{factor}.{level}", otherwise)

    def factor_text(self, factor: str) -> str:
        name = factor.removeprefix("guc:")
        return phrases(self.language).get(f"factor.{name}", name)

    def metric_of(self, text: str) -> str | None:
        """The metric that a text names; a caption begins with a capital letter, and has a unit."""
        bare = re.sub(r"(?:, ms|\(ms\))$", "", text)
        titles = {name: phrases(self.language)[f"metric.{name}"] for name in METRICS}
        found = (
            name for name, title in titles.items() if bare in {title, title[:1].upper() + title[1:]}
        )
        return next(found, None)

    @cached_property
    def given(self) -> set[str]:
        """Texts that the study's author wrote, word for word."""
        return {" ".join(self.own(text).split(" ")) for text in texts_in(self.campaign.plan.study)}

    def without_workload(self, caption: str) -> str:
        """A caption without the workload that it names."""
        for workload in self.campaign.workloads():
            title = self.own(workload.title)
            if self.language == "ja" and caption.startswith(f"{title}: "):
                return caption.removeprefix(f"{title}: ")
            if self.language == "en" and caption.endswith(f", {title}"):
                return caption.removesuffix(f", {title}")
        return caption


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
