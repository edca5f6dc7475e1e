"""Proposes values where code has compared an argument, looked it up, or tested its type or truth."""

from collections.abc import Callable, Iterator
from typing import Any

from misstep.fuzzing.branch_solver.sight import BREAKS, EDGE, FAR, ODD, PASSES, BranchGoal, Sight

MOST_KEYS = 12

_SAMPLES: dict[str, Any] = {
    "dict": {},
    "list": [],
    "tuple": [],
    "str": "a",
    "int": 1,
    "float": 1.5,
    "bool": True,
    "Mapping": {},
    "Sequence": [],
    "Iterable": [],
    "Number": 1,
}
_ATTRIBUTES: dict[str, Any] = {
    **{name: [] for name in ("append", "extend", "sort", "insert", "reverse", "remove")},
    **{name: {} for name in ("keys", "items", "values", "get", "update", "setdefault", "pop", "copy")},
    **dict.fromkeys(("strip", "split", "lower", "upper", "startswith", "endswith", "encode", "replace"), "a"),
    **dict.fromkeys(("bit_length", "is_integer", "numerator", "real"), 1),
}

QUESTIONS: dict[str, tuple[str, ...]] = {
    "isalnum": ("a1", "\u00b2"),
    "isalpha": ("abc", "\u00df"),
    "isascii": ("abc", ""),
    "isdecimal": ("7", "0", "\u0663"),
    "isdigit": ("7", "0", "\u00b2"),
    "isidentifier": ("abc", "class"),
    "islower": ("abc", "\u00df"),
    "isnumeric": ("7", "0", "\u00bd"),
    "isprintable": ("abc", ""),
    "isspace": (" ", "\u2003"),
    "istitle": ("Abc",),
    "isupper": ("ABC",),
}


def _equality(sight: Sight) -> Iterator[BranchGoal]:
    same = sight.passed if sight.operation == "==" else sight.passed is False
    yield BranchGoal(FAR if same else PASSES, sight.operand, f"it is compared with {sight.operand!r}")
    if isinstance(sight.operand, str):
        for other in (sight.operand.upper(), sight.operand + " ", ""):
            yield BranchGoal(FAR, other, f"almost {sight.operand!r}")
    yield from _near(sight, ODD)


def _order(sight: Sight) -> Iterator[BranchGoal]:
    if isinstance(sight.operand, str):
        yield BranchGoal(PASSES, sight.operand, f"it is compared with {sight.operand!r}")
        yield BranchGoal(EDGE, sight.operand + "a", f"it comes just after {sight.operand!r}")
        yield BranchGoal(EDGE, "", "it comes before everything")
        return
    yield BranchGoal(EDGE, sight.operand, f"it is compared with {sight.operand!r}")
    yield from _near(sight, sight.opens if sight.passed is not True else EDGE)


def _near(sight: Sight, rank: int) -> Iterator[BranchGoal]:
    if isinstance(sight.operand, bool) or not isinstance(sight.operand, int | float):
        return
    for step in (1, -1):
        yield BranchGoal(rank, sight.operand + step, f"one off {sight.operand!r}, which it is compared with")
    for far in (sight.operand * 1000 + 1, -sight.operand * 1000 - 1):
        yield BranchGoal(FAR, far, f"far from {sight.operand!r}, which it is compared with")


def _keys(sight: Sight) -> Iterator[BranchGoal]:
    keys = [key for key in sight.operand if isinstance(key, str | int | float)]
    for key in keys if len(keys) <= MOST_KEYS else sight.dice.sample(keys, MOST_KEYS):
        yield BranchGoal(EDGE if sight.passed else PASSES, key, f"it is looked up among {len(keys)} keys")
    texts = [key for key in keys if isinstance(key, str)]
    if texts:
        for other in (texts[0].swapcase(), texts[0] + " ", ""):
            yield BranchGoal(
                BREAKS if sight.passed else ODD, other, "almost one of the keys that it is looked up among"
            )


def _kind(sight: Sight) -> Iterator[BranchGoal]:
    for name in sight.operand:
        if name in _SAMPLES:
            yield BranchGoal(sight.opens, _SAMPLES[name], f"the code asks whether it is a {name}")


def _attribute(sight: Sight) -> Iterator[BranchGoal]:
    if sight.operand in _ATTRIBUTES:
        yield BranchGoal(
            PASSES, _ATTRIBUTES[sight.operand], f"the code wants something with .{sight.operand}"
        )


def _truth(sight: Sight) -> Iterator[BranchGoal]:
    empty: dict[type, tuple[Any, Any]] = {
        str: ("", "a"),
        list: ([], ["a"]),
        dict: ({}, {"a": 1}),
        int: (0, 1),
        float: (0.0, 1.0),
    }
    if type(sight.now) in empty:
        nothing, something = empty[type(sight.now)]
        if sight.passed:
            yield BranchGoal(EDGE, nothing, "the code asks whether there is anything")
        else:
            yield BranchGoal(PASSES, something, "the code asks whether there is anything")


def _question(sight: Sight) -> Iterator[BranchGoal]:
    plain, *odd = QUESTIONS[sight.operation]
    why = f"the code asks .{sight.operation}()"
    alike = _as_long(sight, plain)
    yield BranchGoal(sight.opens, alike, f"{why}; it is as long as before")
    yield BranchGoal(sight.opens, plain, why)
    for text in odd:
        yield BranchGoal(BREAKS, text, f".{sight.operation}() is true of it too")
        yield BranchGoal(BREAKS, alike[:-1] + text, f".{sight.operation}() is true of it too")
    if "0" in odd:
        yield BranchGoal(BREAKS, "0" * len(alike), f"{why}; it is as long as before, and nought")
    yield BranchGoal(FAR, "-", f".{sight.operation}() is false of it")


def _as_long(sight: Sight, plain: str) -> str:
    """The text with every character replaced that fails the test, so that its length stays."""
    return "".join(each if getattr(each, sight.operation)() else plain[0] for each in sight.text)


def _divisor(_: Sight) -> Iterator[BranchGoal]:
    yield BranchGoal(BREAKS, 0, "something is divided by it")
    yield BranchGoal(ODD, 5e-324, "something is divided by it")
    yield BranchGoal(ODD, -1, "something is divided by it")


def _count(_: Sight) -> Iterator[BranchGoal]:
    for count, rank in ((0, BREAKS), (-1, BREAKS), (1, EDGE), (10**6, FAR)):
        yield BranchGoal(rank, count, "it says how often something is done")


def _whole(sight: Sight) -> Iterator[BranchGoal]:
    yield BranchGoal(EDGE, 2.5 if sight.passed else 2.0, "the code asks whether it is whole")


def _inside(sight: Sight) -> Iterator[BranchGoal]:
    if isinstance(sight.operand, str):
        yield BranchGoal(sight.opens, sight.operand, "it is looked for in another argument, which is this")
        yield BranchGoal(EDGE, sight.operand[:1], "it is looked for in another argument, which begins so")
        yield BranchGoal(BREAKS if sight.passed else FAR, "", "nothing is found in everything")


COMPARING: dict[str, Callable[[Sight], Iterator[BranchGoal]]] = {
    "==": _equality,
    "!=": _equality,
    **dict.fromkeys(("<", "<=", ">", ">="), _order),
    "key of": _keys,
    "isinstance": _kind,
    "attribute": _attribute,
    "truth": _truth,
    "divisor": _divisor,
    "is_integer": _whole,
    "range": _count,
    **dict.fromkeys(QUESTIONS, _question),
    **{
        f"{name} in": _inside
        for name in ("contains", "find", "rfind", "index", "rindex", "count", "startswith", "endswith")
    },
}
