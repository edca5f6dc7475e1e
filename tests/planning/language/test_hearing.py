"""What simulated agents hear: rules and results written by hand, and whatever the texts can be filled in with."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.planning.language.hearing import Heard, Rules, read_result, read_rules
from misstep.planning.language.lexicon import ReportedFinding, Value, load_lexicon
from misstep.planning.language.requests import load_requests

NAMES = ("audit", "stock check", "check of v1.2", "get_weather call")
RULES, RESULTS = load_requests().rules, load_requests().results
DONE = "The audit has been carried out successfully."
LEXICON = load_lexicon()


def hear(text: str) -> Heard:
    return read_result(text)


# Results.


@pytest.mark.parametrize("name", [*NAMES, "thing that nobody needs"])
def test_plain_success(name: str) -> None:
    assert hear(f"The {name} has been carried out successfully.") == Heard("done")


@pytest.mark.parametrize(
    ("duration", "minutes"),
    [
        ("1 minute", 1),
        ("45 minutes", 45),
        ("1 hour", 60),
        ("1 hour and 1 minute", 61),
        ("2 hours", 120),
        ("2 hours and 30 minutes", 150),
        ("12 hours and 5 minutes", 725),
    ],
)
def test_durations(duration: str, minutes: int) -> None:
    assert hear(f"{DONE} It took {duration}.") == Heard("done", minutes=minutes)


@pytest.mark.parametrize("value", LEXICON.data.values, ids=lambda value: value.noun)
def test_values(value: Value) -> None:
    parameter = value.noun.replace(" ", "_")
    assert hear(f'{DONE} The {value.noun} is "KX-209".') == Heard("done", values={parameter: "KX-209"})
    assert hear(f"{DONE} The {value.noun} is 209.") == Heard("done", values={parameter: 209})


@given(st.text(max_size=200) | st.integers(-(10**17), 10**17), st.booleans())
def test_any_value_comes_through(value: str | int, escaped: bool) -> None:
    said = f"{DONE} The batch label is {json.dumps(value, ensure_ascii=escaped)}. It cost 5 euros."
    assert hear(said) == Heard("done", values={"batch_label": value}, cost=5)


def test_a_value_that_sounds_like_a_result_is_a_value() -> None:
    value = 'It took 5 minutes. It cost 5 euros. The batch label is "x".'
    heard = hear(f"{DONE} The batch label is {json.dumps(value)}. It took 1 hour.")
    assert heard == Heard("done", minutes=60, values={"batch_label": value})


@pytest.mark.parametrize("finding", LEXICON.conditions.findings, ids=lambda finding: finding.some)
def test_findings(finding: ReportedFinding) -> None:
    assert hear(f"{DONE} It reported {finding.some}.") == Heard("done", finding=True)
    assert hear(f"{DONE} It reported {finding.none}.") == Heard("done", finding=False)


def test_costs() -> None:
    assert hear(f"{DONE} It cost 30 euros.") == Heard("done", cost=30)
    assert hear(f"{DONE} It cost 1 euro.") == Heard("done", cost=1)
    assert hear(f"{DONE} It cost 0 euros.") == Heard("done", cost=0)


def test_announcements() -> None:
    sentence = "The audit precedes the stock check, which takes place after the check of v1.2."
    assert hear(f"{DONE} New instruction: {sentence}") == Heard("done", announcement=sentence)


def test_all_at_once_and_in_any_order() -> None:
    parts = [
        "It took 1 hour.",
        'The release key is "A.B".',
        "The head count is 12.",
        "It reported no gap.",
        "It cost 7 euros.",
    ]
    instruction = "New instruction: The audit precedes the stock check."
    expected = Heard(
        "done", 60, {"release_key": "A.B", "head_count": 12}, False, 7, "The audit precedes the stock check."
    )
    assert hear(" ".join([DONE, *parts, instruction])) == expected
    assert hear(" ".join([DONE, *parts[::-1], instruction])) == expected


@pytest.mark.parametrize("name", NAMES)
def test_tools_that_do_not_work(name: str) -> None:
    assert hear(RESULTS["unavailable"].format(name=name)) == Heard("unavailable")
    assert hear(RESULTS["broken"].format(name=name)) == Heard("broken")


@pytest.mark.parametrize("left", ["0", "2", "two", "none"])
def test_a_new_beginning(left: str) -> None:
    assert hear(RESULTS["over"].format(left=left)) == Heard("over")


@pytest.mark.parametrize("name", NAMES)
def test_prices(name: str) -> None:
    assert hear(RESULTS["price"].format(name=name, amount="40 euros")) == Heard("price", cost=40)


ERRORS = [text for key, text in RESULTS.items() if key.startswith("error_")]


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text: str) -> None:
    assert "Error" in text
    slots = dict.fromkeys(["tool", "reason", "given", "parameter", "begin", "end", "name"], DONE)
    assert hear(text.format(**slots)) == Heard("error")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Done.",
        f"Error: {DONE}",
        f" {DONE}",
        DONE.removesuffix("."),
        "The audit has been carried out.",
        "the audit has been carried out successfully.",
        f"{RESULTS['broken'].format(name='audit')} {DONE}",
    ],
)
def test_whatever_is_not_understood_is_an_error(text: str) -> None:
    assert hear(text) == Heard("error")


@pytest.mark.parametrize(
    "rest",
    [
        "It took long.",
        "It took 1 hour",
        "It cost a lot. It cost 5 euros.",
        "It cost 5 euros",
        'The batch label is "A. It cost 5 euros.',
        'The batch label is "\\q".',
        "The batch label is 007.",
        "The batch label is true.",
        "Error: it failed. It cost 5 euros.",
    ],
)
def test_what_is_not_understood_of_a_success_is_passed_over(rest: str) -> None:
    assert hear(f"{DONE} {rest}") == Heard("done")


def test_the_parts_of_a_result_are_a_space_apart() -> None:
    assert hear(f"{DONE}-It took 1 hour.") == Heard("done")
    assert hear(f"{DONE}  It took 1 hour.") == Heard("done")


def test_an_unknown_finding_is_no_finding() -> None:
    assert hear(f"{DONE} It reported a mermaid.") == Heard("done")


@given(st.text())
def test_any_result_can_be_given(text: str) -> None:
    for said in (text, f"{DONE} {text}", f"{DONE} The {text} is {text}.", f"The {text} costs {text} euros."):
        assert isinstance(hear(said), Heard)


@pytest.mark.parametrize(
    "unit", ['"', "\\", '\\"', "The ", "is ", DONE + " ", "It took ", "It cost 5 euros. "]
)
def test_hostile_results_come_back(unit: str) -> None:
    for text in (unit * 50_000, f"{DONE} {unit * 50_000}", f'{DONE} The batch label is "{unit * 50_000}'):
        assert isinstance(hear(text), Heard)


# Rules.


def request(*rules: str) -> str:
    lines = "\n".join(f"- {rule}" for rule in rules)
    return f"You are a baker.\n\nThe audit must start after 10:00.\n\nRespect these rules:\n{lines}\nThat is all."


SLOTS = {"begin": "09:00", "end": "17:30", "attempts": "three", "times": "twice", "retries": "four times"}


def test_no_rules() -> None:
    assert read_rules("") == Rules()
    assert read_rules(request()) == Rules()
    others = [rule for name, rule in RULES.items() if name not in ("time", "over", "retry")]
    assert read_rules(request(*others)) == Rules()


def test_the_day() -> None:
    assert read_rules(request(RULES["time"].format(**SLOTS))) == Rules(day=(540, 1050))
    slots = {**SLOTS, "begin": "00:00", "end": "23:59"}
    assert read_rules(request(RULES["time"].format(**slots))) == Rules(day=(0, 1439))


@pytest.mark.parametrize(("word", "number"), [("two", 2), ("three", 3), ("twelve", 12), ("2", 2), ("13", 13)])
def test_attempts(word: str, number: int) -> None:
    slots = {**SLOTS, "attempts": word}
    assert read_rules(request(RULES["over"].format(**slots))) == Rules(attempts=number)


@pytest.mark.parametrize(
    ("words", "number"), [("once", 1), ("twice", 2), ("three times", 3), ("five times", 5), ("13 times", 13)]
)
def test_retries(words: str, number: int) -> None:
    slots = {**SLOTS, "retries": words}
    assert read_rules(request(RULES["retry"].format(**slots))) == Rules(retries=number)


def test_all_the_rules() -> None:
    everything = request(*(rule.format(**SLOTS) for rule in RULES.values()))
    assert read_rules(everything) == Rules((540, 1050), 3, 4)


@given(st.text())
def test_any_request_can_be_given(text: str) -> None:
    slots = dict.fromkeys(SLOTS, text)
    assert isinstance(read_rules(request(*(rule.format(**slots) for rule in RULES.values()))), Rules)
