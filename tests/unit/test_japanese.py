"""Japanese texts: one style, one word for one thing, one way of writing a number."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import teiten

pytestmark = pytest.mark.same

ROOT = Path(teiten.__file__).parent
NOT_READ = {"doctor.ja.toml", "layout.py", "typst.py"}
"""What ``teiten doctor`` says to the one who typed it, and where lines break."""
KANA = re.compile(r"[ぁ-ゖァ-ヶ]")
FORBIDDEN = {
    r"です(?!べ)|ます|ません|ました|でした|ください|でしょう|ましょう": "である調で書く",
    r"暖機": "ウォームアップ",
    r"(?<!ペア)対トランザクション": "ペアトランザクション",
    r"(?<!PGECons)(?<!本)(?<!ほかの)報告書|レポート": "本報告書、またはPGECons報告書",
    r"線形以上": "線形を上回る",
    r"乱された|繰り返される": "外乱を受けた、再実行される",
    r"いつ判定して": "逐次判定で有効な",
    r"レイテンシの裾": "テールレイテンシ",
    r"隣り合わせ": "1組として連続して",
    r"口座|窓口": "pgbench_accounts、pgbench_tellers",
    r"手元のマシン": "検証環境",
    r"ワークロード": "負荷",
    r"索引": "インデックス",
    r"試験": "試行",
    r"典型的": "代表的",
    r"倍速い": "処理時間は1/15.9、性能は15.9倍",
    r"(?<=[0-9}])(?: |\u00a0)[%\uff05]|\uff05": "2%",
    r"レイテンシ[がはも](?:速|遅)い": "レイテンシは短い・長い",
    r"(?<=[ぁ-ヶ一-龥}])[ \u00a0]?\(|\([^()]*[ぁ-ヶ一-龥{]|[$][（]": "（全角の括弧）",
    r"(?<=[ぁ-ヶ一-龥）}]);": "全角のセミコロン；",
    r"：": "半角のコロンと空白: ",
    r"～|(?<=\d)~(?=\d)": "範囲は〜",
    r"、(?:ns|µs|ms|秒|%|MiB|\{unit\})$": "単位は（ms）",
    r"(?<=[A-Za-z0-9}%)]) (?=[ぁ-ゖ])|(?<=[ぁ-ゖ、）」])(?<!込み)(?<!取り) (?=[A-Za-z0-9{(+-])": (
        "かなと英数字の間に空白を置かない"
    ),
    r"ユーザー|サーバー|パラメーター|コーディネーター|プロセッサー": "長音符を付けない",
}


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Every Japanese text, with its place."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    """Those of translation files, of studies and claims, and of the code."""
    for file in sorted(ROOT.rglob("*.toml")):
        if file.name not in NOT_READ:
            tree = tomllib.loads(file.read_text(encoding="utf-8"))
            for key, text in _of_tree(tree, japanese=file.name.endswith("ja.toml")):
                yield f"{file.relative_to(ROOT)}: {key}", text
    for file in sorted(ROOT.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if file.name not in NOT_READ and KANA.search(source):
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Constant) and KANA.search(str(node.value)):
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", str(node.value)


def _of_tree(tree: Any, key: str = "", *, japanese: bool) -> Iterator[tuple[str, str]]:
    """``japanese``: all texts of the tree are; else those below a key ``ja``."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            of_name = f"{key}.{name}" if key else name
            yield from _of_tree(value, of_name, japanese=japanese or name == "ja")
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            yield from _of_tree(value, f"{key}.{at}", japanese=japanese)
    elif japanese and isinstance(tree, str):
        yield key, tree


@pytest.mark.parametrize("form", FORBIDDEN, ids=FORBIDDEN.get)
def test_the_reports_have_one_style(form: str) -> None:
    found = [f"{place}: {text}" for place, text in texts() if re.search(form, text)]
    assert not found, FORBIDDEN[form]


def test_there_are_texts_to_read() -> None:
    assert len(texts()) > 2000
