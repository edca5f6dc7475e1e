"""The reasons for a verdict: what they say of every kind of misstep, and that there always are some."""

from random import Random
from typing import Any

import msgspec
import pytest

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Given,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.core.outcome import Call, Transcript, Verdict
from misstep.planning.judging.check import check, replay
from misstep.planning.judging.verification import verify
from misstep.planning.language.reader import read
from misstep.planning.language.requests import write_rules
from tests.planning.judging.random_cases import random_case, random_transcript
from tests.planning.judging.semantics import broken_at, holds, lost

NAMES = {"a": "audit", "b": "backup", "c": "cleaning", "d": "delivery"}
DAY: dict[str, Any] = {"day": (480, 720), "durations": {"a": 60, "b": 90, "c": 30, "d": 15}}


def case(*constraints: Constraint, names: str = "abcd", **world: Any) -> Case:
    return Case(
        CASE_VERSION,
        "x",
        0,
        "t",
        "q",
        tuple(Action(name, NAMES[name], NAMES[name]) for name in names),
        constraints,
        sentences=("It is said.", "So it is."),
        world=World(**world),
        distractors=(Action("z", "zigzag", "zigzag"),),
    )


def checked(problem: Case, *calls: str | tuple[str, Any], **rest: Any) -> Verdict:
    made = [Call(call) if isinstance(call, str) else Call(*call) for call in calls]
    full = [msgspec.structs.replace(call, tool=NAMES.get(call.tool, call.tool)) for call in made]
    return check(problem, Transcript("x", tuple(full), **rest))


def at(action: str, time: Any) -> tuple[str, dict[str, Any]]:
    return action, {"start_time": time}


@pytest.mark.parametrize(
    ("constraint", "calls", "step", "reason"),
    [
        (Before("a", "b", 0), "bacd", 1, "Step 1, the backup, came too early: the audit has to be carried out before it."),
        (Adjacent("a", "b", 0), "acbd", 2, "Step 2, the cleaning, came right after the audit: the backup has to come there."),
        (Adjacent("a", "b", 0), "cbad", 2, "Step 2, the backup, came right after the cleaning: it has to come right after the audit."),
        (Adjacent("a", "b", 0), "bacd", 1, "Step 1, the backup, came first: it has to come right after the audit."),
        (Place("a", "first", 0), "bacd", 1, "Step 1, the backup, came first: the audit has to be the first of all."),
        (Place("a", "last", 0), "bacd", 3, "Step 3, the cleaning, came after the audit, which has to be the last of all."),
        (Limit("a", 1, 0), "bcad", 3, "Step 3, the audit, came too late: 2 tasks had been carried out before it, at most 1 may be."),
    ],
)  # fmt: skip
def test_order(constraint: Constraint, calls: str, step: int, reason: str) -> None:
    verdict = checked(case(constraint), *calls)
    assert (verdict.error, verdict.step, verdict.core) == ("order", step, (0,))
    assert verdict.explanation == f"{reason} Sentence 1 says so: “It is said.”"


def test_an_action_that_is_due_several_times_has_to_be_done_before_it() -> None:
    verdict = checked(case(Before("a", "b", 1), Repeat("a", 3), names="ab"), "a", "b", "a", "a")
    assert verdict.explanation == (
        "Step 2, the backup, came too early: the audit has to be carried out three times before it."
        " Sentence 2 says so: “So it is.”"
    )


def test_an_announced_order() -> None:
    problem = case(Before("c", "d", announced="a"), announcements={"a": "The cleaning comes first."})
    verdict = checked(problem, *"badc")
    assert verdict.explanation == (
        "Step 3, the delivery, came too early: the cleaning has to be carried out before it."
        " The result of the audit said so: “The cleaning comes first.”"
    )
    assert checked(problem, *"dabc").verdict == "passed"


@pytest.mark.parametrize(
    ("window", "time", "reason"),
    [
        (Window("a", "start", "after", 600), "09:30", "started at 09:30: it must not start before 10:00."),
        (Window("a", "start", "before", 540), "09:30", "started at 09:30: it must not start after 09:00."),
        (Window("a", "end", "before", 615), "09:30", "ended at 10:30: it must not end after 10:15."),
        (Window("a", "end", "after", 640), "09:30", "ended at 10:30: it must not end before 10:40."),
    ],
)
def test_times(window: Window, time: str, reason: str) -> None:
    problem = case(window, names="ad", **DAY)
    verdict = checked(problem, at("d", "08:00"), at("a", time))
    assert (verdict.error, verdict.step) == ("order", 2)
    assert verdict.explanation == f"Step 2, the audit, {reason}"


def test_a_choice() -> None:
    problem = case(Choice(("a", "b"), 0))
    verdict = checked(problem, *"cadb")
    assert verdict.explanation == (
        "Step 4, the backup, was carried out although the audit had been: only one of them may be."
        " Sentence 1 says so: “It is said.”"
    )
    lost = checked(problem, *"cd")
    assert (lost.error, lost.missing) == ("lost", ("a", "b"))
    assert (
        lost.explanation
        == "Neither the audit nor the backup was carried out. Sentence 1 says so: “It is said.”"
    )
    assert checked(case(Choice(("a", "b", "c"))), "d").explanation == (
        "Neither the audit, the backup nor the cleaning was carried out."
    )


@pytest.mark.parametrize(
    ("found", "calls", "reason"),
    [
        (False, "abcd", "Step 2, the backup, was not to be carried out: the audit reported no problem."),
        (True, "abcd", "Step 3, the cleaning, was not to be carried out: the audit reported a problem."),
        (True, "bad", "Step 1, the backup, came too early: whether it has to be carried out depends on what the audit reports."),
        (True, "ad", "The audit reported a problem, so the backup had to be carried out."),
        (False, "ad", "The audit reported no problem, so the cleaning had to be carried out."),
    ],
)  # fmt: skip
def test_a_condition(found: bool, calls: str, reason: str) -> None:
    problem = case(Condition("a", "a problem", "b", "c", 0), findings={"a": found})
    assert checked(problem, *calls).explanation == f"{reason} Sentence 1 says so: “It is said.”"


def test_a_finding_of_somebody_elses() -> None:
    problem = case(Condition("a", "a ghost", "b"), names="ab", findings={"a": False})
    assert checked(problem, *"ab").explanation.endswith("the audit reported nothing of the kind.")


def test_repetitions() -> None:
    problem = case(Repeat("a", 2, 0), names="ab")
    assert checked(problem, *"ab").explanation == (
        "The audit was carried out once, not twice. Sentence 1 says so: “It is said.”"
    )
    assert checked(problem, *"b").explanation == "The audit was never carried out."
    again = checked(problem, *"aaba")
    assert (again.error, again.step, again.violated) == ("act", 4, (0,))
    assert again.explanation == (
        "Step 4 is not a valid call: 'audit' was called again, and it may be called no more than twice."
        " Sentence 1 says so: “It is said.”"
    )


def test_money() -> None:
    problem = case(Spend(50, 1), costs={"a": 30, "b": 15, "c": 10})
    assert checked(problem, *"abcd").explanation == (
        "Step 3, the cleaning, brought the costs to 55 euros: no more than 50 euros may be spent."
        " Sentence 2 says so: “So it is.”"
    )


def test_what_would_have_been_enough_is_said() -> None:
    costs = {"a": 30, "b": 15, "c": 10, "d": 0}
    problem = case(Choice(("a", "b"), 0), Spend(35, 1), costs=costs)
    assert "may be spent, and 25 euros would have been enough." in checked(problem, *"acd").explanation


def test_stand_ins() -> None:
    stand_in = StandIn("a", "b", 0)
    assert checked(case(stand_in), *"abcd").explanation == (
        "Step 2, the backup, was carried out although the audit had not turned out to be out of service."
        " Sentence 1 says so: “It is said.”"
    )
    broken = case(stand_in, Before("c", "a"), broken=("a",))
    assert checked(broken, *"acd").explanation == (
        "The audit is out of service, so the backup had to take its place. Sentence 1 says so: “It is said.”"
    )
    assert checked(broken, *"abcd").explanation == (
        "Step 2, the backup in the place of the audit, came too early: the cleaning has to be carried out before it."
    )
    assert checked(broken, *"acbbd").explanation == (
        "Step 4 is not a valid call: 'backup' was called again, and it had been called often enough."
    )


def test_who_comes_after_two_tasks_still_comes_after_the_one_that_is_not_left_out() -> None:
    """As the judge has it, and as the request says: what is said about the other one drops out, no more."""
    (reading,) = read("The cleaning must come after the audit and the backup.", NAMES.values())
    ids = {name: action for action, name in NAMES.items()}
    after = [Before(ids[pair.first], ids[pair.then], 0) for pair in reading.relations]
    assert after == [Before("a", "c", 0), Before("b", "c", 0)]
    problem = case(*after, Choice(("a", "d"), 1))
    assert checked(problem, *"dbc").verdict == "passed"
    assert checked(problem, *"bdc").verdict == "passed"
    verdict = checked(problem, *"dcb")
    assert (verdict.error, verdict.step, verdict.core) == ("order", 2, (1,))
    (rule,) = [rule for rule in write_rules(problem.constraints, problem.world, 1) if "left out" in rule]
    assert "can be ignored" not in rule
    assert rule.endswith(
        "a task that has to come after two others, one of which is left out,"
        " still has to come after the one that is carried out."
    )


@pytest.mark.parametrize(
    ("constraints", "calls", "step", "violated", "nearest"),
    [
        ((), "bcd", 1, (0,), "bcd"),  # instead of the audit, which was never called
        ((), "cbd", 2, (0,), "cbd"),
        ((), "cbad", 2, (0,), "cbd"),  # whose tool was called too late
        ((), "cbabd", 2, (0,), "cbd"),  # and then in its place once more
        ((Before("a", "c"),), "bcd", 1, (0, 1), "bcd"),
        ((Before("a", "c"),), "cbd", 1, (0, 1), "bcd"),
        ((Choice(("a", "c")),), "bd", 1, (0,), "bd"),
        ((Repeat("a", 2),), "babcd", 1, (0,), "bbcd"),
    ],
)
def test_a_stand_in_that_comes_too_early(
    constraints: tuple[Constraint, ...], calls: str, step: int, violated: tuple[int, ...], nearest: str
) -> None:
    problem = case(StandIn("a", "b", 0), *constraints, broken=("a",))
    verdict = checked(problem, *calls)
    assert (verdict.error, verdict.step, verdict.violated, verdict.missing) == ("order", step, violated, ())
    assert "".join(verdict.nearest) == nearest
    if calls[step - 1] == "b":
        assert verdict.core == (0,)
        assert verdict.explanation.startswith(
            f"Step {step}, the backup, was carried out although the audit had not turned out to be out of"
            " service. Sentence 1 says so: “It is said.”"
        )
    history = replay(problem, [Call(NAMES[name]) for name in calls])
    assert lost(problem, history) == ()
    assert not holds(problem.constraints[0], history, problem)
    assert broken_at(problem.constraints[0], history, problem) == 1 + calls.index("b")
    verify(problem, Transcript("x", tuple(Call(NAMES[name]) for name in calls)), verdict)


def test_a_stand_in_that_nothing_calls_for_is_what_went_wrong() -> None:
    """Not that the task itself is missing, which was taken to be out of service."""
    verdict = checked(case(StandIn("a", "b", 0)), *"bcd")
    assert (verdict.error, verdict.step, verdict.core, verdict.missing) == ("order", 1, (0,), ())
    assert verdict.nearest == ("a", "c", "d")
    due_twice = checked(case(StandIn("a", "b", 0), Repeat("a", 2), broken=("a",)), *"bcd")
    assert (due_twice.error, due_twice.missing) == ("lost", ("a",))


@pytest.mark.parametrize(
    ("time", "reason"),
    [
        ("noon", 'was to start at "noon", which is not a time of day.'),
        ("x" * 99, f'was to start at "{"x" * 79}…, which is not a time of day.'),
        ("07:30", "was to last from 07:30 to 09:00: the day begins at 08:00 and ends at 12:00."),
        ("11:00", "was to last from 11:00 to 12:30: the day begins at 08:00 and ends at 12:00."),
        ("08:30", "was to start at 08:30: the audit ended at 09:00 only."),
    ],
)
def test_times_that_can_not_be(time: str, reason: str) -> None:
    verdict = checked(case(names="ab", **DAY), at("a", "08:00"), at("b", time))
    assert (verdict.error, verdict.step, verdict.missing, verdict.core) == ("parameter", 2, (), ())
    assert verdict.explanation == f"Step 2, the backup, {reason}"


def test_values() -> None:
    values = {"a": {"release_key": ("K1", "K2")}, "c": {"head_count": (3,)}}
    handed = (Handover("a", "b", "release_key", 1), Handover("c", "d", "head_count"))
    problem = case(*handed, Repeat("a", 2), values=values)

    def said(passed: Any) -> Verdict:
        return checked(problem, "a", "a", "c", ("b", {"release_key": passed}), ("d", {"head_count": 3}))

    stale = said("K1")
    assert (stale.error, stale.step, stale.core, stale.violated) == ("parameter", 4, (0,), (0,))
    assert stale.explanation == (
        'Step 4, the backup, was given "K1" as its release key, which is out of date:'
        " only what the audit returned last in this attempt counts. Sentence 2 says so: “So it is.”"
    )
    assert said("no\nsuch").explanation.startswith(
        'Step 4, the backup, was given "no\\nsuch" as its release key, which is not what the audit returned.'
    )
    swapped = msgspec.structs.replace(problem, world=World(values={**values, "c": {"head_count": ("K3",)}}))
    mixed_up = ("b", {"release_key": "K3"})
    assert checked(swapped, "a", "a", "c", mixed_up, ("d", {"head_count": "K3"})).explanation.startswith(
        'Step 4, the backup, was given "K3" as its release key, which another task returned:'
        " it needs the one that the audit returns."
    )


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"city": "Rome"}, 'was called with city = "Rome": it has to be "Paris".'),
        ({}, 'was called without city: it has to be "Paris".'),
        (
            {"city": nested(100_000)},
            'was called with city = something of the type list: it has to be "Paris".',
        ),
        ({"city": "\ud800"}, 'was called with city = "?": it has to be "Paris".'),
        ({"city": 10**5000}, 'was called with city = something of the type int: it has to be "Paris".'),
    ],
    ids=range(5),
)
def test_arguments_that_were_told(arguments: Any, reason: str) -> None:
    own = Action("a", "audit", "audit", parameters={"type": "object"})
    problem = msgspec.structs.replace(case(Given("a", {"city": "Paris"}, 0), names="a"), actions=(own,))
    verdict = checked(problem, ("a", arguments))
    assert (verdict.error, verdict.step, verdict.core) == ("parameter", 1, (0,))
    assert verdict.explanation == f"Step 1, the audit, {reason} Sentence 1 says so: “It is said.”"
    assert msgspec.json.encode(verdict)


@pytest.mark.parametrize("turned", [False, True])
def test_of_several_wrong_values_the_first_is_explained(turned: bool) -> None:
    own = Action("b", "backup", "backup", parameters={"type": "object"})
    said = (Given("b", {"city": "Paris"}, 0), Handover("a", "b", "code", 1))
    problem = case(*(reversed(said) if turned else said), names="ab", values={"a": {"code": ("K1",)}})
    problem = msgspec.structs.replace(problem, actions=(problem.actions[0], own))
    both = checked(problem, "a", ("b", {"city": "Rome", "code": "K9"}))
    assert (both.error, both.step, both.violated, both.core) == ("parameter", 2, (0, 1), (int(not turned),))
    assert both.explanation == (
        'Step 2, the backup, was given "K9" as its code, which is not what the audit returned.'
        " Sentence 2 says so: “So it is.”"
    )
    one = checked(problem, "a", ("b", {"city": "Rome", "code": "K1"}))
    assert (one.violated, one.core) == ((int(turned),), (int(turned),))
    assert 'was called with city = "Rome": it has to be "Paris".' in one.explanation


def test_a_stand_in_with_arguments_of_its_own_is_handed_values_too() -> None:
    own = Action("c", "cleaning", "cleaning", parameters={"type": "object"})
    said = (Given("c", {"city": "Paris"}), StandIn("b", "c"), Handover("a", "b", "code"))
    problem = case(*said, names="abc", values={"a": {"code": ("K1",)}}, broken=("b",))
    problem = msgspec.structs.replace(problem, actions=(*problem.actions[:2], own))
    verdict = checked(problem, "a", ("b", {"code": "K1"}), ("c", {"city": "Rome", "code": "K9"}))
    assert (verdict.error, verdict.violated, verdict.core) == ("parameter", (0, 2), (2,))
    assert verdict.explanation.startswith('Step 3, the cleaning, was given "K9" as its code')


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (("a", {}), "'audit' was called with arguments that do not fit: 'start_time' is missing"),
        (("a", {"start_time": 9}), "'audit' was called with arguments that do not fit: 'start_time' has to be a string"),
        (
            ("a", {"start_time": "09:00", "\ud800": 1}),
            "'audit' was called with arguments that do not fit: there is no parameter '\\ud800'",
        ),
        (("a", [1]), "'audit' was called with arguments that do not fit: they must be a JSON object"),
        (("start_over", 1), "'start_over' was called with arguments that it does not take"),
        (at("zigzag", "08:00"), "'zigzag' was called, and no task asks for it"),
        (at("nothing", "08:00"), "there is no tool 'nothing'"),
    ],
)  # fmt: skip
def test_calls_that_should_not_have_been_made(call: tuple[str, Any], reason: str) -> None:
    verdict = checked(case(names="a", attempts=2, **DAY), call)
    assert (verdict.error, verdict.step) == ("act", 1)
    assert verdict.explanation == f"Step 1 is not a valid call: {reason}."
    assert msgspec.json.encode(verdict)


def test_no_more_attempts() -> None:
    verdict = checked(case(names="a", attempts=2), "start_over", "a", "start_over")
    assert verdict.explanation == "Step 3 is not a valid call: 'start_over' was called in the last attempt."


def test_only_the_last_attempt_counts() -> None:
    problem = case(Before("a", "b"), names="ab", attempts=3)
    assert checked(problem, "b", "nonsense", "start_over", "a", "b").verdict == "passed"
    verdict = checked(problem, "a", "b", "start_over", "b", "a")
    assert (verdict.error, verdict.step) == ("order", 4)
    assert checked(problem, "a", "b", "start_over").missing == ("a", "b")


def test_a_limit_is_reached() -> None:
    problem = case(Choice(("a", "b")), Repeat("c", 2))
    verdict = checked(problem, "c", ended="timeout")
    assert verdict.explanation == "The limit on time was reached with 1 of 4 actions carried out."


def test_there_is_always_a_reason() -> None:
    random = Random(8)
    for _ in range(600):
        drawn = random_case(random)
        transcript = random_transcript(drawn, random)
        verdict = check(drawn, transcript)
        assert bool(verdict.explanation) == (verdict.verdict != "passed")
        assert verdict.explanation[:1].isupper() == bool(verdict.explanation)
        assert "  " not in verdict.explanation
        assert set(verdict.nearest) <= {action.id for action in drawn.actions}
