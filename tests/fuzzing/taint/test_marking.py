"""What can be marked, and how everything is put back."""

import collections
import json
import marshal
import os.path
import pathlib
import re
import sys
import threading
import urllib.parse
import uuid
from dataclasses import dataclass
from typing import Any

import msgspec
import pydantic
import pytest

from misstep.fuzzing.taint import observe, plain

WORD = re.compile("a+")
borrowed = json.loads
WATCHED = [
    (json, "loads"),
    (json.JSONDecoder, "decode"),
    (re, "match"),
    (re, "compile"),
    (os.path, "join"),
    (urllib.parse, "urlsplit"),
    (uuid.UUID, "__init__"),
    (pathlib.Path, "__new__"),
    (pathlib.PurePath, "__new__"),
    (__import__("builtins"), "open"),
    (sys, "intern"),
    (sys.modules[__name__], "WORD"),
    (sys.modules[__name__], "borrowed"),
]


def watched() -> list[Any]:
    return [vars(owner)[name] for owner, name in WATCHED]


def test_library_functions_are_put_back() -> None:
    before = watched()
    with observe():
        assert not any(one is other for one, other in zip(before, watched(), strict=True))
    assert all(one is other for one, other in zip(before, watched(), strict=True))


def test_library_functions_are_put_back_after_an_error() -> None:
    before = watched()
    with pytest.raises(KeyError), observe():
        raise KeyError
    assert all(one is other for one, other in zip(before, watched(), strict=True))


def test_what_the_tool_has_put_there_itself_stays() -> None:
    namespace: dict[str, Any] = {"loads": json.loads}
    with observe([namespace]):
        assert namespace["loads"].__wrapped__
        namespace["loads"] = len
    assert namespace["loads"] is len


def test_names_in_other_places_can_be_watched() -> None:
    namespace: dict[str, Any] = {"loads": json.loads}
    exec("def tool(text): return loads(text)['a']", namespace)
    with observe([namespace]) as marks:
        namespace["tool"](marks.mark('{"a": 1}'))
    assert [one.operation for one in marks.observations] == ["json", "has key"]


def test_calls_that_overlap_are_watched_until_the_last_has_ended() -> None:
    before = watched()
    inner_ends, outer_has_ended = threading.Event(), threading.Event()
    told: list[str] = []

    def work() -> None:
        with observe() as marks:
            inner_ends.set()
            outer_has_ended.wait(10)
            json.loads(marks.mark("[]"))
        told.extend(one.operation for one in marks.observations)

    with observe():
        thread = threading.Thread(target=work)
        thread.start()
        inner_ends.wait(10)
    outer_has_ended.set()
    thread.join(10)
    assert told == ["json"]
    assert all(one is other for one, other in zip(before, watched(), strict=True))


def test_threads_of_the_tool_may_outlive_the_call() -> None:
    go_on = threading.Event()
    results: list[Any] = []

    def work(text: str) -> None:
        go_on.wait(10)
        results.append(json.loads(text)["a"])

    with observe() as marks:
        thread = threading.Thread(target=work, args=(marks.mark('{"a": 1}'),))
        thread.start()
    go_on.set()
    thread.join(10)
    assert results == [1]
    assert marks.observations == ()


def test_patterns_pass_for_patterns() -> None:
    with observe() as marks:
        found = WORD.match(marks.mark("aab"))
        assert isinstance(WORD, re.Pattern)
        assert isinstance(found, re.Match)
        assert (found.span(), found.string, found[0], found.re) == ((0, 2), "aab", "aa", WORD)
        assert re.compile("a+") == WORD
        assert {WORD: 1}[re.compile("a+")] == 1
        assert re.sub(WORD, lambda match: match.group().upper(), marks.mark("ab")) == "Ab"
        kept = re.compile("b(c)")
    assert kept.match("bc").group(1) == "c"  # type: ignore[union-attr]


@dataclass(frozen=True)
class Point:
    x: int
    names: list[str]


@dataclass(slots=True)
class Slotted:
    x: int


class Model(pydantic.BaseModel, frozen=True):
    name: str
    inner: dict[str, int] = {}
    point: Point | None = None


def test_fields_of_objects_are_marked_in_place() -> None:
    point, slotted, model = Point(1, ["a"]), Slotted(2), Model(name="b", inner={"c": 3}, point=Point(4, []))
    with observe() as marks:
        given = (
            marks.mark({"point": "x"}),
            marks.mark(point, ("p",)),
            marks.mark(slotted, ("s",)),
            marks.mark(model, ("m",)),
        )
        assert given[1:] == (point, slotted, model)
        assert (point.x > 5, point.names[0] == "z", slotted.x > 6) == (False, False, False)
        assert (model.name == "z", model.inner["c"] > 7, model.point and model.point.x > 8) == (
            False,
            False,
            False,
        )
    places = {one.path for one in marks.observations if one.operation in ("==", ">")}
    assert places == {
        ("p", "x"),
        ("p", "names", 0),
        ("s", "x"),
        ("m", "name"),
        ("m", "inner", "c"),
        ("m", "point", "x"),
    }


def test_other_things_stay_what_they_are() -> None:
    things = [None, True, b"a", {1}, (2,), object()]
    with observe() as marks:
        assert all(marks.mark(thing) is thing for thing in things)


def test_code_that_finds_the_type_can_make_plain_values_with_it() -> None:
    with observe() as marks:
        made = [type(marks.mark(value))(value) for value in ("a", 1, 1.5, [1], {"a": 1})]
    assert [type(value) for value in made] == [str, int, float, list, dict]


def test_functions_that_want_the_very_type_get_it() -> None:
    given: dict[str, Any] = {"text": "a b", "number": 1}
    with observe() as marks:
        marked = marks.arguments(given)
        assert collections.namedtuple("Pair", marked["text"])._fields == ("a", "b")
        assert marshal.loads(marshal.dumps(marked)) == given
        assert msgspec.json.decode(msgspec.json.encode(marked)) == given
        assert sys.intern(str(marked["text"])) == "a b"


def test_a_result_is_made_plain() -> None:
    with observe() as marks:
        result = {"parts": marks.mark("a,b").split(","), "size": marks.mark(3) + 1}
    assert [type(part) for part in plain(result)["parts"]] == [str, str]
    assert type(plain(result)["size"]) is int
