"""Where servers and load were: attached servers, and the provisional run that chose the clients."""

from __future__ import annotations

from tests.reader.asked import caution
from tests.reader.document import Part
from tests.reader.language import Book, Groups
from tests.reader.reader import Reader

BOOK = Book()

caution(
    "attached",
    "The server <server:t> (<address:t>) was attached, not started by Teiten: it is not r"
    "estarted between trials, its files are not taken out of the page cache, its log is n"
    "ot read, its disk is not observed, and it keeps its own settings. Its databases teit"
    "en_… were filled by Teiten and are dropped at the end. Compare with a server that Te"
    "iten starts only what both have in common.",
    "サーバ <server:t>（<address:t>）は Teiten が起動したものではなく、接続しただけである。試行間の再起動、ページキャッシュからの追い出し、サーバログの確認、ディスクの観測は行わず、設定はサーバ自身のものである。データベース teiten_… は Teiten が作成し、最後に削除する。 Teiten が起動したサーバとは、両者に共通する条件だけを比較する。",
)
caution(
    "attached-left-out",
    "Left out on the server <server:t>: <levels:t>. Why: <why_en:t>. <hint_en:t>",
    "サーバ <server:t> では次を除外した: <levels:t>。理由: <why_ja:t>。 <hint_ja:t>",
)
caution(
    "attached-telemetry",
    "The processes of the server <server:t> cannot be seen from here: processor and disk "
    "of its machine are not recorded, and the trial cannot tell whether others use it. Lo"
    "ok at that machine's own monitoring for the time of the campaign.",
    "サーバ <server:t> のプロセスはこのマシンから見えない。そのマシンの CPU とディスクは記録されず、ほかの負荷があったかどうかも分からない。 測定した時間帯のそのマシンの監視記録を確認する。",
)
caution(
    "attached-prewarm",
    "The role <role:t> cannot create pg_prewarm on the server <server:t>: its tables are "
    "not read into shared buffers before a trial; only the warm-up does that. Give a long"
    "er warm-up (--set warmup=60s), or name a role that may (superuser).",
    "ロール <role:t> はサーバ <server:t> で pg_prewarm を作成できない。試行の前に表を共有バッファに読み込めず、ウォームアップだけで温める。 ウォームアップを長くするか（--set warmup=60s）、権限のあるロール（スーパーユーザ）を指定する。",
)
caution(
    "attached-checkpoint",
    "The role <role:t> may not CHECKPOINT on the server <server:t>: a checkpoint can begi"
    "n at any moment of a trial. GRANT pg_checkpoint TO <role_again:t> (15 and later), or make"
    " trials longer than checkpoint_timeout.",
    "ロール <role:t> はサーバ <server:t> で CHECKPOINT を実行できない。試行中の任意の時点でチェックポイントが始まることがある。 GRANT pg_checkpoint TO <role_again:t>（15 以降）を実行するか、試行を checkpoint_timeout より長くする。",
)
caution(
    "attached-shared",
    "Others have <sessions:i> sessions on the server <server:t>. What they do there count"
    "s into WAL, cache hits and checkpoints, and slows trials. Measure while they rest, o"
    "r on a server of your own.",
    "サーバ <server:t> にはほかのセッションが <sessions:i> ある。その動作は WAL、キャッシュヒット、チェックポイントの値に含まれ、試行を遅くする。 ほかの利用がないときに測定するか、専用のサーバを使う。",
)
caution(
    "attached-settings",
    "On the server <server:t> parameters differ from the study's, which stand in parenthe"
    "ses: <settings:t>. They need a restart or other rights, so they stay. Set them there"
    " yourself before the campaign, or take the difference as part of what is compared.",
    "サーバ <server:t> では、次のパラメータが検証の値（括弧内）と異なる: <settings:t>。再起動または別の権限が必要なため、そのままである。 測定の前にサーバ側で設定するか、この違いも比較対象の一部とみなす。",
)
caution(
    "attached-unknown",
    "The server <server:t> has no such parameters, which the study sets: <settings:t>. Th"
    "ey are left out there.",
    "検証が設定する次のパラメータは、サーバ <server:t> にはない: <settings:t>。 そのサーバでは設定しない。",
)
caution(
    "attached-against-own",
    "Attached (<servers:t>) and own servers (<own:t>) are compared: machine, disk, connec"
    "tion, settings, restarts and caches are not equal, so that a difference is not one o"
    "f PostgreSQL's version alone. Say so where you publish the numbers.",
    "接続したサーバ（<servers:t>）と Teiten が起動したサーバ（<own:t>）を比較している。マシン、ディスク、接続、設定、再起動、キャッシュが同じではないため、差は PostgreSQL のバージョンだけによるものではない。 数値を公表するときは、その旨を明記する。",
)
caution(
    "attached-encrypted",
    "Only the connections to <servers:t> are encrypted; encryption costs time on both end"
    "s. Use the same sslmode for all sides where that is allowed, for example ?sslmode=di"
    "sable.",
    "<servers:t> への接続だけが暗号化されている。暗号化は両端の時間を消費する。 許されるなら、すべての側で同じ sslmode を使う（例: ?sslmode=disable）。",
)
caution(
    "attached-checksums",
    "Only <servers:t> has data checksums. For a comparison with servers of your own choos"
    "e the same: --set-b checksums=on.",
    "データチェックサムが有効なのは <servers:t> だけである。 Teiten が起動するサーバと比較するなら、同じ条件にする（--set-b checksums=on）。",
)


@BOOK.says(
    "Attached servers (<servers:t>) are not restarted, and keep their caches and settings; the load"
    " goes to a database that Teiten made there, and the server's log is not read. What else is left"
    " out stands among the cautions.",
    "稼働中のサーバに接続した側(<servers:t>)では、再起動せず、キャッシュと設定もサーバのままとする。Teitenがそこに作成したデータベースに負荷をかけ、サーバログは確認しない。そのほかに省いた手順は注意事項に示す。",
)
def attached_step(reader: Reader, groups: Groups, _part: Part) -> None:
    levels = [level for level, one in reader.campaign.plan.servers if one.attached is not None]
    reader.equal(groups["servers"], reader.separator.join(levels), "the attached servers")


@BOOK.says(
    "The load generator runs on this machine; the servers were running before, and Teiten attached"
    " to them. <listed:r>",
    "負荷生成側はこのマシンで動く。サーバは以前から稼働しているもので、Teitenはそれに接続した。 <listed:r>",
)
def all_attached(reader: Reader, groups: Groups, _part: Part) -> None:
    listed(reader, groups, every=True)


@BOOK.says(
    "The load generator and the servers that Teiten starts run on this machine, one server at a time;"
    " other servers were running before, and Teiten attached to them. <listed:r>",
    "負荷生成側とTeitenが起動するサーバはこのマシンで動き、サーバは一度に1台だけ起動している。ほかのサーバは以前から稼働しているもので、Teitenはそれに接続した。 <listed:r>",
)
def some_attached(reader: Reader, groups: Groups, _part: Part) -> None:
    listed(reader, groups, every=False)


def listed(reader: Reader, groups: Groups, *, every: bool) -> None:
    """The attached servers and their addresses."""
    servers = reader.campaign.plan.servers
    known = [(level, one.attached) for level, one in servers if one.attached is not None]
    reader.that((len(known) == len(servers)) == every, "all of them, or some")
    stop = "." if reader.language == "en" else "。"
    expected = " ".join(f"{level}: {one.address}{stop}" for level, one in known)
    reader.equal(groups["listed"], expected, "the attached servers")


@BOOK.says(
    "Provisional run: <workload:t>: the clients were doubled in short trials on one server until TPS"
    " rose by no more than <delta:p> twice in a row; it saturates at <clients:i> (clients and TPS:"
    " <probes:t>). From this the clients <levels:t> were chosen before the campaign was planned."
    " Ledger: <ledger:t>.",
    "仮測定: <workload:t>: 1台のサーバで短い試行のクライアント接続数を倍々に増やし、TPSの増加が2回続けて<delta:p>以下となるまで測定した。<clients:i>接続で頭打ちとなった(接続数とTPS: <probes:t>)。この結果から、本測定の計画前に接続数<levels:t>を選んだ。台帳: <ledger:t>。",
)
def saturated(reader: Reader, groups: Groups, _part: Part) -> None:
    provisional(reader, groups, reached=True)


@BOOK.says(
    "Provisional run: <workload:t>: the clients were doubled in short trials on one server; no"
    " saturation was found, and <clients:i> had the greatest TPS within <delta:p> (clients and TPS:"
    " <probes:t>). From this the clients <levels:t> were chosen before the campaign was planned."
    " Ledger: <ledger:t>.",
    "仮測定: <workload:t>: 1台のサーバで短い試行のクライアント接続数を倍々に増やしたが、頭打ちは確認されなかった。<delta:p>の範囲で最大のTPSとなったのは<clients:i>接続(接続数とTPS: <probes:t>)。この結果から、本測定の計画前に接続数<levels:t>を選んだ。台帳: <ledger:t>。",
)
def not_saturated(reader: Reader, groups: Groups, _part: Part) -> None:
    provisional(reader, groups, reached=False)


def provisional(reader: Reader, groups: Groups, *, reached: bool) -> None:
    """As its event was recorded."""
    workload = reader.workload_of(groups["workload"])
    for event in reader.campaign.events:
        if event.kind != "saturation" or event.detail["workload"] != workload:
            continue
        found = event.detail
        reader.that(found["reached"] == reached, "saturated, or not")
        reader.same(groups["delta"], found["delta"] * 100, "δ")
        reader.equal(groups["clients"], found["clients"], "the clients")
        reader.equal(groups["ledger"], found["provisional"], "the ledger")
        levels = reader.separator.join(map(str, found["levels"]))
        reader.equal(groups["levels"], levels, "the levels")
        said = groups["probes"].split(reader.separator)
        for text, probe in zip(said, found["probes"], strict=True):
            clients, tps = text.split(": ")
            reader.equal(clients, probe["clients"], "the clients of a probe")
            if probe["tps"] is None:
                reader.equal(tps, "—", "no TPS")
            else:
                reader.same(tps, probe["tps"], "the TPS of a probe")
        return
    reader.that(False, "there was none")
