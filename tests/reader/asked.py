"""What was asked and how, and the evidence: design, procedure, cautions, how to repeat it."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime

from teiten.model.study import DataSet
from teiten.ways.registry import way_of
from tests.reader.answers import lasts, plain_number
from tests.reader.document import Part
from tests.reader.language import Book, Groups
from tests.reader.reader import Reader

BOOK = Book()

SECTIONS = (
    ("The answer", "結論"),
    ("What was asked, and how", "検証概要と検証方法"),
    ("Results", "検証結果"),
    ("Why", "考察のための資料"),
    ("Published findings", "公開された検証結果との比較"),
    ("Evidence", "根拠となる記録"),
    ("Purpose", "検証の目的"),
    ("Design", "検証条件"),
    ("Workloads", "負荷の内容"),
    ("Procedure", "検証手順"),
    ("Topology", "検証構成"),
    ("Differences from the published study", "公開された検証との違い"),
    ("Cautions", "注意事項"),
    ("How to repeat it", "再現方法"),
    ("Contents", "目次"),
    ("Execution plans", "実行計画"),
)
"""Headings that say where one is, and no more."""
CAPTIONS = (
    ("Blocks and trials in the order in which they ran", "ブロックと試行の実行順"),
    ("The topology", "検証構成"),
    ("The machine", "検証マシン"),
    ("What each server says of itself", "サーバ自身の情報"),
    ("What differs from each version's own default", "各バージョンのデフォルトと異なる設定"),
    ("Settings that the study asks for", "本検証が指定する設定"),
    ("Trials that do not count", "除外した試行"),
    ("Every trial", "全試行の一覧"),
    ("Binaries and templates", "バイナリとテンプレート"),
    ("Events of interest", "検証中の主な出来事"),
    ("Per second, every trial", "全試行の毎秒の推移"),
    ("What backends waited for", "バックエンドの待機イベント"),
    ("CPU by state", "CPU使用率(状態別)"),
    ("CPU by process", "CPU使用率(プロセス別)"),
    ("CPU idle", "CPUアイドル率"),
    ("Disk throughput", "ディスク転送量"),
    ("WAL per transaction", "1トランザクションあたりのWAL"),
)
BOOK.only_words(*SECTIONS, *CAPTIONS)
BOOK.only_words(
    (
        "Long details are cut (…); teiten export has them whole.",
        "長い詳細は途中まで示す(…)。全体はteiten exportで得られる。",
    ),
)
BOOK.only_words(
    (
        "Load generator and servers run on the same machine; only one server runs at a time.",
        "負荷生成側とサーバは同じマシンで動き、サーバは一度に1台だけ起動している。",
    ),
    (
        "Load generator and servers run on the same machine; only one server is under load at a"
        " time.",
        "負荷生成側とサーバは同じマシンで動き、負荷は一度に1台のサーバだけにかける。",
    ),
    (
        "The generated postgresql.conf holds the reasons as comments.",
        "生成したpostgresql.confにも、理由をコメントとして記した。",
    ),
    (
        "As the running servers said (pg_settings, without what a session sets for itself), and"
        " initdb's checksums; a dash is the version's own default, which also holds for everything"
        " that is not listed. The generated postgresql.conf holds the reasons as comments.",
        "動作中のサーバの回答(pg_settings、セッションが自ら設定するものを除く)と、initdbのチェックサムの"
        "指定。「—」はそのバージョンのデフォルト値であり、表にない設定もすべて同様。生成したpostgresql.conf"
        "にも、理由をコメントとして記した。",
    ),
    (
        "Kept and listed, never part of a result. The rule was fixed before the run and looks at"
        " the machine and the log, not at the result.",
        "記録として残すが、結果には含めない。除外の規則は実行前に定めたもので、結果ではなくマシンの状態と"
        "ログだけを見る。",
    ),
    (
        "In the order in which they ran. The CSV has every metric, unrounded, in seconds, bytes and"
        " shares.",
        "実行した順。CSVには全指標を、丸めずに、秒・バイト・割合の単位で収めた。",
    ),
    ("The numbers behind this report:", "本報告書のもとになった数値:"),
    ("Clusters are made with:", "クラスタの作成:"),
    (
        "The load, as run in the first trial that counts of each workload (without what belongs to"
        " this place, -h and -p):",
        "負荷。負荷ごとに、有効な最初の試行で実行したもの(この環境に固有の-hと-pを除く):",
    ),
    ("Parameters of the kernel", "カーネルパラメータ"),
    ("One command, with the same seed:", "次のコマンドで、同じシードの検証を再現できる。"),
    (
        "Active backends by wait event, sampled ten times a second; means over the measured"
        " seconds.",
        "活動中のバックエンドを毎秒10回調べた、測定時間中の平均。",
    ),
    (
        "Means over the trials, as a share of all cores.",
        "全コアに対する割合。試行間の平均。",
    ),
    (
        "Means over the trials. Who used the processors: server and load generator share this"
        " machine.",
        "CPUを使ったプロセス。試行間の平均。サーバと負荷生成側は同じマシンで動いている。",
    ),
    (
        "Means over the measured seconds, by device. Dots: trials; lines: medians.",
        "デバイスごとの、測定時間中の平均。点は各試行、線は中央値。",
    ),
    (
        "Dots: trials. Line and ticks: medians. Bars: from the least to the greatest.",
        "点は各試行、線と横棒は中央値、縦の帯は最小から最大まで。",
    ),
    (
        "One line per trial, at most 12 per level and server; per-second samples are never counted"
        " as trials.",
        "線1本が1試行。条件とサーバごとに最大12本。毎秒の値を試行として数えることはない。",
    ),
    (
        "One line per trial, dashed where it does not count; per-second samples are never counted"
        " as trials.",
        "線1本が1試行で、破線は無効な試行。毎秒の値を試行として数えることはない。",
    ),
    # --- the procedure
    (
        "In each block every cell runs once, in an order drawn at random; the two sides run next to"
        " one another, and which goes first is drawn anew.",
        "各ブロックで全条件を1回ずつ、無作為な順で実行する。新旧は必ず続けて実行し、どちらを先にするかは"
        "その都度無作為に決める。",
    ),
)


@BOOK.says(
    "<name:t> · started <start:t> UTC · profile <profile:t>",
    "<name:t> · 開始 <start:t> UTC · プロファイル <profile:t>",
)
def about(reader: Reader, groups: Groups, part: Part) -> None:
    campaign = reader.campaign
    reader.equal(groups["name"], campaign.name, "the campaign")
    start, *end = re.split(r" UTC · (?:ended|終了) ", groups["start"])
    reader.equal(start, moment(campaign.created_at), "the start")
    if end:
        last = max(trial.finished_at for trial in campaign.trials)
        reader.equal(end[0], moment(last), "the end")
    reader.equal(groups["profile"], campaign.plan.study.profile, "the profile")


@BOOK.says(
    "Changed for this campaign: <values:t>. Where another value stands above, this one holds.",
    "今回の検証で変更した設定: <values:t>。上記に別の値がある場合も、こちらが適用される。",
    of="item",
)
def changed(reader: Reader, groups: Groups, _part: Part) -> None:
    told = [
        override
        for override in reader.campaign.plan.study.overrides
        if not override.startswith("server")
    ]
    reader.equal(groups["values"], reader.separator.join(told), "what was changed")


@BOOK.says("<name:t> started <start:t> UTC", "<name:t> 開始 <start:t> UTC", of="text")
def page_head(reader: Reader, groups: Groups, part: Part) -> None:
    """The first line of a page."""
    campaign = reader.campaign
    reader.that(part.section == 0, "a date out of its place")
    reader.equal(groups["name"], campaign.name, "the campaign")
    reader.equal(groups["start"], moment(campaign.created_at), "the start")


@BOOK.says(
    "started <start:t> UTC · profile <profile:t>",
    "開始 <start:t> UTC · プロファイル <profile:t>",
    of="text",
)
def page_foot(reader: Reader, groups: Groups, part: Part) -> None:
    about(reader, {**groups, "name": reader.campaign.name}, part)


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


@BOOK.says(
    "Made by Teiten <version:t> from campaign <name:t>.",
    "Teiten <version:t>が、検証<name:t>の記録から作成。",
)
def made(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.equal(groups["name"], reader.campaign.name, "the campaign")
    reader.equal(groups["version"], "0.1.0", "the version")


@BOOK.says("After: <sources:t>", "参照した検証: <sources:t>")
def sources(reader: Reader, groups: Groups, _part: Part) -> None:
    expected = reader.separator.join(reader.campaign.plan.study.sources)
    reader.equal(groups["sources"], expected, "the sources")


@BOOK.says(
    "Contrast: levels of <factor:t>; the first is old",
    "比較の対象: <factor:t>。先頭が旧、以降が新",
)
def contrast(reader: Reader, groups: Groups, _part: Part) -> None:
    expected = reader.factor_text(reader.campaign.contrast)
    reader.equal(groups["factor"], expected, "the contrast")


@BOOK.says("<factor:t>: <levels:t>", "<factor:t>: <levels:t>", of="pair")
def factor(reader: Reader, groups: Groups, part: Part) -> None:
    """A factor with its levels; or a workload with its description."""
    study = reader.campaign.plan.study
    texts = {getattr(workload.title, reader.language): workload for workload in study.workloads}
    if groups["factor"] in texts and part.section != 1:
        said = getattr(texts[groups["factor"]].description, reader.language)
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
        reader.that(named == list(found.levels), f"the levels are {found.levels}")


def split_names(text: str, separator: str) -> list[str]:
    """Names with a separator between them, which may stand inside of parentheses too."""
    names: list[str] = []
    for one in text.split(separator):
        if names and names[-1].count("(") > names[-1].count(")"):
            names[-1] += separator + one
        else:
            names.append(one)
    return names


@BOOK.says("Blocks: <blocks:i>", "ブロック数: <blocks:i>")
def blocks(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.same(groups["blocks"], reader.campaign.plan.study.measure.blocks, "the blocks")


@BOOK.says(
    "Blocks: until every verdict is decided, at the most <blocks:i> in <budget:d>",
    "ブロック数: すべての判定が得られるまで(上限<blocks:i>、<budget:d>以内)",
)
def most_blocks(reader: Reader, groups: Groups, _part: Part) -> None:
    measure = reader.campaign.plan.study.measure
    reader.same(groups["blocks"], measure.blocks, "the blocks")
    assert measure.sequential is not None
    lasts(reader, groups["budget"], measure.sequential.budget or 0.0)


@BOOK.says("Planned trials: <trials:i>", "計画した試行数: <trials:i>")
def planned_trials(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.same(groups["trials"], len(reader.campaign.plan.trials), "the planned trials")


def probe_tables(reader: Reader, data: DataSet) -> str:
    return f"{data}"


@BOOK.says("Data: <data:t>", "データ: <data:t>", of="pair")
def data(reader: Reader, groups: Groups, _part: Part) -> None:
    """What the tables of each workload are."""
    found = []
    for one in reader.campaign.workloads():
        title = getattr(one.title, reader.language)
        scale = plain_number(one.data.scale) if one.data.scale else "—"
        if one.data.kind == "ssb":
            found.append(
                f"{title}: Star Schema Benchmark(スケールファクタ{scale}、バリアント{one.data.options.told['variant']})"
                if reader.language == "ja"
                else f"{title}: Star Schema Benchmark, scale factor {scale},"
                f" variant {one.data.options.told['variant']}"
            )
        elif one.data.kind == "probes":
            found.append(f"{title}: " + probe_tables(reader, one.data))
        else:
            found.append(
                f"{title}: スケールファクタ{scale}、フィルファクタ{one.data.options.told['fillfactor']}"
                if reader.language == "ja"
                else f"{title}: scale factor {scale}, fillfactor {one.data.options.told['fillfactor']}"
            )
    reader.equal(groups["data"], {"en": "; ", "ja": ";"}[reader.language].join(found), "the data")


@BOOK.says(
    "Declared before: δ = <delta:p> is the smallest difference that matters; α = <alpha:p>",
    "事前に定めた基準: 意味のある最小の差 δ = <delta:p>、α = <alpha:p>",
)
def declared(reader: Reader, groups: Groups, _part: Part) -> None:
    measure = reader.campaign.plan.study.measure
    reader.same(groups["delta"], measure.delta * 100, "δ")
    reader.same(groups["alpha"], measure.alpha * 100, "α")


@BOOK.says("Profile: <profile:t>", "プロファイル: <profile:t>")
def profile(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.equal(groups["profile"], reader.campaign.plan.study.profile, "the profile")


@BOOK.says("Seed: <seed:i>", "乱数シード: <seed:i>")
def seed(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.equal(groups["seed"], reader.campaign.plan.seed, "the seed")


@BOOK.says(
    "Starts of the servers: both servers of a pair run side by side, one of them under load; they"
    " are restarted for every pair",
    "サーバの起動: 組の両サーバを同時に起動し、負荷は交互に片方だけにかける。組ごとに起動し直す",
)
def starts_every(reader: Reader, _groups: Groups, _part: Part) -> None:
    reader.that(_pairs_of_a_start(reader) == 1, "starts are shared")


@BOOK.says(
    "Starts of the servers: both servers of a pair run side by side, one of them under load;"
    " <pairs:i> pairs share a start and count as one pair, their mean",
    "サーバの起動: 組の両サーバを同時に起動し、負荷は交互に片方だけにかける。<pairs:i>組が1回の起動を"
    "共有し、その平均を1組と数える",
)
def starts_shared(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.equal(groups["pairs"], _pairs_of_a_start(reader), "pairs of a start")


def _pairs_of_a_start(reader: Reader) -> int:
    blocks: dict[int, set[int]] = {}
    for trial in reader.campaign.plan.trials:
        blocks.setdefault(trial.restart, set()).add(trial.block)
    return max(len(found) for start, found in blocks.items() if start)


# --- the procedure ---------------------------------------------------------------------------


@BOOK.says(
    "The cluster is restored from its template before every trial that follows a change of data"
    " (<workloads:t>).",
    "データを変更する負荷(<workloads:t>)では、毎回の試行の前に、クラスタをテンプレートから復元する。",
)
def restored(reader: Reader, groups: Groups, _part: Part) -> None:
    changing = [one for one in reader.campaign.workloads() if one.changes_data]
    expected = reader.separator.join(getattr(one.title, reader.language) for one in changing)
    reader.equal(groups["workloads"], expected, "the workloads that change data")


@BOOK.says("The server starts with the settings of its level.", "各条件の設定でサーバを起動する。")
def started(reader: Reader, _groups: Groups, _part: Part) -> None:
    servers = reader.campaign.plan.servers
    reader.that(any(one.attached is None for _, one in servers), "Teiten starts no server")


def is_limited(reader: Reader) -> bool:
    """Whether the memory of any trial is limited."""
    return any(trial.memory_limit is not None for trial in reader.campaign.plan.trials)


@BOOK.says(
    "The server and the load generator start in a control group that limits their memory together,"
    " the page cache of their files included; they do not swap.",
    "サーバと負荷生成プログラムを、両者のファイルのページキャッシュも含めてメモリを制限したコントロールグループの中で起動する。"
    "スワップは使わせない。",
)
def limited(reader: Reader, _groups: Groups, _part: Part) -> None:
    reader.that(is_limited(reader), "no memory is limited")


def caches(value: str, en: str, ja: str) -> None:
    @BOOK.says(en, ja)
    def cache(reader: Reader, _groups: Groups, _part: Part) -> None:
        wanted = reader.campaign.plan.study.measure.caches.value
        if is_limited(reader) and wanted == "keep":  # what is kept would not be in the limit
            wanted = "evict"
        reader.equal(value, wanted, "the caches")
        started(reader, _groups, _part)


caches("keep", "The operating system's page cache is kept.", "OSのページキャッシュはそのまま残す。")
caches(
    "evict",
    "The cluster's own files leave the page cache.",
    "クラスタのファイルをOSのページキャッシュから追い出す。",
)
caches(
    "drop",
    "The page cache is dropped, where the machine allows it.",
    "OSのページキャッシュを破棄する(マシンが許す場合)。",
)


@BOOK.says(
    "Both servers of the pair start with the settings of their level, and stay up while they take"
    " turns.",
    "各条件の設定で組の両サーバを起動し、交互に測定する間は両方とも動かしておく。",
)
def side_by_side(reader: Reader, _groups: Groups, _part: Part) -> None:
    started(reader, _groups, _part)
    reader.that(way_of(reader.campaign.plan.study.measure).side_by_side, "one after the other")


@BOOK.says(
    "All tables and B-tree indexes are read, by pg_prewarm where a server has it, then CHECKPOINT "
    "and <settle:d> of rest.",
    "全テーブルと全B-treeインデックスを読み込み（pg_prewarmのあるサーバではそれを使い）、CHECKPOINT"
    "を実行して<settle:d>待つ。",
)
def read_before(reader: Reader, groups: Groups, part: Part) -> None:
    prewarmed(reader, groups, part)
    reader.that(reader.campaign.plan.servers_without("pg_prewarm") != (), "all have pg_prewarm")


@BOOK.says(
    "pg_prewarm reads all tables and indexes, then CHECKPOINT and <settle:d> of rest.",
    "pg_prewarmで全テーブルと全インデックスを読み込み、CHECKPOINTを実行して<settle:d>待つ。",
)
def prewarmed(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(reader.campaign.plan.study.measure.prewarm, "nothing is prewarmed")
    lasts(reader, groups["settle"], reader.campaign.plan.study.measure.settle)


@BOOK.says("CHECKPOINT and <settle:d> of rest.", "CHECKPOINTを実行して<settle:d>待つ。")
def not_prewarmed(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(not reader.campaign.plan.study.measure.prewarm, "tables are prewarmed")
    lasts(reader, groups["settle"], reader.campaign.plan.study.measure.settle)


@BOOK.says(
    "The server's log, the data and the machine are checked. A trial with an error, or with more"
    " than <share:p> of the CPU used by others or stolen, does not count and is repeated at the"
    " end, up to <repeats:i>×.",
    "サーバログ、データ、マシンの状態を確認する。エラーのあった試行と、他のプロセスやハイパーバイザがCPUの"
    "<share:p>を超えて使った試行は無効とし、最後に最大<repeats:i>回まで再実行する。",
)
def checked(reader: Reader, groups: Groups, _part: Part) -> None:
    measure = reader.campaign.plan.study.measure
    reader.same(groups["share"], measure.disturbed_share * 100, "the disturbed share")
    reader.equal(groups["repeats"], measure.repeats, "the repeats")


@BOOK.says(
    "Where a trial counts, the same load runs for <window:d> more while perf samples the call"
    " stacks of the server; nothing of that enters a result.",
    "有効となった試行の後に、同じ負荷をさらに<window:d>かけ、perfでサーバのコールスタックを採取する。"
    "この区間は結果に含めない。",
)
def profiled(reader: Reader, groups: Groups, _part: Part) -> None:
    lasts(reader, groups["window"], reader.campaign.plan.study.measure.flame_graph_window)


@BOOK.says(
    "One number per trial. The logarithms of the ratios within blocks give the mean effect and its"
    " t interval; verdicts compare the interval with 1 and ±δ.",
    "1試行につき1つの値を用いる。ブロック内の新旧の比の対数から、平均とそのt信頼区間を求め、信頼区間を1"
    "および±δと比べて判定する。",
)
def fixed_design(reader: Reader, _groups: Groups, _part: Part) -> None:
    reader.that(reader.campaign.plan.study.measure.sequential is None, "it is sequential")


@BOOK.says(
    "One number per trial. The logarithms of the ratios within blocks give the mean effect and an"
    " interval that is valid at every look; after every block it is compared with 1 and ±δ. All"
    " levels run until the verdict over them is decided, then those that are still undecided, each"
    " at its share of α.",
    "1試行につき1つの値を用いる。ブロック内の新旧の比の対数から、平均と、逐次判定で有効な信頼区間を求め、"
    "1ブロックごとに1および±δと比べて判定する。全条件をまとめた判定が得られるまではすべての条件を、その後は"
    "判定が得られていない条件だけを実行する。条件ごとの信頼区間は、条件の数で割ったαによる。",
)
def sequential_design(reader: Reader, _groups: Groups, _part: Part) -> None:
    reader.that(reader.campaign.plan.study.measure.sequential is not None, "it is fixed")


@BOOK.says("Script <name:t>", "スクリプト <name:t>")
def script(reader: Reader, groups: Groups, _part: Part) -> None:
    known = {one.options.source for one in reader.campaign.workloads()}
    reader.that(groups["name"] in known, "no such script")


@BOOK.says(
    "Each square is a trial, with <label:t> inside. × failed, ≈ disturbed, ↻ counted when repeated,"
    " · not run.",
    "1マスが1試行で、数字は<label:t>。× 失敗、≈ 外乱あり、↻ 再実行で有効、· 未実行。",
)
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


MEANS_EN = (
    "Geometric means of the counted trials; ratio and interval of the paired trials (new ÷ old in"
    " the same block), with <confidence:p> confidence"
)
MEANS_JA = "新旧の値は有効な試行の幾何平均。比と信頼区間(信頼度は<confidence:p>"
PAIRS_JA = "は、同じブロック内で組にした試行の比(新÷旧)による。"
EACH_EN, EACH_JA = " over all levels and <level:p> at each", "、条件ごとには<level:p>"
SHARED_EN = (
    " The primary statements of a report share α, and the levels of each its share, so that together"
    " they hold; metrics beside the judged one have no word."
)
SHARED_JA = (
    "本報告書の主たる判定はαを分け合い、条件ごとの信頼区間はその判定の分をさらに分け合うので、すべて同時に"
    "成り立つ。判定に用いない指標には区間だけを示す。"
)
LOOKS_EN = " The intervals are valid whenever one looks."
LOOKS_JA = "信頼区間はいつ判定しても有効である。"


@BOOK.says(f"{MEANS_EN}.{SHARED_EN}", f"{MEANS_JA}){PAIRS_JA}{SHARED_JA}")
@BOOK.says(f"{MEANS_EN}{EACH_EN}.{SHARED_EN}", f"{MEANS_JA}{EACH_JA}){PAIRS_JA}{SHARED_JA}")
def paired(reader: Reader, groups: Groups, _part: Part) -> None:
    confidence_of(reader, groups["confidence"])
    level_of(reader, groups)
    reader.that(reader.campaign.plan.study.measure.sequential is None, "it is sequential")


@BOOK.says(f"{MEANS_EN}.{LOOKS_EN}{SHARED_EN}", f"{MEANS_JA}){PAIRS_JA}{LOOKS_JA}{SHARED_JA}")
@BOOK.says(
    f"{MEANS_EN}{EACH_EN}.{LOOKS_EN}{SHARED_EN}",
    f"{MEANS_JA}{EACH_JA}){PAIRS_JA}{LOOKS_JA}{SHARED_JA}",
)
def paired_sequentially(reader: Reader, groups: Groups, _part: Part) -> None:
    confidence_of(reader, groups["confidence"])
    level_of(reader, groups)
    reader.that(reader.campaign.plan.study.measure.sequential is not None, "it is fixed")


@BOOK.says(
    "Ratio with its interval; all levels together first. The line is 1.00, no difference; the band"
    " is ±<delta:p>, the difference that was declared to matter.",
    "比とその信頼区間。先頭は全条件をまとめたもの。縦線は1.00(差なし)、帯は意味のある差として事前に定めた"
    "±<delta:p>。",
)
def band(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.same(groups["delta"], reader.campaign.plan.study.measure.delta * 100, "δ")


@BOOK.says(
    "<metric:t> by level, <workload:t>", "<workload:t>: <metric:t>の<variant:v>比", of="caption"
)
def forest_caption(reader: Reader, groups: Groups, part: Part) -> None:
    reader.that(part.kind == "caption", "a caption out of its place")
    reader.that(reader.workload_of(groups["workload"]) is not None, "another workload")
    reader.that(reader.metric_of(groups["metric"]) is not None, "another metric")


# --- evidence --------------------------------------------------------------------------------


@BOOK.says(
    "Seed <seed:i> gives the same order of trials and the same random numbers of pgbench.",
    "シード<seed:i>により、試行の順序とpgbenchの乱数が同じになる。",
)
def seed_again(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.equal(groups["seed"], reader.campaign.plan.seed, "the seed")


@BOOK.says("The study file, <name:t>:", "検証の定義ファイル <name:t>:")
def study_file(reader: Reader, groups: Groups, _part: Part) -> None:
    study = reader.campaign.plan.study
    reader.equal(
        groups["name"], study.file.name if study.file else f"{study.name}.toml", "the file"
    )


@BOOK.says(
    "<shown:i> of <count:i> trials are shown; data/trials.csv has them all.",
    "<count:i>件中<shown:i>件を表示。全件はdata/trials.csvにある。",
)
def trials_shown(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.same(groups["count"], len(reader.campaign.trials), "the trials")
    table = next(
        table
        for table in reader.document.tables
        if table.caption in {"Every trial", "全試行の一覧"}
    )
    reader.same(groups["shown"], len(table.rows), "the rows")


@BOOK.says("None.", "なし。")
def no_cautions(reader: Reader, _groups: Groups, part: Part) -> None:
    reader.that(part.part in {"Cautions", "注意事項"}, "nothing of what")
    said = [part for part in reader.document.parts if part.text.startswith(("warning: ", "警告: "))]
    reader.that(not reader.campaign.cautions and not said, "there are cautions")


def caution(code: str, en: str, ja: str, *, book: Book = BOOK) -> None:
    """A caution: its values are those that were recorded; a place for one that is said again is
    named after it."""
    words = {"warning": ("warning", "警告"), "note": ("note", "注記")}

    @book.says(f"<severity:t>: {en}", f"<severity:t>: {ja}")
    def check(reader: Reader, groups: Groups, _part: Part) -> None:
        found = [one for one in reader.campaign.cautions if one.code == code]
        said = {re.sub("_again$|_anew$", "", name): text for name, text in groups.items()}
        twice = all(said[re.sub("_again$|_anew$", "", name)] == groups[name] for name in groups)
        reader.that(twice, "it says two things of one")
        known = []
        for one in found:
            word = words[one.severity.value][reader.language == "ja"]
            known.append({**dict(one.values), "severity": word})
        reader.that(
            any(all(each.get(name) == text for name, text in said.items()) for each in known),
            f"it was {known}",
        )


@BOOK.says(
    "warning: The pairs of <workload:t> (<sides:t>) depend on one another or move with time: lag-1"
    " correlation <lag:n>, trend <trend:n> standard deviations, <pairs:i> pairs. The interval"
    " believes that they are independent, and may be too narrow. Where this caution is missing, that"
    " is no proof: of campaigns of twelve pairs that correlate by 0.6, one in ten has it. Look at the"
    " ratios by block and at the machine over time; repeat the campaign, or restore the data before every trial"
    " (changes_data = true).",
    "警告: <workload:t>(<sides:t>)の組が互いに独立でないか、時間とともに変化している(ラグ1の自己相関"
    "<lag:n>、傾向は標準偏差の<trend:n>倍、<pairs:i>組)。信頼区間は独立を前提とするため、狭すぎる可能性が"
    "ある。この注意がないことは独立である証拠にはならない。12組の検証で隣り合う組の相関が0.6あっても、注意が"
    "出るのは10回に1回程度である。 ブロックごとの比とマシンの状態の推移を確認する。検証をやり直すか、試行ごとにデータを復元する"
    "(changes_data = true)。",
)
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


@BOOK.says("<count:i> <noun:t> not apply here", "本検証では対象外のもの(<count:i>件)")
def elsewhere(reader: Reader, groups: Groups, _part: Part) -> None:
    """What opens the table of the findings that do not apply."""
    captions = {"Findings that do not apply here", "本検証では対象外のもの"}
    tables = [table for table in reader.document.tables if table.caption in captions]
    rows = sum(len(table.rows) for table in tables)
    reader.equal(groups["count"], rows, "the findings in the table")
    if "noun" in groups:
        one = "finding that does" if rows == 1 else "findings that do"
        reader.equal(groups["noun"], one, "one or several")


@BOOK.says("<count:i> parameters of the kernel", "カーネルパラメータ(<count:i>個)")
def kernel_parameters(reader: Reader, groups: Groups, _part: Part) -> None:
    known = len(reader.campaign.facts.kernel_parameters)
    reader.equal(groups["count"], known, "the parameters")


@BOOK.says(
    "Each square is a trial. × failed, ≈ disturbed, ↻ counted when repeated, · not run.",
    "1マスが1試行である。× 失敗、≈ 外乱あり、↻ 再実行で有効、· 未実行。",
)
def bare_squares(_reader: Reader, _groups: Groups, _part: Part) -> None:
    """They are too small for labels."""
