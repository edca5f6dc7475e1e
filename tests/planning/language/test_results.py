"""What tools answer: every text with exactly its slots, and figures that read well."""

import re

import pytest

from misstep.planning.language.requests import (
    clock,
    euros,
    how_often,
    in_hours,
    in_words,
    listed,
    literal,
    load_requests,
    say,
)

SAID = {
    "done": ({"name": "runway sweep"}, "The runway sweep has been carried out successfully."),
    "duration": ({"duration": "45 minutes"}, "It took 45 minutes."),
    "value": ({"value": "release key", "literal": '"K7"'}, 'The release key is "K7".'),
    "finding": ({"finding": "no problem"}, "It reported no problem."),
    "cost": ({"amount": "40 euros"}, "It cost 40 euros."),
    "announcement": (
        {"sentence": "The runway sweep precedes the evacuation drill."},
        "New instruction: The runway sweep precedes the evacuation drill.",
    ),
    "unavailable": (
        {"name": "runway sweep"},
        "The tool for the runway sweep is temporarily unavailable. "
        "Nothing has been carried out; please try again.",
    ),
    "broken": (
        {"name": "runway sweep"},
        "The tool for the runway sweep is out of service and will remain so. Nothing has been carried out.",
    ),
    "over": (
        {"left": 1},
        "All right, everything begins anew: nothing has been carried out yet. "
        "Further attempts left after this one: 1.",
    ),
    "price": ({"name": "runway sweep", "amount": "40 euros"}, "The runway sweep costs 40 euros."),
    "error_unknown": ({"tool": "fly"}, "Error: there is no tool named 'fly'."),
    "error_arguments": (
        {"tool": "runway_sweep", "reason": "'start_time' is missing"},
        "Error: the arguments of 'runway_sweep' do not fit: 'start_time' is missing. "
        "Nothing has been carried out.",
    ),
    "error_no_time": (
        {"given": "noon"},
        "Error: 'noon' is not a time of day. Write it as HH:MM, for example 09:30. "
        "Nothing has been carried out.",
    ),
    "error_outside": (
        {"begin": "08:00", "end": "18:00"},
        "Error: the task would not lie within the day, which begins at 08:00 and ends at 18:00. "
        "Nothing has been carried out.",
    ),
    "error_early": ({}, "Error: the previous task has not ended by then. Nothing has been carried out."),
    "error_value": (
        {"parameter": "release_key"},
        "Error: the value of 'release_key' is not the one that has to be passed. Nothing has been carried out.",
    ),
    "error_attempts": ({}, "Error: this is already the last attempt."),
    "error_no_arguments": ({"tool": "runway_sweep"}, "Error: the tool 'runway_sweep' takes no arguments."),
    "error_not_empty": (
        {"tool": "runway_sweep"},
        "Error: the arguments of 'runway_sweep' have to be an empty JSON object: {}.",
    ),
}


def test_nothing_is_said_that_is_not_tested() -> None:
    assert set(load_requests().results) == set(SAID)


@pytest.mark.parametrize("key", SAID)
def test_what_is_said(key: str) -> None:
    slots, text = SAID[key]
    assert say(key, **slots) == text
    assert text.endswith(".")
    assert "\n" not in text
    assert text.startswith("Error: ") == key.startswith("error_")


@pytest.mark.parametrize("key", SAID)
def test_a_slot_too_many_or_too_few_is_a_mistake(key: str) -> None:
    slots, _ = SAID[key]
    with pytest.raises(KeyError):
        say(key, **slots, more=1)
    for missing in slots:
        with pytest.raises(KeyError):
            say(key, **{slot: value for slot, value in slots.items() if slot != missing})


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    assert say("error_unknown", tool="{tool} {0} {{") == "Error: there is no tool named '{tool} {0} {{'."


def test_an_unknown_key_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        say("nothing")


def test_a_task_that_starts_too_early_does_not_learn_when_it_could() -> None:
    assert not re.search(r"\d|\{", load_requests().results["error_early"])


@pytest.mark.parametrize(
    ("minutes", "text"), [(0, "00:00"), (5, "00:05"), (570, "09:30"), (600, "10:00"), (1439, "23:59")]
)
def test_times_of_day(minutes: int, text: str) -> None:
    assert clock(minutes) == text


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (0, "0 minutes"),
        (1, "1 minute"),
        (45, "45 minutes"),
        (60, "1 hour"),
        (61, "1 hour and 1 minute"),
        (120, "2 hours"),
        (150, "2 hours and 30 minutes"),
    ],
)
def test_durations(minutes: int, text: str) -> None:
    assert in_hours(minutes) == text


def test_values_show_where_they_end() -> None:
    assert literal("KX-4821") == '"KX-4821"'
    assert literal("Ana Bergström") == '"Ana Bergström"'
    assert literal('a "b"') == r'"a \"b\""'
    assert literal(4821) == "4821"


def test_numbers_and_amounts() -> None:
    assert [euros(amount) for amount in (0, 1, 240)] == ["0 euros", "1 euro", "240 euros"]
    assert [in_words(number) for number in (1, 2, 12, 13)] == ["one", "two", "twelve", "13"]
    assert [how_often(times) for times in (1, 2, 3, 14)] == ["once", "twice", "three times", "14 times"]


def test_lists() -> None:
    assert [listed(items) for items in (["A"], ["A", "B"], ["A", "B", "C"])] == ["A", "A and B", "A, B and C"]
