"""Needs of measuring that an attached server does not meet, and what would meet them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from teiten.factors.contract import Need
from teiten.model.attached import AttachedServer
from teiten.model.text import Bilingual
from teiten.plan.sites.contract import Lack

OWN_SERVERS = Bilingual(
    "Run it on a server that Teiten starts: --servers 18.",
    "Teitenが起動するサーバで実行する（例: --servers 18）。",
)
NEVER = {
    Need.START: Bilingual(
        "it needs a server that has just been started, and Teiten does not restart this one",
        "起動直後のサーバが必要であり、Teitenはこのサーバを再起動しない",
    ),
    Need.INITDB: Bilingual(
        "it needs a cluster of its own, by initdb", "initdbで作成した専用のクラスタが必要である"
    ),
    Need.MEMORY: Bilingual(
        "it needs a known amount of memory for server and page cache together, and Teiten cannot"
        " limit that of this server",
        "サーバとページキャッシュを合わせたメモリ量が既知である必要があり、"
        "Teitenはこのサーバのメモリを制限できない",
    ),
    Need.CACHES: Bilingual(
        "it needs an empty page cache, and Teiten does not drop that of this server's machine",
        "ページキャッシュが空である必要があり、Teitenはこのサーバのマシンのキャッシュを破棄しない",
    ),
    Need.CONFIGURATION: Bilingual(
        "it sets parameters of the whole server, and Teiten leaves those of this one alone",
        "サーバ全体のパラメータを変更する必要があり、Teitenはこのサーバの設定を変更しない",
    ),
}
"""Needs that no attached server meets, whatever role one has there."""


def lacks_of(level: str, server: AttachedServer) -> Mapping[Need, Lack]:
    """``level``: the server's name in the study."""
    lacks = {need: Lack(why, OWN_SERVERS) for need, why in NEVER.items()}
    if not server.can_checkpoint:
        lacks[Need.CHECKPOINT] = Lack(
            Bilingual(
                f"it needs CHECKPOINT, for which the role {server.role} has no right",
                f"CHECKPOINTの実行が必要であり、ロール{server.role}にはその権限がない",
            ),
            Bilingual(
                f"GRANT pg_checkpoint TO {server.role} on {level} (15 and later), or name a"
                " superuser in the address.",
                f"{level}でGRANT pg_checkpoint TO {server.role}（15以降）を実行するか、"
                "スーパーユーザを指定する。",
            ),
        )
    if not server.can_prewarm:
        lacks[Need.PREWARM] = _extension(level, server, "pg_prewarm")
    if not server.sees_buffers:
        lacks[Need.BUFFERS] = _extension(level, server, "pg_buffercache")
    return lacks


def _extension(level: str, server: AttachedServer, name: str) -> Lack:
    if server.superuser:
        return Lack(
            Bilingual(
                f"it needs {name}, which is not installed there",
                f"{name}が必要であり、そのサーバにはインストールされていない",
            ),
            Bilingual(
                f"Install the contrib modules of PostgreSQL on the machine of {level}"
                " (postgresql-contrib).",
                f"{level}のマシンにPostgreSQLのcontribモジュール"
                "（postgresql-contrib）をインストールする。",
            ),
        )
    return Lack(
        Bilingual(
            f"it needs {name}, which the role {server.role} may not create",
            f"{name}が必要であり、ロール{server.role}には作成する権限がない",
        ),
        Bilingual(
            f"Name a superuser of {level} in the address; the extension is made in Teiten's own"
            " database alone.",
            f"{level}のスーパーユーザを接続先に指定する。"
            "拡張はTeiten自身のデータベースだけに作成する。",
        ),
    )
