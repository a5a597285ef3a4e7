"""What must hold of any two texts that somebody gives for plans."""

from __future__ import annotations

import json
import math

from teiten.analysis.explain.difference import difference
from teiten.analysis.explain.read import read_plan
from teiten.analysis.explain.text import PlanTextError
from teiten.analysis.model.explain import LEADER, ExplainedPlan, PlanDifference, PlanStatistics
from teiten.cli.printed.form import jsonable
from teiten.cli.printed.plan_difference import json_plan_difference
from teiten.cli.verbs.explain_diff import as_lines
from teiten.model.text import Language

SHARE = 1e-6
"""Of the largest figure: how far sums of figures of different sizes may be from one another."""
SIDES = ("a", "b")


def read(text: str) -> ExplainedPlan | None:
    """The plan, or None where the text is refused in words. Raises nothing else."""
    try:
        return read_plan(text)
    except PlanTextError as error:
        assert str(error) and error.hint
        return None


def check(old: ExplainedPlan, new: ExplainedPlan, language: Language) -> None:
    """Raises AssertionError where something does not hold."""
    compared = difference(old, new)
    for side in (compared.old, compared.new):
        check_accounts(side)
    check_matches(compared)
    text = "\n".join(as_lines(compared, SIDES, language))
    text.encode("utf-8")
    json.dumps(jsonable(json_plan_difference(compared, SIDES)), allow_nan=False)


def check_accounts(side: PlanStatistics) -> None:
    """Nothing is negative, and the parts add up."""
    own, total, root = side.accounts.nodes, side.accounts.total, side.plan.root
    size = max((abs(account.seconds) for account in own), default=0.0) + max(
        (sum(node.seconds.values()) for node in side.plan.nodes if node.seconds), default=0.0
    )
    slack = SHARE * size + 1e-9
    assert all(account.leader >= -slack and account.workers >= -slack for account in own)
    assert all(value >= 0 for account in own for value in account.buffers.values())
    assert abs(math.fsum(account.leader for account in own) - total.leader) <= slack * len(own)
    assert abs(math.fsum(account.workers for account in own) - total.workers) <= slack * len(own)
    assert total.leader >= (root.seconds or {}).get(LEADER, 0.0) - slack
    shares = [kind.share for kind in side.kinds if kind.share is not None]
    assert not shares or abs(sum(shares) - 1) < 1e-6


def check_matches(compared: PlanDifference) -> None:
    """Every node is in one pair, in one group, or new or gone."""
    for side, statistics in enumerate((compared.old, compared.new)):
        numbers = [pair[side] for pair in compared.pairs]
        numbers += [n for group in compared.groups for n in (group.old, group.new)[side]]
        numbers += [
            number
            for change in compared.changes
            if None in (change.old, change.new)
            for number in [(change.old, change.new)[side]]
            if number is not None
        ]
        assert sorted(numbers) == list(range(len(statistics.plan.nodes)))
