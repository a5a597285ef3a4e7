"""Plans of real servers, changed at random: values, keys, subtrees, and the text itself."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from teiten.analysis.explain.text import merged

Node = dict[str, Any]

VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 0.0005, 3, 1e6, 1e30, 1e99, 1e101, 1e305, 10**400, float("inf"), float("nan")),
    *(None, True, "", "1", "x", "\ud800", [], {}, [[]]),
    *("(SubPlan 1)", "(a = $0)", "(InitPlan 1).col1"),
)
KINDS = (
    *("Seq Scan", "Append", "Merge Append", "Gather", "Gather Merge", "CTE Scan", "Hash Join"),
    *("ModifyTable", "Result", "Bitmap Heap Scan", "Bitmap Index Scan", "Aggregate", "Limit", "?"),
)
RELATIONSHIPS = ("Outer", "Inner", "Member", "Subquery", "InitPlan", "SubPlan", "")
SUBPLANS = ("CTE a", "CTE x", "InitPlan 1 (returns $0)", "SubPlan 1", "SubPlan 2", "InitPlan 3")
NAMES = ("s", "s_1", "s_2", "sales", "sales_1", "a", "x", "monthly", "")
NAMED = ("Alias", "Relation Name", "CTE Name", "Index Name")
CUTS = ("{", "}", '"', ",", "\n", " +\n", "|", "\x00", "NaN", "\\ud800", "1e999", "│", "(1 row)")


def mutated(text: str, donor: str, random: Random) -> str:
    """A text like ``text``; parts may come from ``donor``. Both are plans as EXPLAIN gave them."""
    document = json.loads(text, object_pairs_hook=merged)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        mutation = random.choice(MUTATIONS)
        mutation(document, donor, random)
    changed = json.dumps(document, indent=random.choice((None, 1, 2)))
    if random.random() < 0.15:
        changed = _damaged(changed, random)
    if random.random() < 0.1:
        changed = framed(changed, random)
    return changed


def _damaged(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    end = min(len(text), at + random.choice((0, 0, 1, 5, 500)))
    if random.random() < 0.2:
        return text[:at]
    return text[:at] + random.choice(CUTS) + text[end:]


def framed(text: str, random: Random) -> str:
    """As psql prints it, more or less."""
    left, mark, right = random.choice(
        ((" ", "+", ""), ("| ", "+", "|"), ("│ ", "↵", "│"), ("", "+", ""), ("x ", ".", ""))
    )
    lines = [f"{left}{line:<60}{mark}{right}" for line in text.split("\n")]
    return "\n".join(["QUERY PLAN", "-" * 62, *lines, "(1 row)"])


def _nodes(value: Any) -> Iterator[Node]:
    open_ends = [value]
    while open_ends:
        part = open_ends.pop()
        if isinstance(part, dict):
            if "Node Type" in part:
                yield part
            open_ends += part.values()
        elif isinstance(part, list):
            open_ends += part


def _any_node(document: Any, random: Random) -> Node:
    nodes = list(_nodes(document))
    return random.choice(nodes) if nodes else {}


def _value(document: Any, _donor: str, random: Random) -> None:
    node = _any_node(document, random)
    if node:
        node[random.choice(list(node))] = copy.deepcopy(random.choice(VALUES))


def _scaled(document: Any, _donor: str, random: Random) -> None:
    node = _any_node(document, random)
    for key in random.sample(list(node), min(3, len(node))):
        if isinstance(node[key], int | float) and not isinstance(node[key], bool):
            factor = random.choice((0, 0.1, 0.999, 1.001, 2, 100))
            node[key] = type(node[key])(min(1e50, abs(node[key])) * factor)


def _removed(document: Any, _donor: str, random: Random) -> None:
    node = _any_node(document, random)
    if node:
        del node[random.choice(list(node))]


def _labelled(document: Any, _donor: str, random: Random) -> None:
    node = _any_node(document, random)
    choice = random.randrange(4)
    if choice == 0:
        node["Node Type"] = random.choice(KINDS)
    elif choice == 1:
        node["Parent Relationship"] = random.choice(RELATIONSHIPS)
    elif choice == 2:
        node["Subplan Name"] = random.choice(SUBPLANS)
        node["Parent Relationship"] = random.choice(("InitPlan", "SubPlan"))
    else:
        node[random.choice(NAMED)] = random.choice(NAMES)


def _moved(document: Any, donor: str, random: Random) -> None:
    """A subtree, of this plan or of the donor, becomes a child of some node."""
    source = json.loads(donor, object_pairs_hook=merged) if random.random() < 0.5 else document
    part = copy.deepcopy(_any_node(source, random))
    target = _any_node(document, random)
    children = target.setdefault("Plans", [])
    if isinstance(children, list) and part:
        children.insert(random.randrange(len(children) + 1), part)


def _shuffled(document: Any, _donor: str, random: Random) -> None:
    children = _any_node(document, random).get("Plans")
    if isinstance(children, list):
        random.shuffle(children)
        if children and random.random() < 0.3:
            children.pop()


def _workers(document: Any, _donor: str, random: Random) -> None:
    node = _any_node(document, random)
    node["Workers"] = [
        {
            "Worker Number": random.randrange(3),
            "Actual Loops": random.randrange(4),
            "Actual Total Time": round(random.expovariate(0.1), 3),
        }
        for _ in range(random.randrange(4))
    ]


MUTATIONS: tuple[Callable[[Any, str, Random], None], ...] = (
    *(_value, _scaled, _scaled, _removed, _labelled, _labelled, _moved, _shuffled, _workers),
)
