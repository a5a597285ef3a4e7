"""What a report cautions about on the machine and in the plan, in both languages."""

from __future__ import annotations

from tests.reader.asked import caution
from tests.reader.document import Part
from tests.reader.language import Book, Groups
from tests.reader.reader import Reader

BOOK = Book()

caution(
    "other-load",
    "Other programs are using this machine: the load average is <load:t> on <cores:t> cores. Stop "
    "them, or measure when the machine is idle; trials that they disturb are repeated, and that "
    "takes time.",
    "ほかのプログラムがこのマシンを使っている（<cores:t> コアに対してロードアベレージ <load:t>）。 停止するか、空いている時間に測定する。外乱を受けた試行は再実行されるため、所要時間も延びる。",
    book=BOOK,
)
caution(
    "swap-in-use",
    "Swap is in use: <used:t> of <total:t>. A server whose memory comes back from a disk is slow "
    "for a reason of its own. Free memory, then empty the swap with swapoff -a && swapon -a.",
    "スワップが使われている（<total:t> のうち <used:t>）。ディスクから戻されるメモリのためにサーバが遅くなることがある。 メモリを空けてから、swapoff -a && swapon -a でスワップを空にする。",
    book=BOOK,
)
caution(
    "swap-present",
    "There is <total:t> of swap; it is empty now. Set vm.swappiness to 1, or turn swap off with "
    "swapoff -a while measuring.",
    "スワップが <total:t> ある（現在は未使用）。 vm.swappiness を 1 にするか、測定中は swapoff -a で無効にする。",
    book=BOOK,
)
caution(
    "memory-low",
    "Only <available:t> of <total:t> of memory is available. Stop programs that hold memory, or "
    "choose a smaller scale and smaller shared_buffers.",
    "利用可能なメモリが <total:t> のうち <available:t> しかない。 メモリを使っているプログラムを止めるか、スケールファクタと shared_buffers を小さくする。",
    book=BOOK,
)
caution(
    "transparent-huge-pages",
    "Transparent huge pages are set to always: the kernel merges and splits pages when it likes, "
    "which makes single trials slower. echo madvise > "
    "/sys/kernel/mm/transparent_hugepage/enabled, and use huge_pages of PostgreSQL instead.",
    "Transparent Huge Pages が always である。カーネルが任意の時点でページを結合・分割するため、試行が遅くなることがある。 echo madvise > /sys/kernel/mm/transparent_hugepage/enabled とし、PostgreSQL の huge_pages を使う。",
    book=BOOK,
)
caution(
    "frequency-governor",
    "The frequency governor is <governor:t>: the clock follows the load, and low loads run slower "
    "than high ones. Set it to performance with cpupower frequency-set -g performance.",
    "CPU 周波数のガバナーが <governor:t> である。クロックが負荷に応じて変わり、低負荷のときほど遅くなる。 cpupower frequency-set -g performance で performance にする。",
    book=BOOK,
)
caution(
    "turbo-on",
    "Turbo is on: the clock rises when few cores are busy or the chip is cool, so that the first "
    "trials can be faster than the later ones. For the smallest differences turn it off (echo 1 > "
    "/sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to cpufreq/boost); the random order of "
    "trials keeps the comparison fair.",
    "ターボが有効である。動いているコアが少ないときや温度が低いときにクロックが上がるため、初めの試行ほど速くなることがある。 わずかな差を調べるときは無効にする（intel_pstate/no_turbo に 1、または cpufreq/boost に 0）。試行順は無作為なので、比較の公平さは保たれる。",
    book=BOOK,
)
caution(
    "turbo-unknown",
    "Whether the clock may rise above its nominal frequency cannot be seen here. Look it up in "
    "the firmware's settings, and say so where you publish the numbers.",
    "クロックが定格を超えて上がるかどうかを、ここからは確認できない。 ファームウェアの設定を確認し、結果を公表するときに書き添える。",
    book=BOOK,
)
caution(
    "few-cores",
    "There are only <cores:t> cores. The load generator takes part of them from the "
    "server. Compare the two sides, not the absolute numbers, with those of larger machines.",
    "コアが <cores:t> 個しかない。負荷生成側がその一部をサーバから奪う。 絶対値を大きなマシンと比べず、両者の比を見る。",
    book=BOOK,
)
caution(
    "shared-cores",
    "The load generator and the server share the same <cores:t> cores. Read the throughput "
    "together with the share of the CPU that the load generator used; it stands beside every result of the "
    "report.",
    "負荷生成側とサーバが同じ <cores:t> コアを共有している。 本報告書の各結果に添えた負荷生成側の CPU 使用率とあわせてスループットを読む。",
    book=BOOK,
)
caution(
    "more-clients-than-cores",
    "Up to <clients:t> clients run on <cores:t> cores: beyond <cores_again:t> they wait for a "
    "core, and latencies hold that wait. Expect throughput to level off there; compare latencies "
    "at the same number of clients only.",
    "<cores:t> コアに対して最大 <clients:t> クライアントを接続する。<cores_again:t> を超えた分はコアを待ち、その待ち時間がレイテンシに含まれる。 スループットはその付近で頭打ちになる。レイテンシは同じクライアント接続数どうしで比べる。",
    book=BOOK,
)
caution(
    "cgroup-quota",
    "A control group limits this program to <quota:t> of <cores:t> cores; the kernel stops it for "
    "the rest of each period. Run without a CPU limit (docker run without --cpus), or bind whole "
    "cores instead (--cpuset-cpus).",
    "cgroup によって <cores:t> コアのうち <quota:t> コア分に制限されている。割り当てを使い切ると、周期の残りの間は停止させられる。 CPU の制限なしで（docker run の --cpus を付けずに）実行するか、コア単位で割り当てる（--cpuset-cpus）。",
    book=BOOK,
)
caution(
    "hardware-threads",
    "Each of the <cores:t> physical cores runs <threads:t> hardware threads, which slow each "
    "other down. Expect a bend in the curves where the clients outnumber the physical cores.",
    "<cores:t> 個の物理コアがそれぞれ <threads:t> 個のハードウェアスレッドを動かしており、互いに速度が落ちる。 クライアント接続数が物理コア数を超えるところで、曲線が折れ曲がると考える。",
    book=BOOK,
)
caution(
    "numa-nodes",
    "The memory is in <nodes:t> NUMA nodes: where a process and its pages land differs from start "
    "to start. Run more blocks, or bind server and memory to one node with numactl.",
    "メモリが <nodes:t> 個の NUMA ノードに分かれている。プロセスとページの配置は起動のたびに変わる。 ブロック数を増やすか、numactl でサーバとメモリを 1 ノードに固定する。",
    book=BOOK,
)
caution(
    "virtual-machine",
    "This is a virtual machine (<hypervisor:t>). Its neighbours on the host cannot be seen; what "
    "they take shows as stolen CPU time at best. Use dedicated cores where you can; trials with "
    "too much stolen time are repeated.",
    "仮想マシン（<hypervisor:t>）である。同じホストのほかの仮想マシンは見えず、奪われた CPU 時間（steal）として現れるだけである。 できれば専有コアを使う。steal の多い試行は繰り返される。",
    book=BOOK,
)
caution(
    "container",
    "Teiten runs in a container (<engine:t>); programs outside of it cannot be told from kernel "
    "work. Keep the host idle, and put the data on a volume rather than in the container's own "
    "layer.",
    "コンテナ（<engine:t>）の中で動いている。外側のプログラムとカーネルの処理を区別できない。 ホストを空けておき、データはコンテナのレイヤではなくボリュームに置く。",
    book=BOOK,
)
caution(
    "copy-on-write",
    "<mount_point:t> is on <file_system:t>, which writes every changed block to a new place: "
    "updates cost more and more as files become scattered. Use --workdir on ext4 or xfs, or say "
    "in the results that it was <file_system_again:t>.",
    "<mount_point:t> は <file_system:t> である。変更したブロックを常に新しい場所へ書くため、ファイルの断片化とともに更新が重くなる。 --workdir に ext4 か xfs の場所を指定するか、<file_system_again:t> で測ったことを結果に書き添える。",
    book=BOOK,
)
caution(
    "memory-file-system",
    "<mount_point:t> is in memory (<file_system:t>): nothing is ever written to a disk, and the "
    "data takes memory from the server. Use --workdir on a disk, unless a machine without disk "
    "waits is what you want to measure.",
    "<mount_point:t> はメモリ上にある（<file_system:t>）。ディスクには何も書かれず、データがサーバのメモリを減らす。 ディスク待ちのない状態を測りたいのでなければ、--workdir にディスク上の場所を指定する。",
    book=BOOK,
)
caution(
    "network-file-system",
    "<mount_point:t> is reached over a network (<file_system:t>): its other users and the network "
    "are part of every number. Use --workdir on a local disk.",
    "<mount_point:t> はネットワーク越しである（<file_system:t>）。ほかの利用者とネットワークの影響がすべての値に含まれる。 --workdir にローカルディスクの場所を指定する。",
    book=BOOK,
)
caution(
    "overlay-file-system",
    "<mount_point:t> is a container's layer (<file_system:t>); the disk below it cannot be seen. "
    "Mount a volume and use --workdir on it; then disk transfers are recorded too.",
    "<mount_point:t> はコンテナのレイヤである（<file_system:t>）。その下のディスクは見えない。 ボリュームをマウントして --workdir に指定する。ディスクの転送量も記録されるようになる。",
    book=BOOK,
)
caution(
    "rotational-disk",
    "<device:t> is a rotating disk: commits wait for its head, and the place of a file on it "
    "matters. Expect a few hundred commits per second and large differences between trials; run "
    "more blocks.",
    "<device:t> は回転するディスクである。コミットはヘッドの動きを待ち、ファイルの位置も速度に影響する。 コミットは毎秒数百回程度で、試行間のばらつきも大きくなる。ブロック数を増やす。",
    book=BOOK,
)
caution(
    "disk-nearly-full",
    "Only <free:t> of <total:t> is free on <mount_point:t>; file systems become slow when they "
    "fill up. Free space with teiten clean, or use --workdir on another disk.",
    "<mount_point:t> の空きが <total:t> のうち <free:t> しかない。ファイルシステムは満杯に近づくと遅くなる。 teiten clean で空けるか、--workdir に別のディスクを指定する。",
    book=BOOK,
)
caution(
    "other-system",
    "On <system:t> less can be seen and controlled than on Linux. Server and load are measured, "
    "but pressure, clock control and cgroups are not recorded.",
    "<system:t> では、Linux より観測・制御できるものが限られる。 サーバと負荷は測定するが、資源待ちの統計、クロックの制御、cgroup は記録されない。",
    book=BOOK,
)
caution(
    "clock-source",
    "The clock source is <clock:t>: each reading of the time enters the kernel, which "
    "log_min_duration, track_io_timing and EXPLAIN ANALYZE pay for. See "
    "/sys/devices/system/clocksource/clocksource0/available_clocksource; tsc is the fast one on "
    "x86.",
    "クロックソースが <clock:t> である。時刻を読むたびにカーネルに入るため、log_min_duration、track_io_timing、EXPLAIN ANALYZE のコストが上がる。 /sys/devices/system/clocksource/clocksource0/available_clocksource を確認する。x86 で速いのは tsc である。",
    book=BOOK,
)
caution(
    "perf-not-allowed",
    "perf may not sample the kernel here (perf_event_paranoid is <paranoid:t>). sysctl "
    "kernel.perf_event_paranoid=1, where you want profiles of trials.",
    "perf でカーネルを観測できない（perf_event_paranoid が <paranoid:t>）。 試行のプロファイルが必要なら sysctl kernel.perf_event_paranoid=1 とする。",
    book=BOOK,
)
caution(
    "pressure-stall-missing",
    "The kernel does not count pressure stalls (no /proc/pressure). Boot with psi=1 to see how "
    "long tasks waited for CPU, memory and disk.",
    "カーネルが資源待ちの統計（PSI、/proc/pressure）を取っていない。 カーネルを psi=1 で起動すると、CPU・メモリ・ディスクの待ち時間を記録できる。",
    book=BOOK,
)
caution(
    "compilers-differ",
    "The servers were built by different compilers: <compilers:t>. A difference between them may "
    "be the compiler's. Compare binaries of the same source, or build both with one compiler.",
    "サーバのコンパイラが異なる（<compilers:t>）。差はコンパイラによるものかもしれない。 同じ配布元のバイナリどうしを比べるか、両方を同じコンパイラでビルドする。",
    book=BOOK,
)
caution(
    "page-cache-kept",
    "The study asks for an empty page cache, but this program may not drop it; only the cluster's "
    "own files are evicted. Run as root on the machine itself for the whole cache to be dropped.",
    "この検証はページキャッシュを空にするよう求めているが、その権限がない。クラスタ自身のファイルだけを追い出す。 キャッシュ全体を破棄するには、コンテナの外で root として実行する。",
    book=BOOK,
)
caution(
    "telemetry-missing",
    "Not recorded: <source:t> (<reason:t>). The trial counts all the same; the charts of this "
    "source have gaps.",
    "記録できなかった情報: <source:t>（<reason:t>）。 試行は有効であるが、この情報のグラフには欠けがある。",
    book=BOOK,
)
caution(
    "data-changed",
    "The workload <workload:t> changes data, and was declared not to: its trials did not begin "
    "with the same data. Say changes_data = true (--set changes_data=yes), so that each trial "
    "begins with a fresh copy.",
    "負荷 <workload:t> は、データを変更しないと宣言されているが、実際には変更している。各試行は同じデータから始まっていない。 changes_data = true（--set changes_data=yes）とし、試行ごとに新しい複製から始める。",
    book=BOOK,
)
caution(
    "cores-shared",
    "Server and pgbench share their processors: the largest level takes <cores:t> of <here:t>, so "
    "that none is left for pgbench at every level. What is measured is both of them on so many "
    "cores. Read the efficiency together with the share of the CPU that pgbench used, or choose "
    "smaller levels (--set cores=…): a level below <here_again:t> leaves pgbench processors of "
    "its own.",
    "サーバと pgbench が同じプロセッサを共有する。最大の水準が <here:t> 個のうち <cores:t> 個を使うため、pgbench 専用のプロセッサを全水準で確保できない。測定されるのは、両者を合わせた性能である。 効率は pgbench の CPU 使用率とあわせて読む。または水準を小さくする (--set cores=…)。最大が <here_again:t> 未満なら、pgbench に専用のプロセッサを割り当てる。",
    book=BOOK,
)
caution(
    "cores-hardware-threads",
    "From <cores:t> cores on, the server runs on second hardware threads of physical cores that "
    "it already has; such a thread adds less than a core. Expect a bend in the curve there; "
    "levels up to the number of physical cores avoid it.",
    "コア数 <cores:t> 以上では、サーバは使用中の物理コアの 2 つ目のハードウェアスレッドも使う。その効果は物理コア 1 個分より小さくなる。 そこで曲線が折れると考える。物理コア数までの水準にすれば避けられる。",
    book=BOOK,
)
caution(
    "cores-pgbench-beside",
    "pgbench runs on hardware threads whose physical cores the server uses: it slows them down. "
    "Choose a smaller largest level, so that a whole physical core is left for pgbench.",
    "pgbench は、サーバが使う物理コアの別のハードウェアスレッドで動く。サーバの処理が遅くなる。 最大の水準を小さくし、物理コアを pgbench に残す。",
    book=BOOK,
)
caution(
    "cores-nodes",
    "From <cores:t> cores on, the server spans several NUMA nodes, and part of its memory is "
    "remote. Expect a bend in the curve there; compare the levels within one node with each other.",
    "コア数 <cores:t> 以上では、サーバが複数の NUMA ノードにまたがり、メモリの一部が遠隔アクセスになる。 そこで曲線が折れると考える。比較は 1 ノード内の水準どうしで行う。",
    book=BOOK,
)
caution(
    "parameter-needs-writes",
    "<name:t> is varied, but no workload of this study changes data, so that it has next to "
    "nothing to act on. Choose a workload that writes: --script tpcb-like in ab, --set "
    "workloads=update in a study.",
    "<name:t> を変化させるが、データを変更する負荷がないため、効果はほとんど現れない。 更新する負荷を選ぶ (ab では --script tpcb-like、検証では --set workloads=update)。",
    book=BOOK,
)
caution(
    "parameter-needs-reads",
    "<name:t> is varied, but every trial begins with all data in shared buffers, so that it has "
    "next to nothing to act on. Use --set prewarm=off --set caches=drop and shared_buffers "
    "smaller than the data.",
    "<name:t> を変化させるが、各試行の開始時に全データが共有バッファに載っているため、効果はほとんど現れない。 --set prewarm=off --set caches=drop とし、shared_buffers をデータより小さくする。",
    book=BOOK,
)
caution(
    "huge-pages-try",
    "huge_pages=try is one of the levels, but no huge pages are free: the server falls back to "
    "ordinary ones. Reserve some with sysctl -w vm.nr_hugepages=…, or leave this level out.",
    "水準に huge_pages=try があるが、空いている huge page がないため、通常のページが使われる。 sysctl -w vm.nr_hugepages=… で確保するか、この水準を外す。",
    book=BOOK,
)
caution(
    "parameter-unsafe",
    "<name:t>=off: such a server can lose its data in a crash of the machine. Use the result to "
    "see what <name_again:t> costs, never as a setting for data that matter.",
    "<name:t>=off では、マシンの障害時にデータが失われるおそれがある。 <name_again:t> のコストを知るためだけに使い、失って困るデータには設定しない。",
    book=BOOK,
)


SEVERITIES = ("warning: ", "note: ", "警告: ", "注記: ")


def close(reader: Reader) -> None:
    """That none of the recorded cautions is passed over."""
    said = [
        part
        for part in reader.document.parts
        if part.part in {"Cautions", "注意事項"} and part.text.startswith(SEVERITIES)
    ]
    reader.about = "the cautions"
    recorded = len(reader.campaign.cautions)
    reader.that(len(said) >= recorded, f"{recorded} were recorded, {len(said)} are said")


caution(
    "builds-differ",
    "The servers are not built alike (<build"
    "s:t>). What is measured here is these b"
    "uilds: a difference between them may be"
    " the build's, and not the version's. Co"
    "mpare servers of one source of packages"
    ", or build both alike: teiten pg install "
    "VERSION VERSION --build",
    "サーバのビルド方法が揃っていない（<builds:t>）。ここで測定しているのはこれらのビルドであり、差はバージョンではなくビルドによるものかもしれない。 同じ配布元のサーバどうしを比べるか、両方を同じ方法でビルドする（teiten pg install バージョン バージョン --build）。",
    book=BOOK,
)
caution(
    "built-slow",
    "Built for size, or without optimisation"
    ": <builds:t>. What is measured here is "
    "these builds; servers of distributions "
    "are built with -O2, and may differ from"
    " one another in another way. For a conc"
    "lusion name servers of your distributio"
    "n (system:VERSION), or build them: teit"
    "en pg install VERSION VERSION --build",
    "サイズ優先、または最適化なしでビルドされたサーバである（<builds:t>）。ここで測定しているのはこれらのビルドである。ディストリビューションのサーバは -O2 でビルドされており、差の現れ方が異なることがある。 結論を得るには、ディストリビューションのサーバ（system:バージョン）を指定するか、ビルドする（teiten pg install バージョン バージョン --build）。",
    book=BOOK,
)
caution(
    "built-with-assertions",
    "Built with assertions: <builds:t>. What is measured here is these builds: asse"
    "rtions are checks for developers that take time. For a conclusion name servers"
    " without them (configure without --enable-cassert).",
    "アサーションを有効にしてビルドされたサーバである（<builds:t>）。ここで測定しているのはこれらのビルドである。アサーションは開発者向けの検査であり、時間がかかる。 結論を得るには、アサーションのないサーバ（--enable-cassert なし）を指定する。",
    book=BOOK,
)
caution(
    "read-before",
    "The servers <servers:t> have no pg_prewarm: their tables and B-tree indexes are read page by "
    "page instead before a trial. Indexes of other kinds are loaded by the warm-up alone. Nothing "
    "has to be done; servers that have contrib are loaded by pg_prewarm.",
    "サーバ <servers:t> には pg_prewarm がない。試行の前には、代わりにテーブルと B-tree インデックスを 1 ページずつ読み込む。"
    "ほかの種類のインデックスは、ウォームアップだけで読み込まれる。 対処は不要である。contrib のあるサーバでは pg_prewarm で読み込む。",
    book=BOOK,
)
caution(
    "servers-order",
    "<old:t> is taken as old and <new:t> as new, because the first server named is "
    "the old one; <old_again:t> is the newer version. Name the servers in the other"
    " order where that is not what is meant: ratios and verdicts say new against ol"
    "d.",
    "先に指定したサーバを旧とするため、<old:t> を旧、<new:t> を新として扱う。バージョンは <old_again:t> の方が新しくなっている。 意図と異なる場合は、サーバを逆の順に指定する。比と判定は、旧に対する新の値である。",
    book=BOOK,
)


MEASURED = {
    "cpu_other_share": (
        "In the trials that count, other programs used <least:p> to <most:p> of the CPU.",
        "有効な試行で、ほかのプログラムが使ったCPUは<least:p>〜<most:p>であった。",
    ),
    "pgbench_cpu_share": (
        "In the trials that count, the load generator used <least:p> to <most:p> of the CPU.",
        "有効な試行で、負荷生成側が使ったCPUは<least:p>〜<most:p>であった。",
    ),
    "cpu_steal_share": (
        "In the trials that count, <least:p> to <most:p> of the CPU was stolen.",
        "有効な試行で、奪われたCPUは<least:p>〜<most:p>であった。",
    ),
}


def _measured(metric: str, en: str, ja: str) -> None:
    @BOOK.says(en, ja)
    def check(reader: Reader, groups: Groups, _part: Part) -> None:
        """The least and the most of the trials that count."""
        found = [
            one.metrics[metric]
            for one in reader.campaign.counted.values()
            if one.metrics.get(metric, -1.0) >= 0
        ]
        reader.that(bool(found), "no trial tells")
        if found:
            reader.same(groups["least"], min(found) * 100, "the least")
            reader.same(groups["most"], max(found) * 100, "the most")


for _metric, (_en, _ja) in MEASURED.items():
    _measured(_metric, _en, _ja)


@BOOK.says(
    "The servers are not built alike (<builds:t>). What is measured here is these builds: a"
    " difference between them may be the build's, and not the version's.",
    "サーバのビルド方法が揃っていない（<builds:t>）。ここで測定しているのはこれらのビルドであり、差はバージョンではなくビルドによるものかもしれない。",
)
def builds_differ_on_top(reader: Reader, groups: Groups, _part: Part) -> None:
    _said_before(reader, "builds-differ", groups)


@BOOK.says(
    "Built for size, or without optimisation: <builds:t>. What is measured here is these builds;"
    " servers of distributions are built with -O2, and may differ from one another in another way.",
    "サイズ優先、または最適化なしでビルドされたサーバである（<builds:t>）。ここで測定しているのはこれらのビルドである。ディストリビューションのサーバは -O2 でビルドされており、差の現れ方が異なることがある。",
)
def built_slow_on_top(reader: Reader, groups: Groups, _part: Part) -> None:
    _said_before(reader, "built-slow", groups)


def _said_before(reader: Reader, code: str, groups: Groups) -> None:
    """A notice of the first screen is a caution's own words."""
    known = [dict(one.values) for one in reader.campaign.cautions if one.code == code]
    reader.that({"builds": groups["builds"]} in known, f"it was {known}")
