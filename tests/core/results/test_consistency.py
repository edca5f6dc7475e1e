"""Failed sets told apart by what differs in their evidence."""

import json

from misstep.core.outcome import Judgement
from misstep.core.results.consistency import Evidence, PromptSet, Side, group_sets
from misstep.core.results.trial import Judged, Trial, Use

Call = tuple[dict[str, object], str]


def trial(*calls: Call) -> Trial:
    uses = [Use("t", json.dumps(given), result, Judged("fine")) for given, result in calls]
    return Trial("please", tuple(uses))


def one(name: str, wrong: list[Call], right: list[Call] | None, verdict: Judgement = "failed") -> PromptSet:
    sides = [wrong] if right is None else [wrong, right]
    shown = [
        Side(number, "please", "", "\n".join(result for _, result in calls), "")
        for number, calls in enumerate(sides, 1)
    ]
    trials = tuple(trial(*calls) for calls in sides)
    return PromptSet(name, verdict, trials=trials, evidence=Evidence(*shown))


def groups(*sets: PromptSet) -> list[tuple[str, tuple[str, ...]]]:
    return [(group.differs, group.sets) for group in group_sets(sets)]


def test_sets_whose_evidence_differs_in_the_same_arguments_are_together() -> None:
    first = one("a", [({"city": "Rome", "day": 1}, "x")], [({"city": "Rom", "day": 1}, "y")])
    second = one("b", [({"city": "Oslo"}, "x")], [({"city": "oslo"}, "y")])
    third = one("c", [({"city": "Oslo"}, "x")], [({"city": "oslo", "day": 2}, "y")])
    assert groups(third, first, second) == [("arguments: city", ("a", "b")), ("arguments: city, day", ("c",))]


def test_numbers_and_quotes_do_not_tell_outputs_apart() -> None:
    given = {"city": "Oslo"}
    first = one("a", [(given, "at 10:15, 3 km")], [(given, "Error: 'Oslo'")])
    second = one("b", [(given, "Error: 'Rome'")], [(given, "at 11:30, 12.5 km")])
    ((differs, together),) = groups(first, second)
    assert differs == "output: Error: … / at …, … km"
    assert together == ("a", "b")


def test_calls_that_are_missing() -> None:
    call: Call = ({"city": "Oslo"}, "x")
    assert groups(one("a", [call], [])) == [("whether the tool is called", ("a",))]
    assert groups(one("a", [call, call], [call])) == [("the number of calls", ("a",))]


def test_a_request_without_equals() -> None:
    assert groups(one("a", [({}, "12 km")], None)) == [("output: … km", ("a",))]


def test_what_passed_is_in_no_group() -> None:
    call: Call = ({"city": "Oslo"}, "x")
    assert groups(one("a", [call], [], "passed"), one("b", [call], [], "inconclusive")) == []


def test_arguments_that_are_no_json_any_more() -> None:
    masked = Use("t", '{"key": ***}', "x", Judged("fine"))
    plain = Use("t", '{"key": 1}', "x", Judged("fine"))
    sides = Side(1, "", "", "x", ""), Side(2, "", "", "x", "")
    trials = Trial("one", (masked,)), Trial("two", (plain,))
    assert groups(PromptSet("a", "failed", trials=trials, evidence=Evidence(*sides)))[0][1] == ("a",)
