"""Requests: the plain ones stay as they are, the others say every rule that applies and no other."""

import re

import msgspec
import pytest
from msgspec.structs import replace

from misstep.core.case import World
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
from misstep.planning.language.lexicon import load_lexicon, load_topics
from misstep.planning.language.requests import (
    describe,
    describe_parameter,
    load_requests,
    tool_name,
    write_request,
    write_rules,
)

TOPIC = load_topics()["accountant"]
SENTENCES = ("The ledger review precedes the payroll run.", "The expense audit happens.")
TEMPLATES = list(load_requests().templates)
ORDER = Before("a1", "a2", 0)
PLAIN = World()


def rules_said(
    *constraints: Constraint, world: World = PLAIN, distractors: int = 0, own_tools: bool = False
) -> list[str]:
    """The names of the rules, found by their beginnings."""
    lines = write_rules(constraints, world, distractors, own_tools)
    known = {text.split("{")[0]: name for name, text in load_requests().rules.items()}
    return [next(name for start, name in known.items() if line.startswith(start)) for line in lines]


# The request.


@pytest.mark.parametrize("template", TEMPLATES)
def test_without_rules_every_tool_is_called_once(template: str) -> None:
    text = write_request(template, TOPIC, SENTENCES)
    assert "exactly once" in text
    assert " ".join(SENTENCES) in text.splitlines()


@pytest.mark.parametrize("template", TEMPLATES)
def test_rules_have_a_line_each(template: str) -> None:
    rules = write_rules([ORDER, Repeat("a1", 2)], World(), 1)
    lines = write_request(template, TOPIC, SENTENCES, rules).splitlines()
    assert " ".join(SENTENCES) in lines
    assert [line for line in lines if line.startswith("- ")] == [f"- {rule}" for rule in rules]
    assert lines.index(" ".join(SENTENCES)) < lines.index(f"- {rules[0]}")


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_request_with_rules_leaves_the_rules_to_say_how_often(template: str) -> None:
    ruled = load_requests().templates[template].ruled
    assert set(re.findall(r"\{(\w+)\}", ruled)) <= {"role", "job", "paragraph", "rules"}
    assert "\n\n{paragraph}\n\n" in ruled
    assert "\n{rules}" in ruled
    assert not re.search(r"once|argument|all the tasks|every t|in between", ruled)
    assert re.search(r"everything said above", ruled)
    text = write_request(template, TOPIC, SENTENCES, ("Be kind.",))
    assert "{" not in text
    assert ("the accountant" if template == "memo" else "an accountant") in text


def test_values_in_a_sentence_may_have_braces() -> None:
    sentence = 'For the search, the arguments are `{"a": "{rules}"}`.'
    assert sentence in write_request("brief", TOPIC, (sentence,), ("Be kind.",)).splitlines()


# Which rules apply.


def test_an_order_alone_needs_no_rules() -> None:
    assert write_rules([ORDER, Before("a2", "a3", 1)], World(), 0) == ()
    assert write_rules([], World(), 0) == ()


@pytest.mark.parametrize(
    ("constraint", "rules"),
    [
        (Adjacent("a1", "a2"), {"adjacent"}),
        (Place("a1", "first"), set()),
        (Limit("a1", 2), set()),
        (Repeat("a1", 2), {"repeat"}),
        (Choice(("a1", "a2")), {"choice", "optional"}),
        (Condition("a1", "a problem", "a2"), {"optional", "condition"}),
        (StandIn("a1", "a2"), {"stand_in"}),
        (Handover("a1", "a2", "release_key"), {"data", "refused"}),
        (Given("a1", {"x": 1}), {"arguments", "refused"}),
    ],
)
def test_each_kind_of_constraint_brings_its_rules(constraint: Constraint, rules: set[str]) -> None:
    takes_something = isinstance(constraint, Handover | Given)
    always = {"once"} if takes_something else {"once", "no_arguments"}
    assert set(rules_said(constraint)) == always | rules
    assert set(rules_said(ORDER, constraint)) == always | rules | {"order"}


@pytest.mark.parametrize(
    ("world", "rules"),
    [
        (World(day=(480, 1080), durations={"a1": 30}), {"time", "refused"}),
        (World(day=(480, 1080), durations={"a1": 30}, attempts=3), {"time", "over"}),
        (World(costs={"a1": 30}), {"budget", "no_arguments", "refused"}),
        (World(failures={"a1": 1}, retries=3), {"retry", "no_arguments"}),
        (World(announcements={"a1": "The B precedes the C."}), {"announce", "no_arguments"}),
        (World(attempts=2), {"over", "no_arguments"}),
    ],
)
def test_the_world_brings_its_rules(world: World, rules: set[str]) -> None:
    assert set(rules_said(ORDER, world=world)) == {"once", "order"} | rules


def test_tools_that_nobody_needs_bring_a_rule() -> None:
    assert rules_said(ORDER, distractors=2) == ["once", "order", "distractors", "no_arguments"]


def test_tools_of_the_user_s_own_bring_a_rule_even_where_nothing_is_given() -> None:
    assert rules_said(ORDER, own_tools=True) == ["once", "order", "refused", "arguments"]


PASSES = Handover("a1", "a2", "release_key")


@pytest.mark.parametrize(
    ("constraints", "again"),
    [
        ([PASSES, Repeat("a1", 2)], True),
        ([Repeat("a1", 3), PASSES], True),
        ([PASSES, Handover("a3", "a2", "head_count"), Repeat("a3", 2)], True),
        ([PASSES], False),
        ([Repeat("a1", 2)], False),
        ([PASSES, Repeat("a2", 2)], False),
        ([PASSES, Repeat("a3", 2), Limit("a1", 2), StandIn("a1", "a3")], False),
    ],
)
def test_which_value_is_passed_is_said_where_a_task_returns_it_again(
    constraints: list[Constraint], again: bool
) -> None:
    said = rules_said(*constraints)
    assert ("data_again" in said) == again
    if again:  # "such a value" is the one of the line before
        assert said[said.index("data_again") - 1] == "data"


TIMED = World(day=(480, 1080), durations={"a1": 30})


@pytest.mark.parametrize(
    ("constraint", "world", "own_tools"),
    [
        (PASSES, PLAIN, False),
        (Given("a1", {"x": 1}), PLAIN, False),
        (ORDER, PLAIN, True),
        (ORDER, TIMED, False),
    ],
)
def test_a_refused_call_is_a_mistake_where_arguments_can_be_wrong_and_nobody_starts_over(
    constraint: Constraint, world: World, own_tools: bool
) -> None:
    said = set(rules_said(constraint, world=world, own_tools=own_tools))
    again = set(rules_said(constraint, world=replace(world, attempts=2), own_tools=own_tools))
    assert said - again == {"refused"}
    assert again - said == {"over"}


def test_tasks_that_take_nothing_bring_no_rule_about_refused_calls() -> None:
    world = World(failures={"a1": 1}, retries=3, announcements={"a1": "…"})
    kinds = {Handover, Given}
    others = [constraint for constraint in EVERYTHING if type(constraint) not in kinds]
    assert "refused" not in rules_said(*others, world=world, distractors=1)
    priced = msgspec.structs.replace(world, costs={"a1": 30})
    assert "refused" in rules_said(*others, world=priced)  # a price can be asked in a wrong way


@pytest.mark.parametrize(
    ("constraints", "own_tools", "own_arguments"),
    [
        ([StandIn("a1", "a2"), Given("a3", {"x": 1})], False, True),
        ([StandIn("a1", "a2")], True, True),
        ([StandIn("a1", "a2")], False, False),
        ([StandIn("a1", "a2"), PASSES], False, False),
        ([Given("a1", {"x": 1})], False, False),
        ([ORDER], True, False),
    ],
)
def test_a_substitute_among_tools_of_the_user_s_own_has_arguments_of_its_own(
    constraints: list[Constraint], own_tools: bool, own_arguments: bool
) -> None:
    said = rules_said(*constraints, own_tools=own_tools)
    assert ("own_arguments" in said) == own_arguments
    if own_arguments:  # "the task that it replaces" is the one of the line before
        assert said[said.index("own_arguments") - 1] == "stand_in"


@pytest.mark.parametrize(
    ("constraint", "optional"),
    [
        (Choice(("a1", "a3")), True),
        (Condition("a1", "a problem", "a3"), True),
        (Repeat("a1", 2), False),
        (PASSES, False),
    ],
)
def test_what_may_be_left_out_brings_a_rule_and_a_substitute_does_not(
    constraint: Constraint, optional: bool
) -> None:
    assert ("optional" in rules_said(StandIn("a1", "a2"), constraint)) == optional


EVERYTHING: list[Constraint] = [
    ORDER,
    Before("a1", "a2", announced="a3"),
    Window("a1", "start", "after", 600),
    Handover("a1", "a2", "release_key"),
    Adjacent("a1", "a2"),
    Choice(("a1", "a2")),
    Condition("a1", "a problem", "a2"),
    Repeat("a1", 2),
    Spend(100),
    StandIn("a1", "a2"),
]
WORLD = World(
    day=(485, 1080),
    durations={"a1": 30},
    attempts=3,
    costs={"a1": 30},
    failures={"a1": 1},
    retries=3,
    announcements={"a3": "…"},
)


# Its tools are not the user's, some take an argument, and whoever is refused may start over.
UNSAID = {"arguments", "no_arguments", "own_arguments", "refused"}


def test_there_is_no_rule_that_never_applies() -> None:
    said = rules_said(*EVERYTHING, world=WORLD, distractors=1)
    assert len(set(said)) == len(said)
    unsaid = set(load_requests().rules) - set(said)
    assert unsaid == UNSAID
    own = rules_said(*EVERYTHING, world=replace(WORLD, attempts=1), distractors=1, own_tools=True)
    assert UNSAID - set(own) == {"no_arguments"}
    assert "no_arguments" in rules_said(ORDER, distractors=1)


def test_rules_are_filled_in() -> None:
    text = "\n".join(write_rules(EVERYTHING, WORLD, 1))
    assert "{" not in text
    assert "begins at 08:05 and ends at 18:00" in text
    assert "three attempts in all, so `start_over` may be called at most twice" in text
    assert "In that case repeat the call, at most three times." in text
    once = "\n".join(write_rules([ORDER], World(attempts=2, retries=1), 0))
    assert "two attempts in all, so `start_over` may be called at most once" in once
    assert "In that case repeat the call, at most once." in once


def test_every_rule_is_a_line_of_whole_sentences() -> None:
    for rule in (*write_rules(EVERYTHING, WORLD, 1), *(load_requests().rules[name] for name in UNSAID)):
        assert re.match(r"[A-Z]", rule)
        assert rule.endswith(".")
        assert not re.search(r"\n|  |\.\.|[{}]", rule)


def test_a_word_for_nothing_in_between_is_in_the_rule_about_it() -> None:
    """Whichever word the lexicon has for it, the rule says what it means."""
    rule = load_requests().rules["adjacent"]
    near = load_lexicon().adjacency
    linkers = [*near.prepositions.before, *near.prepositions.after]
    for phrase in [
        *(linker.text for linker in linkers),
        *(verb.one for verb in (*near.verbs.before, *near.verbs.after)),
    ]:
        signs = {"immediately", "directly", "right", "straight", "next"} & set(phrase.split())
        assert len(signs) == 1
        assert re.search(rf"\b{signs.pop()}\b", rule)


# Tools.


def test_descriptions_of_tools() -> None:
    assert describe("runway sweep") == "Carry out the runway sweep. Takes no arguments."
    assert describe("runway sweep", ()) == describe("runway sweep")
    assert describe("runway sweep", ["start_time"]) == "Carry out the runway sweep. Takes `start_time`."
    assert (
        describe("runway sweep", ["start_time", "release_key", "head_count"])
        == "Carry out the runway sweep. Takes `start_time`, `release_key` and `head_count`."
    )
    assert load_requests().tools["start_over"].endswith("Takes no arguments.")
    assert load_requests().tools["ask_price"].endswith("Takes `task`.")


def test_descriptions_of_parameters() -> None:
    assert "HH:MM" in describe_parameter("start_time")
    assert "tool" in describe_parameter("task")
    assert describe_parameter("release_key").startswith("The release key ")


def test_a_tool_s_name_is_that_of_its_activity() -> None:
    assert tool_name("petty cash count") == "petty_cash_count"
