"""Constraints as people see them: in a few words, and between which actions."""

import json
from collections.abc import Mapping
from typing import assert_never

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
from misstep.report.text import plain


def in_brief(constraint: Constraint, names: Mapping[str, str]) -> str:
    """What a constraint demands, on one line; `names` are those of actions, by id."""
    name = {action: plain(text) for action, text in names.items()}
    match constraint:
        case Before(first, then, _, announced):
            return f"{name[first]} before {name[then]}" + (
                f", once {name[announced]} says so" if announced else ""
            )
        case Window(action, edge, bound, time):
            limit = "no earlier than" if bound == "after" else "no later than"
            return f"{name[action]} {edge}s {limit} {time // 60:02}:{time % 60:02}"
        case Handover(giver, taker, parameter):
            return f"{name[taker]} is given the {plain(parameter)} of {name[giver]}"
        case Adjacent(first, then):
            return f"{name[first]} right before {name[then]}"
        case Place(action, place):
            return f"{name[action]} {place} of all"
        case Choice(options):
            return f"only one of {', '.join(name[option] for option in options)}"
        case Condition(asks, finding, then, otherwise):
            other = f", otherwise {name[otherwise]}" if otherwise else ", otherwise not"
            return f"{name[then]} if {name[asks]} reports {plain(finding)}{other}"
        case Repeat(action, times):
            return f"{name[action]} {times} times"
        case Limit(action, most):
            return f"at most {most} before {name[action]}"
        case Spend(most):
            return f"at most {most} spent in all"
        case StandIn(action, by):
            return f"{name[by]} only if {name[action]} is out of service"
        case Given(action, arguments):
            return f"{name[action]} with {plain(json.dumps(arguments, ensure_ascii=False), 200)}"
    assert_never(constraint)


def actions_of(constraint: Constraint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What comes first and what comes afterwards, by id; one of a kind without an order is on either side."""
    match constraint:
        case Before(first, then) | Adjacent(first, then):
            return (first,), (then,)
        case Handover(giver, taker):
            return (giver,), (taker,)
        case Place(action, place):
            return ((action,), ()) if place == "first" else ((), (action,))
        case Choice(options):
            return options, ()
        case Condition(asks, _, then, otherwise):
            return (asks,), (then, otherwise) if otherwise else (then,)
        case StandIn(action, by):
            return (action,), (by,)
        case Window(action) | Repeat(action) | Limit(action) | Given(action):
            return (), (action,)
        case Spend():
            return (), ()
    assert_never(constraint)
