"""A study as text for people, in English and Japanese."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.cli.text.layout import aside, bullets, columns, paragraph
from teiten.datasets.plan import plan_of as data_plan_of
from teiten.model.nodes import EmulatedNodes
from teiten.model.quantities import exact_share, format_duration, format_size
from teiten.model.study import CachePolicy, Sequential, Study, Workload
from teiten.model.text import Bilingual, Language
from teiten.report.texts import Texts
from teiten.ways.registry import way_of

WORDS = {
    "profile": Bilingual("profile", "プロファイル"),
    "inconclusive": Bilingual(
        "This profile supports no conclusion.", "このプロファイルの結果から結論は得られない。"
    ),
    "purpose": Bilingual("Purpose", "検証目的"),
    "sources": Bilingual("Sources", "出典"),
    "factors": Bilingual("Factors", "要因"),
    "builds": Bilingual("Built from source", "ソースからのビルド"),
    "usual": Bilingual("configure's own flags", "configureの既定"),
    "contrasted": Bilingual("compared: the first is old", "比較対象（先頭が旧）"),
    "workloads": Bilingual("Workloads", "負荷"),
    "optional": Bilingual(
        "Optional workloads (--set workloads=NAME,…)", "任意の負荷（--set workloads=名前,…）"
    ),
    "scale": Bilingual("scale", "スケールファクタ"),
    "layout": Bilingual("layout", "配置"),
    "parameters": Bilingual("Sets of parameters", "パラメータの組"),
    "fillfactor": Bilingual("fillfactor", "フィルファクタ"),
    "restored": Bilingual("restored before every trial", "試行ごとに復元"),
    "kept": Bilingual("data unchanged", "データは変化しない"),
    "clients": Bilingual("clients", "クライアント接続数"),
    "settings": Bilingual("Server parameters", "PostgreSQL設定"),
    "fitted": Bilingual("fitted to this machine", "本マシンに合わせて決定"),
    "trial": Bilingual("A trial", "試行"),
    "measured": Bilingual("measured", "測定時間"),
    "warmup": Bilingual("warm-up, discarded", "ウォームアップ（結果に含めない）"),
    "settle": Bilingual("rest before the load", "負荷をかける前の待ち時間"),
    "prewarm": Bilingual(
        "pg_prewarm of all tables and indexes", "全テーブル・インデックスのpg_prewarm"
    ),
    "caches": Bilingual("OS page cache", "OSのページキャッシュ"),
    "memory": Bilingual(
        "memory of server, load generator and page cache",
        "サーバ、負荷生成プログラム、ページキャッシュの合計メモリ",
    ),
    "nodes": Bilingual("each node, emulated as a machine", "各ノード（1台のマシンとして模擬）"),
    "blocks": Bilingual("blocks", "ブロック数"),
    "until": Bilingual("until every verdict is decided", "すべての判定が得られるまで"),
    "preferred": Bilingual("where it can be had", "可能な場合"),
    "budget": Bilingual("budget", "制限時間"),
    "delta": Bilingual("smallest difference that matters", "意味のある最小の差"),
    "alpha": Bilingual("accepted false alarms", "許容する誤検出の割合"),
    "disturbed": Bilingual(
        "a trial is disturbed from others' CPU use of",
        "ほかのプログラムのCPU使用で試行を除外する割合",
    ),
    "repeats": Bilingual("repeats of a failed trial, at most", "失敗した試行の再実行（最大）"),
    "differences": Bilingual("Differences from the published study", "公開された検証との違い"),
    "profiles": Bilingual("Profiles", "プロファイル"),
    "slices": Bilingual("slices in turn", "交互に測定するスライス"),
    "turns": Bilingual("sides take turns", "両側の交互の単位"),
    "statements": Bilingual(
        "statement by statement, a start of all servers for each block",
        "クエリごと（サーバの起動はブロックごと）",
    ),
    "restarts": Bilingual("pairs per start", "起動1回あたりの組数"),
    "yes": Bilingual("yes", "実施する"),
    "no": Bilingual("no", "実施しない"),
    "keep": Bilingual("left alone", "そのまま"),
    "evict": Bilingual("the cluster's files are evicted", "クラスタのファイルを追い出す"),
    "drop": Bilingual("dropped before a start", "起動前に破棄"),
}


def study_lines(
    study: Study, optional: Sequence[Workload], profiles: Sequence[str], language: Language
) -> Iterator[str]:
    """The study with the values of its profile. ``optional``: workloads that do not run."""
    word = Texts(language, {name: text.in_language(language) for name, text in WORDS.items()})
    title = f"{word.of(study.title)}{aside(language, study.name)}"
    comma = "、" if language == "ja" else ", "
    yield f"{title}{comma}{word('profile')} {study.profile}"
    yield from paragraph(word.of(study.question))
    if not study.conclusive:
        yield word("inconclusive")
    if study.purpose.en:
        yield from ("", word("purpose"), *paragraph(word.of(study.purpose), indent="  "))
    if study.sources:
        yield from ("", word("sources"), *bullets(study.sources))
    yield from ("", word("factors"), *columns(_factors(study, word)))
    if study.parameters:
        yield from ("", word("parameters"), *columns(_parameters(study)))
    if study.builds:
        yield from ("", word("builds"), *columns(_builds(study, word)))
    yield from ("", word("workloads"), *_workloads(study.workloads, word))
    if optional:
        yield from ("", word("optional"), *_workloads(optional, word))
    yield from ("", word("settings"), *_settings(study, word))
    yield from ("", word("trial"), *columns(_measure(study, word)))
    if study.differences:
        texts = [word.of(text) for text in study.differences]
        yield from ("", word("differences"), *bullets(texts))
    if profiles:
        yield from ("", f"{word('profiles')}: {', '.join(profiles)}")


def _factors(study: Study, word: Texts) -> Iterator[tuple[str, str]]:
    for factor in study.factors:
        note = aside(word.language, word("contrasted")) if factor.name == study.contrast else ""
        yield f"  {factor.name}", (", ".join(factor.levels) or word("fitted")) + note


def _parameters(study: Study) -> Iterator[tuple[str, str]]:
    for parameters in study.parameters:
        settings = ", ".join(f"{name} = {value}" for name, value in parameters.settings)
        yield f"  {parameters.name}", settings or "—"


def _builds(study: Study, word: Texts) -> Iterator[tuple[str, str]]:
    for name, spec in study.builds:
        flags = [*spec.configure, *(["meson"] if spec.meson else [])]
        flags.append(word("usual") if spec.cflags is None else f"CFLAGS={spec.cflags}")
        source = aside(word.language, spec.source) if spec.source else ""
        yield f"  {name}", f"{' '.join(flags)}{source}"


def _workloads(workloads: Sequence[Workload], word: Texts) -> Iterator[str]:
    for workload in workloads:
        scale = workload.data.scale if workload.data.scale is not None else word("fitted")
        facts = [
            workload.options.source,
            *_tables(workload, word, scale),
            word("restored") if workload.changes_data else word("kept"),
        ]
        facts += [
            f"{word(name) if name == 'clients' else name} {', '.join(levels)}"
            for name, levels in workload.levels
        ]
        yield f"  {workload.name}: {word.of(workload.title)}{aside(word.language, *facts)}"
        yield from paragraph(word.of(workload.description), indent="    ")
        for script in workload.options.texts:
            if script.name != workload.options.source:
                yield f"    {script.name}"
            yield from (f"      {line}" for line in script.text.splitlines())


def _tables(workload: Workload, word: Texts, scale: object) -> list[str]:
    layouts = [
        f"{word('layout')} {layout.name}:"
        f" {', '.join(script.name for script in layout.scripts) or '—'}"
        for layout in workload.layouts
    ]
    data = data_plan_of(workload.data.kind)
    values = {"scale": scale, **workload.data.options.told}
    name = data.name_of(workload.data)
    return [
        *([name] if name else []),
        *(f"{word(key)} {values[key]}" for key in data.tells),
        *layouts,
    ]


def _settings(study: Study, word: Texts) -> list[str]:
    fitted = aside(word.language, word("fitted")).strip()
    rows = []
    for setting in study.settings:
        source = f" [{setting.source}]" if setting.source else ""
        value = fitted if setting.value is None else setting.value
        rows.append((f"  {setting.name} = {value}", f"{word.of(setting.reason)}{source}"))
    return columns(rows)


def _nodes(nodes: EmulatedNodes) -> str:
    """Format nodes as the keys of ``[nodes]``; without one, a network of its own alone."""
    sizes = {"memory": nodes.memory, "read": nodes.read, "write": nodes.write}
    keys = [f"{name}={format_size(size)}" for name, size in sizes.items() if size is not None]
    keys += [] if nodes.cpus is None else [f"cpus={nodes.cpus}"]
    return ", ".join(["network", *keys])


def _blocks(sequential: Sequential | None, blocks: int, word: Texts) -> str:
    if sequential is None:
        return str(blocks)
    if sequential.budget is None:
        return word("until")
    return word("until") + aside(
        word.language, f"{word('budget')} {format_duration(sequential.budget)}"
    )


def _measure(study: Study, word: Texts) -> Iterator[tuple[str, str]]:
    measure, preferred = study.measure, study.measure.preferred

    def seconds(value: float | None) -> str:
        return word("fitted") if value is None else format_duration(value)

    rows = {
        "measured": seconds(measure.duration),
        "warmup": seconds(measure.warmup),
        "settle": seconds(measure.settle),
        "prewarm": word("yes" if measure.prewarm else "no"),
        "caches": word(CachePolicy(measure.caches).value),
        "blocks": _blocks(measure.sequential, measure.blocks, word),
    }
    if preferred is not None:
        design = _blocks(preferred.sequential, measure.blocks, word)
        rows["preferred"] = f"{preferred.name}, {design}"
    rows |= {
        "delta": exact_share(measure.delta),
        "alpha": exact_share(measure.alpha),
        "disturbed": exact_share(measure.disturbed_share or way_of(measure).disturbed_share),
        "repeats": str(measure.repeats),
    }
    for name, value in way_of(measure).listed(measure):
        rows[name] = word(value) if value in WORDS else value
    if measure.memory is not None:
        rows["memory"] = format_size(measure.memory)
    if study.nodes is not None:
        rows["nodes"] = _nodes(study.nodes)
    for name, text in rows.items():
        yield f"  {word(name)}", text
