"""A case in full, as people see it."""

from typing import Any

import pytest
from rich.console import Console

from misstep.core.case import CASE_VERSION, Action, Case, Difficulty, Planned, World
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
from misstep.core.outcome import Call, Outcome, Transcript, Verdict
from misstep.rendering.case import case_view

NAMES = {"a": "audit", "b": "backup", "c": "cleaning"}


def shown(constraint: Constraint, *calls: Call, **verdict: Any) -> str:
    actions = tuple(Action(i, name, name) for i, name in NAMES.items())
    case = Case(
        CASE_VERSION, "x", 0, "t", "q", actions, (constraint,), sentences=("So it is.",), world=World()
    )
    judged = Verdict("x", "failed", "order", **{"violated": (0,), **verdict})
    console = Console(width=120)
    with console.capture() as captured:
        outcome = Outcome(case, Transcript("x", calls), judged, 0.0)
        console.print(case_view(outcome, Difficulty(0.5, 3, 1, 2, 4, 60)))
    return captured.get()


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (Before("a", "b", 0), "audit before backup  sentence 1"),
        (Before("a", "b", announced="c"), "audit before backup, once cleaning says so"),
        (Window("a", "start", "after", 485), "audit starts no earlier than 08:05"),
        (Window("a", "end", "before", 1440), "audit ends no later than 24:00"),
        (Handover("a", "b", "release_key"), "backup uses the release_key of audit"),
        (Adjacent("a", "b"), "audit right before backup"),
        (Place("a", "first"), "audit first of all"),
        (Choice(("a", "b", "c")), "only one of audit, backup, cleaning"),
        (Condition("a", "a problem", "b"), "backup if audit reports a problem, otherwise not"),
        (Condition("a", "a problem", "b", "c"), "backup if audit reports a problem, otherwise cleaning"),
        (Repeat("a", 3), "audit 3 times"),
        (Limit("a", 2), "at most 2 before audit"),
        (Spend(90), "at most 90 spent in all"),
        (StandIn("a", "b"), "backup only if audit is unavailable"),
        (Given("a", {"city": "Köln"}), 'audit with {"city": "Köln"}'),
    ],
)
def test_broken_constraints_in_words(constraint: Constraint, words: str) -> None:
    lines = [" ".join(line.split()) for line in shown(constraint).splitlines()]
    assert f"1 {' '.join(words.split())}" in lines


def test_calls_are_shown_with_their_arguments() -> None:
    calls = (Call("audit", {"start_time": "09:00", "count": 3}), Call("backup"), Call("x", "no\x1b[2J"))
    text = shown(Before("a", "b"), *calls, step=2)
    assert '1  audit({"start_time": "09:00", "count": 3})' in text
    assert "2  backup()   ← misstep" in text
    assert "\x1b[2J" not in text


@pytest.mark.parametrize("evil", ["\x1b]0;owned\x07", "[red]x[/red]", "\u202ex"])
def test_hostile_words_are_harmless(evil: str) -> None:
    for constraint in (Given("a", {evil: evil}), Handover("a", "b", evil), Condition("a", evil, "b")):
        text = shown(constraint)
        assert "\x1b]0" not in text
        assert "\u202e" not in text
        assert "[red]" in text or "red" not in evil


def test_how_hard_it_is_is_said() -> None:
    said = "difficulty: 3 actions, 1 constraint, longest chain 2, 4 pairs against text order"
    assert said in shown(Before("a", "b"))


def test_results_and_a_solution_are_shown_where_order_is_not_all() -> None:
    actions = tuple(Action(i, name, name) for i, name in NAMES.items())
    case = Case(
        CASE_VERSION,
        "x",
        0,
        "t",
        "q",
        actions,
        (),
        world=World(day=(540, 600), durations={"a": 60}),
        solution=(Planned("audit", {"start_time": "09:00"}),),
    )
    call = Call("audit", {"start_time": "09:15"}, "Error: too [red]late[/].")
    outcome = Outcome(case, Transcript("x", (call,)), Verdict("x", "failed", "parameter", 1), 0.0)
    console = Console(width=120)
    with console.capture() as captured:
        console.print(case_view(outcome, Difficulty(1.0, 3, 0, 1, 0, 60)))
    printed = captured.get()
    assert 'audit({"start_time": "09:15"})   ← misstep' in printed
    assert "Error: too [red]late[/]." in printed
    assert printed.index("a correct plan") < printed.index('audit({"start_time": "09:00"})')
