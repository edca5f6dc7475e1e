"""Constants that parameters are compared with are kept; what came out of arguments is not."""

import json
from typing import Any

import msgspec

from misstep.core.agent import Tool
from misstep.core.results.fuzzing import Comparisons, ToolReport
from misstep.core.results.trial import Ruling
from misstep.core.tool import Described, Invocation, Observation, Path
from misstep.fuzzing.comparisons import ENOUGH, MOST, MOST_COLLECTIONS, SeenComparisons

SCHEMA = {"properties": {"unit": {"type": "string", "default": "meter"}, "rows": {"items": {}}}}
TOOLS = {"act": Described(Tool("act", "", SCHEMA), "function")}
UNIT: Path = ("unit",)


def seen(operand: Any, operation: str = "==", path: Path = UNIT, via: tuple[str, ...] = ()) -> Observation:
    return Observation(path, operation, json.dumps(operand), False, tuple((name, "[]") for name in via))


def add(kept: SeenComparisons, unit: Any, *observations: Observation, ruling: Ruling = "fine") -> None:
    kept.add(Invocation("act", json.dumps({"unit": unit})), observations, ruling)


def test_constants_are_kept_with_what_came_of_them() -> None:
    kept = SeenComparisons(TOOLS)
    add(kept, "a", seen("mile"), seen("yard", "!="), seen(["ell", "inch"], "key of"), ruling="refused")
    add(kept, "mile")
    add(kept, "ell", ruling="crash")
    add(kept, "gone", ruling="environment")
    assert list(kept) == [
        Comparisons(
            "act",
            ("unit",),
            ("mile", "yard"),
            (("ell", "inch"),),
            ("mile",),
            ("ell",),
            (),
            others_refused=("a",),
        )
    ]


def test_what_was_given_before_is_no_constant_unless_the_schema_has_it() -> None:
    kept = SeenComparisons(TOOLS)
    add(kept, " Mile")
    add(kept, "meter")
    add(kept, "a", seen(["mile"], "key of"), seen("a"), seen("meter"))
    (found,) = kept
    assert (found.alone, found.collections, found.taken) == (("meter",), (), ("meter",))


def test_what_was_seen_first_may_be_given_later() -> None:
    kept = SeenComparisons(TOOLS)
    for unit in ("a", "mile", "yard"):
        add(kept, unit, seen(["mile", "yard"], "key of"))
    assert [each.collections for each in kept] == [(("mile", "yard"),)]


def test_what_keeps_changing_is_no_constant() -> None:
    kept = SeenComparisons(TOOLS)
    for number in range(MOST_COLLECTIONS + 1):
        add(kept, "a", seen([f"note-{each}" for each in range(number + 1)], "key of"))
    assert list(kept) == []


def test_a_value_in_another_case_is_the_same_choice() -> None:
    kept = SeenComparisons(TOOLS)
    add(kept, "a", seen("mile", via=("strip", "lower")), ruling="refused")
    add(kept, "MILE")
    add(kept, "b", seen("other", via=("replace",)), ruling="refused")
    (found,) = kept
    assert (found.alone, found.others_taken, found.more) == (("mile",), (), True)


def test_places_in_lists_do_not_matter() -> None:
    kept = SeenComparisons({"act": Described(Tool("act", "", {"a": {"rows": {}, "kind": {}}}), "function")})
    for place in range(2):
        arguments = {"rows": [{"kind": "a"}] * 2}
        sight = seen(f"kind {place}", path=("rows", place, "kind"))
        kept.add(Invocation("act", json.dumps(arguments)), [sight], "fine")
    assert [(each.path, each.alone) for each in kept] == [(("rows", "kind"), ("kind 0", "kind 1"))]


def test_anything_may_be_said_and_given() -> None:
    kept = SeenComparisons(TOOLS)
    odd = ["", None, True, 1.5, 10**50, "x" * 200, "\ud800", ["a"], {"a": 1}]
    add(kept, "\ud800", *map(seen, odd), seen(odd, "key of"), Observation(UNIT, "==", "{"), ruling="crash")
    add(kept, 10**400, seen("mile"), seen("mile", path=("\ud800",)))
    kept.add(Invocation("act", "[" * 9_000), [], "refused")
    kept.add(Invocation("act", json.dumps({"unit": "x" * 20_000})), [seen("late")], "fine")
    report = ToolReport("act", 4, compared=tuple(kept))
    assert [each.alone for each in report.compared] == [("mile",)]
    assert msgspec.json.decode(msgspec.json.encode(report), type=ToolReport) == report


def test_there_is_an_end_to_it() -> None:
    kept = SeenComparisons(TOOLS)
    add(kept, "a", *(seen(f"unit {number}") for number in range(2 * MOST)))
    for _ in range(ENOUGH):
        add(kept, "b")
    add(kept, "c", seen("late"))
    (found,) = kept
    assert (len(found.alone), found.others_taken) == (MOST, ("a", "b"))


def test_an_earlier_sitting_goes_on() -> None:
    first = SeenComparisons(TOOLS)
    add(first, "a", seen("mile"), seen("a", "split"), ruling="refused")
    second = SeenComparisons(TOOLS, first)
    add(second, "mile", seen("yard"))
    assert list(second) == [
        Comparisons("act", ("unit",), ("mile", "yard"), taken=("mile",), others_refused=("a",), more=True)
    ]


def test_reports_of_old_still_can_be_read() -> None:
    assert msgspec.json.decode(b'{"name": "act", "calls": 3}', type=ToolReport).compared == ()
