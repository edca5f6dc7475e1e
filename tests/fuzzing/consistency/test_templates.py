"""Requests out of templates: as many as wanted, all different, every word used evenly."""

from collections import Counter
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.fuzzing.consistency.making import fill_template, placeholders_in

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(0, 40))
def test_requests_are_different_and_infills_used_evenly(sizes: list[int], count: int) -> None:
    names = [f"word {at}" for at in range(len(sizes))]
    infills = {
        name: tuple(f"{name}={value}" for value in range(size))
        for name, size in zip(names, sizes, strict=True)
    }
    template = " and ".join(f"[{name}]" for name in names)
    requests = fill_template(template, infills, count)
    assert len(set(requests)) == len(requests) == min(count, prod(sizes))
    for name in names:
        used = Counter(value for request in requests for value in infills[name] if value in request)
        often = [used[value] for value in infills[name]]
        assert max(often) - min(often) <= 1
    assert fill_template(template, infills, count) == requests


def test_a_set_as_it_reads() -> None:
    infills = {"start": ("Paris", "Paris, France"), "end": ("Lyon", "Lyon FR", "City of Lyon")}
    assert fill_template("How far is it from [start] to [ end ]?", infills, 4) == (
        "How far is it from Paris to Lyon?",
        "How far is it from Paris, France to Lyon FR?",
        "How far is it from Paris to City of Lyon?",
        "How far is it from Paris, France to Lyon?",
    )


def test_what_is_filled_in_is_not_looked_into() -> None:
    infills = {"a": ("[b]", "[a]"), "b": ("x", "y")}
    assert fill_template("[a] [b]", infills, 2) == ("[b] x", "[a] y")


def test_different_words_can_come_to_the_same_request() -> None:
    infills = {"a": ("x", "x y"), "b": ("y z", "z")}
    requests = fill_template("[a] [b]", infills, 4)
    assert requests == ("x y z", "x z", "x y y z")


def test_placeholders_in_their_order() -> None:
    assert placeholders_in("From [ start ] to [end], [] and [start]") == ("start", "end", "", "start")
