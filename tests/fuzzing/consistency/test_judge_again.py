"""Sets that are judged again with fewer checks come out as if they had been judged so at once."""

import pytest

from misstep.core.results.consistency import CHECKS, Check
from misstep.fuzzing.consistency.inquiry import judge_again
from misstep.fuzzing.consistency.making import Approach
from misstep.tool_host.host import ToolHost
from tests.fuzzing.agent_tests.scripted_roles import REFUSAL, Answer, Plan, always, fenced_in, plays
from tests.fuzzing.consistency.performing import examine
from tests.fuzzing.consistency.roads import GOOD, as_said, with_country
from tests.scripted import calling


def never(request: str, tools: list[str]) -> list[str]:
    return []


def seldom(request: str, tools: list[str]) -> list[object]:
    """Does not call the tool where the start has a country."""
    return [] if "Paris, France" in request else [*as_said(request, tools)]


def now_and_then(request: str, tools: list[str]) -> list[object]:
    """Breaks off in the middle: it never stops calling for one of the requests."""
    if "Paris, France to Lyon, France" in request:
        return [calling("road", start="a", end=str(number)) for number in range(9)]
    return [*as_said(request, tools)]


WRONG = always({"reason": "no", "score": 1})


def torn(prompt: str) -> object:
    """A judge who takes the other side as soon as the two expectations change places."""
    *_, first, second = fenced_in(prompt)
    return {"reason": "so so", "score": 1 if first < second else 9}


@pytest.mark.full(after=3)
@pytest.mark.parametrize(
    ("plan", "judge"),
    [
        (as_said, GOOD["judge"]),
        (as_said, always({"reason": "yes", "score": 9})),
        (as_said, always(REFUSAL)),
        (as_said, torn),
        (with_country, WRONG),
        (now_and_then, WRONG),
        (never, WRONG),
        (seldom, WRONG),
        (seldom, GOOD["judge"]),
    ],
)
def test_fewer_checks(roads: ToolHost, plan: Plan, judge: Answer) -> None:
    is_said = judge is WRONG
    reason = always({"declined": is_said, "quote": "by road from one city to another"})
    script = plays({**GOOD, "judge": judge, "declined": reason}, plan)
    whole, _ = examine(roads, script, Approach(checks=("judge",), variants=4))
    variants: list[tuple[Check, ...]] = [("inputs", "outputs"), ("judge",), CHECKS]
    for checks in variants:
        direct, _ = examine(roads, script, Approach(checks=checks, variants=4))
        again = judge_again(whole, checks)
        assert (again.verdict, again.evidence) == (direct.verdict, direct.evidence), checks
