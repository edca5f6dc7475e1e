"""Requests: the plain ones stay as they are, the others say every rule that applies and no other."""

import re

import pytest

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
from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.language.requests import (
    describe,
    describe_parameter,
    describe_with,
    load_requests,
    report_success,
    tool_name,
    write_request,
    write_rules,
)
from misstep.planning.language.topics import load_topics

TOPIC = load_topics()["accountant"]
SENTENCES = ("The ledger review precedes the payroll run.", "The expense audit happens.")
TEMPLATES = list(load_requests().templates)
ORDER = Before("a1", "a2", 0)
PLAIN = World()


def rules_said(*constraints: Constraint, world: World = PLAIN, distractors: int = 0) -> list[str]:
    """The names of the rules, found by their beginnings."""
    lines = write_rules(constraints, world, distractors)
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
    sentence = 'For the search, `query` is `{"a": "{rules}"}`.'
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
        (StandIn("a1", "a2"), {"optional", "stand_in"}),
        (Handover("a1", "a2", "release_key"), {"data"}),
        (Given("a1", {"x": 1}), {"arguments"}),
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
        (World(day=(480, 1080), durations={"a1": 30}), {"time"}),
        (World(day=(480, 1080), durations={"a1": 30}, attempts=3), {"time", "over"}),
        (World(costs={"a1": 30}), {"budget", "no_arguments"}),
        (World(failures={"a1": 1}, retries=3), {"retry", "no_arguments"}),
        (World(announcements={"a1": "The B precedes the C."}), {"announce", "no_arguments"}),
    ],
)
def test_the_world_brings_its_rules(world: World, rules: set[str]) -> None:
    assert set(rules_said(ORDER, world=world)) == {"once", "order"} | rules


def test_tools_that_nobody_needs_bring_a_rule() -> None:
    assert rules_said(ORDER, distractors=2) == ["once", "order", "distractors", "no_arguments"]


def test_tools_of_the_user_s_own_bring_a_rule_even_where_nothing_is_given() -> None:
    assert len(write_rules([ORDER], World(), 0, own_tools=True)) == 3
    assert load_requests().rules["arguments"] in write_rules([ORDER], World(), 0, own_tools=True)


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


def test_there_is_no_rule_that_never_applies() -> None:
    said = rules_said(*EVERYTHING, world=WORLD, distractors=1)
    assert len(set(said)) == len(said)
    unsaid = set(load_requests().rules) - set(said)
    assert unsaid == {"arguments", "no_arguments"}


def test_rules_are_filled_in() -> None:
    text = "\n".join(write_rules(EVERYTHING, WORLD, 1))
    assert "{" not in text
    assert "begins at 08:05 and ends at 18:00" in text
    assert "three attempts in all, so `start_over` may be called at most twice" in text
    assert "no more than three times" in text
    once = "\n".join(write_rules([ORDER], World(attempts=2, retries=1), 0))
    assert "two attempts in all, so `start_over` may be called at most once" in once
    assert "but no more than once." in once


def test_every_rule_is_a_line_of_whole_sentences() -> None:
    for rule in (*write_rules(EVERYTHING, WORLD, 1), load_requests().rules["arguments"]):
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
    assert describe_with("runway sweep", ()) == describe("runway sweep")
    assert describe_with("runway sweep", ["start_time"]) == "Carry out the runway sweep. Takes `start_time`."
    assert (
        describe_with("runway sweep", ["start_time", "release_key", "head_count"])
        == "Carry out the runway sweep. Takes `start_time`, `release_key` and `head_count`."
    )
    assert load_requests().tools.start_over.endswith("Takes no arguments.")
    assert load_requests().tools.ask_price.endswith("Takes `task`.")


def test_descriptions_of_parameters() -> None:
    assert "HH:MM" in describe_parameter("start_time")
    assert "tool" in describe_parameter("task")
    assert describe_parameter("release_key").startswith("The release key ")


def test_success_is_reported() -> None:
    assert report_success("runway sweep") == "The runway sweep has been carried out successfully."


def test_a_tool_s_name_is_that_of_its_activity() -> None:
    assert tool_name("petty cash count") == "petty_cash_count"
