"""Answers of models: what is well formed and true to the request gets in, and nothing else does."""

import json
from random import Random
from typing import Any

import pytest

from misstep.core.constraint import Adjacent, Before, Choice, Limit, Place, Repeat
from misstep.planning.repair.reading import MANNERS, Manner, Need, RequestReading, checked_form, is_quoted
from misstep.schemas.answers import FormatError
from tests.planning.repair.readings import random_reading
from tests.tiers import examples

REQUEST = """Pay the invoice, then ship the order.  Call or mail the customer – whichever you like –
and file it all at the very end. Remind them twice. If it rains, wait."""
TOOLS = ("pay", "ship", "call", "mail", "file", "remind", "unused")
NEEDED = {
    "pay": "Pay the invoice",
    "ship": "ship the order",
    "call": "Call or mail",
    "mail": "Call or mail",
    "file": "file it all",
    "remind": "Remind them",
}


def relations(**changed: Any) -> dict[str, Any]:
    return {
        "needed": [{"tool": tool, "quote": quote} for tool, quote in NEEDED.items()],
        "constraints": [
            {"kind": "before", "first": "pay", "then": "ship", "quote": "then ship the order"},
            {"kind": "adjacent", "first": "pay", "then": "ship", "quote": "then ship"},
            {"kind": "choice", "tools": ["mail", "call"], "quote": "Call or mail the customer"},
            {"kind": "place", "tool": "file", "place": "last", "quote": "at the very end"},
            {"kind": "repeat", "tool": "remind", "times": 2, "quote": "twice"},
            {"kind": "limit", "tool": "pay", "most": 3, "quote": "Pay"},
        ],
        "beyond": ["If it rains, wait"],
        **changed,
    }


def by_tools(**changed: Any) -> dict[str, Any]:
    entries: dict[str, dict[str, Any]] = {
        tool: {"tool": tool, "quote": quote} for tool, quote in NEEDED.items()
    }
    entries["ship"] |= {
        "after": [{"tool": "pay", "quote": "then ship the order"}],
        "right_after": {"tool": "pay", "quote": "then ship"},
    }
    entries["file"] |= {"place": {"place": "last", "quote": "at the very end"}, "times": None}
    entries["remind"] |= {"times": {"times": 2, "quote": "twice"}}
    entries["pay"] |= {"at_most_before": {"most": 3, "quote": "Pay"}}
    return {
        "tools": [*entries.values()],
        "choices": [{"tools": ["mail", "call"], "quote": "Call or mail the customer"}],
        "beyond": ["If it rains, wait"],
        **changed,
    }


GOOD = {"relations": relations, "tools": by_tools}


def read(manner: Manner, answer: object, request: str = REQUEST) -> RequestReading | FormatError:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return checked_form(manner, TOOLS, request).read(text)


def complaint(manner: Manner, answer: object, request: str = REQUEST) -> str:
    found = read(manner, answer, request)
    assert isinstance(found, FormatError), found
    return found.text


@pytest.mark.parametrize("manner", MANNERS)
def test_all_that_can_be_said(manner: Manner) -> None:
    found = read(manner, GOOD[manner]())
    assert isinstance(found, RequestReading), found
    assert found.needs == tuple(Need(tool, quote) for tool, quote in NEEDED.items())
    assert {*found.constraints} == {
        Before("pay", "ship"),
        Adjacent("pay", "ship"),
        Choice(("call", "mail")),
        Place("file", "last"),
        Repeat("remind", 2),
        Limit("pay", 3),
    }
    assert found.beyond == ("If it rains, wait",)


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize(
    "wrapped",
    [
        "```json\n%s\n```",
        "Here it is:\n%s\nI hope that helps.",
        "<think>Perhaps {this} or {that}?</think>\n%s",
        "\ufeff  %s  ",
    ],
)
def test_words_around_the_answer_are_passed_over(manner: Manner, wrapped: str) -> None:
    assert isinstance(read(manner, wrapped % json.dumps(GOOD[manner]())), RequestReading)


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ("I can't do that.", "no JSON object"),
        ("}{", "no JSON object"),
        ("{", "no JSON object"),
        ('{"beyond": [}', "not valid JSON"),
        ("{}", "missing required field"),
        ('{"needed": [], "constraints": [], "tools": [], "more": 1}', "unknown field"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "JSON"),
        ('{"needed": "pay", "constraints": [], "tools": "pay"}', "Expected `array`|unknown field"),
        ("{" + "x" * 200_000 + "}", "at most 100,000 are read"),
        ('{"\ud800": 1}', "unknown field"),
    ],
)
def test_what_is_not_in_the_form(manner: Manner, text: str, said: str) -> None:
    found = complaint(manner, text)
    assert any(each in found for each in said.split("|")), found
    assert len(found) < 1_000


def with_rule(**rule: Any) -> dict[str, Any]:
    return relations(constraints=[{"quote": "twice", **rule}])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (with_rule(kind="before", first="pay"), "missing required field `then`"),
        (with_rule(kind="before", first="pay", then="ship", why="x"), "unknown field `why`"),
        (with_rule(kind="between", first="pay", then="ship"), "Invalid value 'between'"),
        (with_rule(kind="repeat", tool="pay", times=1), "`int` >= 2"),
        (with_rule(kind="repeat", tool="pay", times=10**30), "$.constraints[0].times"),
        (with_rule(kind="repeat", tool="pay", times="2"), "Expected `int`"),
        (with_rule(kind="limit", tool="pay", most=0), "`int` >= 1"),
        (with_rule(kind="place", tool="pay", place="middle"), "Invalid enum value 'middle'"),
        (with_rule(kind="choice", tools=["pay"]), "length >= 2"),
        (with_rule(kind="choice", tools=["pay", "pay"]), "names 'pay' twice"),
        (with_rule(kind="before", first="pay", then="pay"), "names 'pay' twice"),
        (with_rule(kind="before", first="pay", then="unused"), "mentions 'unused', which is not among"),
        (with_rule(kind="before", first="pay", then="rm -rf /"), "mentions 'rm -rf /'"),
        (
            relations(needed=[{"tool": "sudo", "quote": "twice"}]),
            "There is no tool 'sudo'. The tools are pay,",
        ),
        (relations(needed=[{"tool": "pay", "quote": "twice"}] * 2), "'pay' is listed twice"),
        (relations(needed=[{"tool": "pay", "quote": "twice"}] * 21), "length <= 20"),
        (relations(needed=[{"tool": "pay", "quote": ""}]), "length >= 1"),
        (relations(needed=[{"tool": "pay"}]), "missing required field `quote`"),
        (relations(beyond=["unless it snows"]), "The quote 'unless it snows' is not in the request"),
        (
            relations(
                constraints=[{"kind": "before", "first": "pay", "then": "ship", "quote": "before shipping"}]
            ),
            "The quote 'before shipping' is not in the request",
        ),
        (
            relations(constraints=relations()["constraints"] * 20),
            "length <= 100",
        ),
        (
            relations(
                constraints=[
                    {"kind": "choice", "tools": ["call", "mail"], "quote": "Call or mail"},
                    {"kind": "place", "tool": "call", "place": "last", "quote": "at the very end"},
                ]
            ),
            "are not valid together: constraint 1 relies on 'call'",
        ),
        (
            relations(
                constraints=[
                    {"kind": "repeat", "tool": "pay", "times": 2, "quote": "twice"},
                    {"kind": "repeat", "tool": "pay", "times": 3, "quote": "twice"},
                ]
            ),
            "are not valid together",
        ),
    ],
)
def test_what_can_t_be_meant(answer: dict[str, Any], said: str) -> None:
    assert said in complaint("relations", answer)


def test_too_many_rules_tool_by_tool() -> None:
    entry = {"tool": "pay", "quote": "Pay", "after": [{"tool": "ship", "quote": "then"}] * 20}
    assert "121 constraints" in complaint("tools", by_tools(tools=[entry] * 6))


def test_too_much_to_plan() -> None:
    tools = [f"t{number}" for number in range(20)]
    needed = [{"tool": tool, "quote": "twice"} for tool in tools]
    often = [{"kind": "repeat", "tool": tool, "times": 9, "quote": "twice"} for tool in tools]
    found = checked_form("relations", tools, "twice").read(
        json.dumps({"needed": needed, "constraints": often})
    )
    assert found == FormatError("With repetitions there are 180 calls; at most 60 can be planned.")
    pairs = [{"kind": "choice", "tools": tools[i : i + 2], "quote": "twice"} for i in range(0, 20, 2)]
    found = checked_form("relations", tools, "twice").read(
        json.dumps({"needed": needed, "constraints": pairs})
    )
    assert found == FormatError("There are more than 64 ways to choose.")


def test_a_complaint_about_a_huge_name_is_short() -> None:
    tools = [f"tool_{number}" for number in range(5_000)]
    answer = json.dumps({"needed": [{"tool": "x" * 64, "quote": "twice"}], "constraints": []})
    found = checked_form("relations", tools, "twice").read(answer)
    assert isinstance(found, FormatError)
    assert "and 4900 more" in found.text
    assert len(found.text) < 2_000


def test_what_is_said_twice_counts_once() -> None:
    again = {"kind": "before", "first": "pay", "then": "ship", "quote": "then"}
    other = {"kind": "choice", "tools": ["call", "mail"], "quote": "Call or mail"}
    found = read("relations", relations(constraints=[*relations()["constraints"], again, other]))
    assert isinstance(found, RequestReading)
    assert len(found.rules) == 6


@pytest.mark.parametrize(
    ("quote", "request_", "expected"),
    [
        ("pay the invoice", "Please PAY   the\ninvoice now", True),
        ("“don’t” – ever", 'he said "don\'t" - ever', True),
        ("…then ship it.", "Pay, then ship it", True),
        ("先付款", "请先付款，然后发货。", True),
        ("Straße", "in der STRASSE", True),
        ("ﬁle", "file it", True),
        ("pay and ship", "pay, then ship", False),
        ("a", "a b c", False),
        (" . ", "a . b", False),
        ("", "anything", False),
        ("🙂🙂", "🙂🙂", False),
        ("ship", "", False),
    ],
)
def test_quotes(quote: str, request_: str, expected: bool) -> None:
    assert is_quoted(quote, request_) == expected


@pytest.mark.both
@pytest.mark.parametrize("manner", MANNERS)
def test_spoilt_answers_never_break_anything(manner: Manner) -> None:
    """Cut, doubled and scrambled at random: a reading or a complaint, never an error."""
    random, text = Random(1), json.dumps(GOOD[manner]())
    kinds = set[type]()
    for _ in range(examples(1_500)):
        begin, end = sorted(random.sample(range(len(text)), 2))
        spoilt = text[:begin] + random.choice(
            ["", '"', "{", "}", "null", "\0", "\ud800", text[begin:end] * 2]
        )
        spoilt += text[random.choice([begin, end, begin + 1]) :]
        kinds.add(type(read(manner, spoilt)))
    assert kinds == {RequestReading, FormatError}


def test_what_was_read_can_be_written_and_read_again() -> None:
    """Every reading, put into the form of relations, comes back as it was."""
    random = Random(2)
    for _ in range(100):
        drawn = random_reading(random)
        words = " / ".join([need.quote for need in drawn.needs] + [rule.quote for rule in drawn.rules])
        constraints = []
        for rule in drawn.rules:
            match rule.constraint:
                case Before(first, then):
                    said: dict[str, Any] = {"kind": "before", "first": first, "then": then}
                case Adjacent(first, then):
                    said = {"kind": "adjacent", "first": first, "then": then}
                case Place(tool, place):
                    said = {"kind": "place", "tool": tool, "place": place}
                case Choice(options):
                    said = {"kind": "choice", "tools": options[::-1]}
                case Repeat(tool, times):
                    said = {"kind": "repeat", "tool": tool, "times": times}
                case Limit(tool, most):
                    said = {"kind": "limit", "tool": tool, "most": most}
            constraints.append({**said, "quote": rule.quote})
        needed = [{"tool": need.tool, "quote": need.quote} for need in drawn.needs]
        answer = json.dumps({"needed": needed, "constraints": constraints})
        assert checked_form("relations", drawn.tools, words).read(answer) == drawn
