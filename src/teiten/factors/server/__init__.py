"""The servers that a study runs on; most studies contrast them."""

from __future__ import annotations

from typing import Any, ClassVar

from teiten.factors.contract import FactorRule
from teiten.model.attached import holds_address
from teiten.study.values import reference


class ServerFactor(FactorRule):
    """``17``, ``18.4``, ``system:15``, a path, an alias."""

    name = "server"
    rank = 0
    of_server = False
    flag: ClassVar[str] = "--servers 17,18"
    missing: ClassVar[tuple[str, str]] = (
        "names no server",
        'add for example server = ["17", "18"], or --servers',
    )

    def level(self, value: Any) -> str:
        if holds_address(str(value)):
            raise ValueError(
                "give the address a name: --servers NAME=postgresql://…, or an alias under"
                " [servers]"
            )
        return reference(value)


FACTOR = ServerFactor()
