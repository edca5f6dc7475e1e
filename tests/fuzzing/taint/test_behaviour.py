"""Marked values do what plain ones do: same results, same kinds, same errors."""

import copy
import json
import operator
import pickle
import pprint
import re
from collections.abc import Callable, Collection
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.fuzzing.taint import observe, plain
from tests.tiers import many_examples

TEXTS = st.text(alphabet="ab,.:/= 1²ß\n\ud800A", max_size=12)
WHOLE = st.integers(-300, 300)
REAL = st.floats(allow_nan=False, width=32)
SCALARS = st.one_of(TEXTS, WHOLE, REAL, st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
SLICES = st.slices(6)
# Python asks a subclass first, so that unlike items of two lists may be named the other way round.
ORDER = re.compile("'[<>]=?' not supported between instances of '(\\w+)' and '(\\w+)'")
KINDS = (str, int, float, bool, bytes, list, dict, tuple, type(None))

UNARY: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(operator, name) for name in ("neg", "pos", "abs", "not_", "truth", "index", "invert")},
    **{f.__name__: f for f in (str, repr, hash, int, float, len, list, tuple, sorted, iter, bool, format)},
    **{f.__name__: f for f in (sum, max, min, round, divmod, complex, bytes, json.dumps, pprint.pformat)},
    "members": lambda value: sorted(set(value), key=repr),
    "reversed": lambda value: list(reversed(value)),
    "items": lambda value: list(value.items()),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickled": lambda value: pickle.loads(pickle.dumps(value)),
    "pickled long ago": lambda value: pickle.loads(pickle.dumps(value, 0)),
    "spread": lambda value: {**value},
    "listed": lambda value: [*value],
    "formatted": lambda value: f"{value}|{value!r}|{value:>9}",
    "percent": lambda value: "%s %r" % (value, value),  # noqa: UP031
    "percent d": lambda value: "%d" % value,  # noqa: UP031
    "filled in": lambda value: "{0} {0!r}".format(value),  # noqa: UP032
    "joined": lambda value: "-".join(value),
    "indented": lambda value: json.dumps(value, indent=1, sort_keys=True),
    "ascii": ascii,
    "pair": lambda value: (lambda pair: (pair[0], pair[1]))(tuple(value)),
    "vars": vars,
    "class": lambda value: value.__class__,
    "name": lambda value: type(value).__name__,
    "no such attribute": lambda value: value.nothing_like_it,
    "math": lambda value: __import__("math").sqrt(value),
    "encoded": lambda value: value.encode(),
    "number": lambda value: (value.real, value.imag, value.as_integer_ratio()),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name)
    for name in (
        [
            "add",
            "sub",
            "mul",
            "truediv",
            "floordiv",
            "mod",
            "and_",
            "or_",
            "xor",
            "lt",
            "le",
            "gt",
            "ge",
            "eq",
            "ne",
            "contains",
            "getitem",
            "countOf",
            "indexOf",
            "iadd",
        ]
    )
}


def unpack_two(value: Any) -> Any:
    first, second = value
    return first, second


def unpack_some(value: Any) -> Any:
    first, *rest = value
    return first, rest


UNARY |= {"two": unpack_two, "some": unpack_some}


def outcome(action: Callable[..., Any], *values: Any) -> tuple[str, Any, Any]:
    try:
        result = action(*values)
    except Exception as error:
        return "raised", type(error), ORDER.sub("not supported", str(error))
    result = list(result) if hasattr(result, "__next__") else result
    return "returned", [isinstance(result, kind) for kind in KINDS], repr(plain(result))


def same(actions: Collection[Callable[..., Any]], *values: Any) -> None:
    """Each action gives the same whichever of the values are marked."""
    expected = [outcome(action, *copy.deepcopy(values)) for action in actions]
    with observe() as marks:
        for mask in range(1, 2 ** len(values)):
            for action, wanted in zip(actions, expected, strict=True):
                given = [
                    marks.mark(copy.deepcopy(value), ("x", place))
                    if mask >> place & 1
                    else copy.deepcopy(value)
                    for place, value in enumerate(values)
                ]
                assert outcome(action, *given) == wanted


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(value=VALUES)
def test_what_is_done_with_one_value(value: Any) -> None:
    same(UNARY.values(), value)


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(one=VALUES, other=VALUES)
def test_what_is_done_with_two_values(one: Any, other: Any) -> None:
    same(BINARY.values(), one, other)


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(one=WHOLE | REAL, other=WHOLE | REAL)
def test_calculations(one: Any, other: Any) -> None:
    same(BINARY.values(), one, other)


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(value=TEXTS | st.lists(TEXTS, max_size=5), place=SLICES | st.integers(-7, 7) | TEXTS)
def test_places(value: Any, place: Any) -> None:
    same([lambda whole: whole[place]], value)


METHODS = {
    kind: sorted(name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name)))
    for kind in (str, int, float, list, dict)
}


@many_examples(150, deadline=None, database=None, derandomize=True)
@given(
    data=st.data(),
    value=TEXTS | WHOLE | REAL | st.lists(SCALARS, max_size=4) | st.dictionaries(TEXTS, SCALARS),
)
def test_methods(data: st.DataObject, value: Any) -> None:
    name = data.draw(st.sampled_from(METHODS[type(value)]))
    arguments = data.draw(st.lists(SCALARS | st.lists(SCALARS, max_size=2), max_size=3))
    same([lambda whole, *rest: getattr(whole, name)(*rest)], value, *arguments[:2])


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(value=VALUES, other=VALUES)
def test_they_are_found_where_plain_ones_are(value: Any, other: Any) -> None:
    def look(one: Any, another: Any) -> Any:
        return {one: 1}[another], another in {one}, [one].index(another), (another,).count(one)

    same([look], value, other)
    same([look], value, value)


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(value=VALUES)
def test_plain_takes_off_every_mark(value: Any) -> None:
    with observe() as marks:
        bare = plain((marks.mark(value), [marks.mark(value)], {"a": marks.mark(value)}))
    assert bare == (value, [value], {"a": value})
    assert types_in(bare) == types_in((value, [value], {"a": value}))


def types_in(value: Any) -> Any:
    if isinstance(value, dict):
        return type(value), [(type(key), types_in(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [types_in(item) for item in value]
    return type(value)


def test_plain_leaves_alone_what_has_no_marks() -> None:
    value: list[Any] = [1, "a", {"b": (2, {3})}]
    value.append(value)
    assert plain(value) is value


def test_what_contains_itself_can_be_made_plain() -> None:
    with observe() as marks:
        value: list[Any] = [marks.mark("a")]
        value += [value, value]
    assert type(plain(value)[0]) is str
