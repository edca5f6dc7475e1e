"""What sentences demand that are not about the order alone."""

from collections.abc import Iterator
from typing import Literal

from misstep.core.constraint import (
    Adjacent,
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
from misstep.planning.language.lexicon import Lexicon
from misstep.planning.language.reading.frames import Filled, Frame, Meaning, frame

Demands = tuple[Constraint, ...]


def family_frames(lexicon: Lexicon) -> Iterator[Frame]:
    """Every frame that a sentence of a family can have."""
    yield frame("{s} {duty}", lambda _: ())
    yield from _times()
    yield from _places()
    yield from _conditions()
    yield frame("{a} {repeated} {times}", _repeat)
    # In a frame of the lexicon "verb" is short for a neutral one.
    yield from (frame(text.replace("{verb}", "{neutral}"), _choice, text) for text in lexicon.choices)
    for texts, means in (
        (lexicon.repeats.limits, _limit),
        (lexicon.budgets, _spend),
        (lexicon.data.frames, _handover),
        (lexicon.stand_ins, _stand_in),
        (lexicon.given, _given),
    ):
        yield from (frame(text, means, text) for text in texts)


def _times() -> Iterator[Frame]:
    yield frame("{s} {start} {after} {time}", _window("start", "after"))
    yield frame("{s} {start} {before} {time}", _window("start", "before"))
    yield frame("{s} {end} {before} {time}", _window("end", "before"))
    yield frame("{front_before} {time}, {s} {end}", _window("end", "before"))


def _places() -> Iterator[Frame]:
    yield frame("{a} {near_verb} {b}", _adjacent("near_verb"))
    yield frame("{a} {neutral} {near} {b}", _adjacent("near"))
    yield frame("{front_near} {b}, {a} {neutral}", _adjacent("front_near"))
    yield frame("{a} {first}", lambda filled: (Place(filled["a"], "first"),))
    yield frame("{a} {last}", lambda filled: (Place(filled["a"], "last"),))


def _conditions() -> Iterator[Frame]:
    asks_first = "{opener} {a} {report} {finding}, {b} {obligation}"
    then_first = "{b} {repeated} after {a} {opener} the latter {report} {finding}"
    for if_so in (asks_first, then_first):
        yield frame(if_so + "; {otherwise}, {b} {skip}", _condition)
        yield frame(if_so + "; {otherwise}, {c} {other_obligation}", _condition)


def _window(edge: Literal["start", "end"], bound: Literal["after", "before"]) -> Meaning:
    def means(filled: Filled) -> Demands:
        return tuple(Window(action, edge, bound, filled["time"]) for action in filled["s"].actions)

    return means


def _adjacent(slot: str) -> Meaning:
    def means(filled: Filled) -> Demands:
        a, b = filled["a"], filled["b"]
        return (Adjacent(a, b) if filled[slot].before else Adjacent(b, a),)

    return means


def _condition(filled: Filled) -> Demands:
    return (Condition(filled["a"], filled["finding"].name, filled["b"], filled.get("c", "")),)


def _repeat(filled: Filled) -> Demands:
    return (Repeat(filled["a"], filled["times"].count),)


def _choice(filled: Filled) -> Demands:
    return (Choice((filled["a"], filled["b"])),)


def _limit(filled: Filled) -> Demands:
    return (Limit(filled["a"], filled["count"].count),)


def _spend(filled: Filled) -> Demands:
    return (Spend(filled["amount"]),)


def _handover(filled: Filled) -> Demands:
    value = filled["a_value"] if "a_value" in filled else filled["value"]
    return (Handover(filled["giver"], filled["taker"], value.name),)


def _stand_in(filled: Filled) -> Demands:
    return (StandIn(filled["a"], filled["b"]),)


def _given(filled: Filled) -> Demands:
    return (Given(filled["a"], filled["arguments"]),)
