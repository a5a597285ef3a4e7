"""Japanese texts: one style, one word for one thing, one way of writing a number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import teiten

ROOT = Path(teiten.__file__).parent
OF_DIALOGUE = {"doctor.ja.toml"}
"""What ``teiten doctor`` says to the one who typed it."""
FORBIDDEN = {
    r"です(?!べ)|ます|ません|ました|でした|ください|でしょう|ましょう": "である調で書く",
    r"暖機": "ウォームアップ",
    r"(?<!ペア)対トランザクション": "ペアトランザクション",
    r"(?<!PGECons)(?<!本)(?<!ほかの)報告書": "本報告書、またはPGECons報告書",
    r"線形以上": "線形を上回る",
    r"乱された": "外乱を受けた",
    r"いつ判定して": "逐次判定で有効な",
    r"レイテンシの裾": "テールレイテンシ",
    r"隣り合わせ": "1組として連続して",
    r"口座|窓口": "pgbench_accounts、pgbench_tellers",
    r"手元のマシン": "検証環境",
    r"ワークロード": "負荷",
    r"索引": "インデックス",
    r"(?<=[0-9}])(?: |\u00a0|\\u00a0)[%\uff05]|\uff05": "2%",
    r"レイテンシ[がはも](?:速|遅)い": "レイテンシは短い・長い",
    r"(?<=[ぁ-ヶ一-龥}])[ \u00a0]?\(|\([^()]*[ぁ-ヶ一-龥{]": "（全角の括弧）",
    r"(?<=[ぁ-ヶ一-龥）}]);": "全角のセミコロン；",
    r"ユーザー|サーバー|パラメーター|コーディネーター|プロセッサー": "長音符を付けない",
}


def texts() -> Iterator[tuple[str, str]]:
    for file in sorted(ROOT.rglob("*ja.toml")):
        if file.name in OF_DIALOGUE:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.startswith("#"):
                yield f"{file.relative_to(ROOT)}:{number}", line


@pytest.mark.parametrize("form", FORBIDDEN, ids=FORBIDDEN.get)
def test_the_reports_have_one_style(form: str) -> None:
    found = [f"{place}: {line}" for place, line in texts() if re.search(form, line)]
    assert not found, FORBIDDEN[form]


def test_there_are_texts_to_read() -> None:
    assert len(list(texts())) > 1000
