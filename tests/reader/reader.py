"""A report that is read: its campaign, what its names mean, and what it was objected to."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property

from teiten.model.plan import Context
from teiten.model.study import Measure
from teiten.model.text import Bilingual
from tests.reader.campaign import METRICS, Campaign
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

    def same(self, text: str, value: float, what: str) -> None:
        """That a printed number is this one."""
        self.that(printed(text).is_of(value), f"{what} is {value:.8g}, not {text}")

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

    @cached_property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """Those of the trials, with their levels in the order in which they come."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for trial in self.campaign.plan.trials:
            for factor, level in trial.cell.levels:
                found[factor][level] = None
        return {factor: tuple(levels) for factor, levels in found.items()}

    @cached_property
    def names(self) -> dict[str, dict[str, set[str]]]:
        """How each level of each factor is called."""
        return {
            factor: {level: self._names(factor, level) for level in levels}
            for factor, levels in self.factors.items()
        }

    def side_of(self, text: str) -> str | None:
        """The level of the contrasted factor that a text names."""
        contrast = self.campaign.contrast
        for level, names in self.names.get(contrast, {}).items():
            version = self.versions.get(level) if contrast == "server" else None
            begins = f"{level} (PostgreSQL {version}", f"{level}(PostgreSQL {version}"
            if text in names or (version and text.startswith(begins)):
                return level
        return None

    def _names(self, factor: str, level: str) -> set[str]:
        """Those of a level: alone, with its factor, and as a side."""
        name, text = factor.removeprefix("guc:"), self.factor_text(factor)
        found = {level, self.level_text(factor, level), f"{name} = {level}", f"{text} = {level}"}
        found |= {f"{text} “{level}”", *self.titles.get(level, ())}
        version = self.versions.get(level, level)
        if factor == "server":
            found |= {f"PostgreSQL {version} ({level})", f"PostgreSQL {version}({level})"}
            if list(self.versions.values()).count(version) == 1:
                found |= {version, f"PostgreSQL {version}"}
            return found
        words = {level, *self.words_of(factor, level)}
        worded = phrases(self.language).get(f"level.{factor}.{level}", level)
        words.add(phrases(self.language).get(f"side-of.{factor}", worded).format(level=worded))
        if factor == "cores":
            unit = "core" if level == "1" else "cores"
            words |= {f"{level} {unit}", f"PostgreSQL on {level} {unit}"}
            words |= {f"{level}コア", f"{level}コア使用時"}
        digits = re.search(r"\d+$", level)
        if digits and not level.isdigit():
            words |= {digits[0], f"{int(digits[0]):,}"}
        return found | words | {word[:1].upper() + word[1:] for word in words}

    def words_of(self, factor: str, level: str) -> list[str]:
        """The words for a level: in a chart, in a sentence, and in short."""
        known = phrases(self.language)
        keys = (f"{part}.{factor}.{level}" for part in ("level", "side", "side.short"))
        words = [known[key] for key in keys if key in known]
        emulated = known.get(f"emulated.side.{factor}", "{level}")
        return [*words, *(emulated.format(level=word) for word in words)]

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
        bare = re.sub(r"(?:, | ?\()(?:m?s|µs|min|分|秒)\)?$", "", text)
        titles = {name: phrases(self.language)[f"metric.{name}"] for name in METRICS}
        found = (
            name for name, title in titles.items() if bare in {title, title[:1].upper() + title[1:]}
        )
        return next(found, None)

    @cached_property
    def given(self) -> set[str]:
        """Texts that the study's author wrote, word for word."""
        return {" ".join(self.own(text).split(" ")) for text in texts_in(self.campaign.plan.study)}

    def of_workload(self, caption: str) -> tuple[str, str]:
        """The workload that a caption names, and the rest of it."""
        for workload in self.campaign.workloads():
            title = self.own(workload.title)
            if self.language == "ja" and caption.startswith(f"{title}: "):
                return workload.name, caption.removeprefix(f"{title}: ")
            if self.language == "en" and caption.endswith(f", {title}"):
                return workload.name, caption.removesuffix(f", {title}")
        return "", caption


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
