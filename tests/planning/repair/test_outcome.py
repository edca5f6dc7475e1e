"""The plan is for what both readings say; what it does with the rest is told as it is."""

from collections import Counter
from random import Random

from misstep.core.constraint import Adjacent, Before, Choice, Limit, Place, Repeat
from misstep.planning.repair.outcome import examine
from misstep.planning.repair.reading import why_senseless
from tests.planning.repair.readings import every_plan, random_reading, reading

ABC = ("a", "b", "c")


def test_the_plan_meets_what_both_say() -> None:
    random, found = Random(50), Counter[str]()
    for _ in range(250):
        one, other = random_reading(random, most=4), random_reading(random, most=4)
        repair = examine(one, other)
        tools = [need.tool for need in repair.common.needs]
        said = [rule.constraint for rule in repair.common.rules]
        plans = set(every_plan(tools, said))
        assert (repair.plan in plans) if plans else (repair.plan is None)
        for dispute in repair.disputes:
            found[dispute.effect] += 1
            if dispute.effect in ("aside", "unplanned"):
                continue
            with_it = [*said, dispute.rule.constraint]
            stricter = set() if why_senseless(tools, with_it) else set(every_plan(tools, with_it))
            assert (dispute.effect == "kept") == (repair.plan in stricter)
            assert (dispute.effect == "contradicts") == (not stricter)
            assert dispute.effect != "changes" or dispute.instead in stricter
    assert min(found[effect] for effect in ("kept", "changes", "contradicts", "aside")) > 10


def test_agreement() -> None:
    repair = examine(reading(ABC, Before("c", "a")), reading(ABC, Before("c", "a")))
    assert repair.common.agrees
    assert (repair.plan, repair.conflicts, repair.disputes, repair.doubts) == (("c", "a", "b"), (), (), ())


def test_order_that_only_one_has_is_kept_to_if_nothing_speaks_against_it() -> None:
    repair = examine(reading(ABC, Before("c", "a")), reading(ABC))
    assert not repair.common.agrees
    assert repair.plan == ("c", "a", "b")
    assert [(dispute.reading, dispute.effect) for dispute in repair.disputes] == [(0, "kept")]


def test_two_that_exclude_each_other() -> None:
    repair = examine(reading(ABC, Before("c", "a")), reading(ABC, Before("a", "c")))
    assert repair.plan == ("c", "a", "b")
    assert [dispute.effect for dispute in repair.disputes] == ["kept", "changes"]
    assert repair.disputes[1].instead == ABC


def test_what_is_called_is_what_both_say() -> None:
    """Neither one more time nor one tool less, just because one reading would have it so."""
    repair = examine(reading(ABC, Repeat("a", 3)), reading(ABC, Choice(("b", "c"))))
    assert repair.plan == ABC
    assert [(dispute.effect, dispute.instead) for dispute in repair.disputes] == [
        ("changes", ("a", "a", "a", "b", "c")),
        ("changes", ("a", "b")),
    ]


def test_a_tool_that_only_one_needs_stays_out() -> None:
    one = reading(ABC, Before("c", "b"), Place("c", "first"))
    repair = examine(one, reading(("a", "b")))
    assert repair.plan == ("a", "b")
    assert [(doubt.reading, doubt.need.tool, doubt.instead) for doubt in repair.doubts] == [
        (0, "c", ("c", "a", "b"))
    ]
    assert {dispute.effect for dispute in repair.disputes} == {"aside"}


def test_a_contradiction_in_what_both_say() -> None:
    ring = (Before("a", "b"), Before("b", "c"), Before("c", "a"))
    repair = examine(reading(ABC, *ring, Limit("a", 2)), reading(ABC, *ring))
    assert repair.plan is None
    assert [conflict.reading for conflict in repair.conflicts] == [None]
    assert [rule.constraint for rule in repair.conflicts[0].rules] == [*ring]
    assert repair.conflicts[0].confirmed
    assert [dispute.effect for dispute in repair.disputes] == ["unplanned"]


def test_a_contradiction_in_one_of_them() -> None:
    one = reading(ABC, Before("a", "b"), Adjacent("b", "a"))
    repair = examine(one, reading(ABC, Before("a", "b")))
    assert repair.plan == ABC
    assert [conflict.reading for conflict in repair.conflicts] == [0]
    assert [dispute.effect for dispute in repair.disputes] == ["contradicts"]


def test_nothing_to_do() -> None:
    repair = examine(reading(()), reading(()))
    assert (repair.common.agrees, repair.conflicts, repair.plan) == (True, (), ())
