"""Confirming: which calls it takes from a fresh start, and how surely they show it."""

from typing import Any

from misstep.core.tool import Invocation, Probe
from misstep.fuzzing.triage.confirmation import confirm
from misstep.fuzzing.triage.defect_index import Defect, DefectIndex
from tests.fuzzing.triage.bench import Bench, Planted, invoke, schema


def put(state: dict[str, Any], key: str) -> str:
    state[key] = 1
    return "put"


def get(state: dict[str, Any], key: str) -> int:
    value: int = state[key]
    return 1 // (1 - value)


def look(state: dict[str, Any]) -> str:
    return "looked"


TOOLS = [
    (put, schema(["key"], key={"type": "string"})),
    (get, schema(["key"], key={"type": "string"})),
    (look, schema()),
]


def entry_of(bench: Bench, calls: list[Invocation]) -> Defect:
    """The defect that the last of so many separate calls shows."""
    book = DefectIndex()
    for number, call in enumerate(calls, 1):
        (reaction,) = bench.run([Probe(call)])
        book.add([call], bench.judge([call], [reaction]), number)
    return list(book)[-1]


def test_a_call_that_fails_alone_is_confirmed_alone() -> None:
    bench = Bench(*TOOLS)
    entry = entry_of(bench, [invoke("look"), invoke("get", key="x")])
    confirmed = confirm(entry, bench, bench.judge)
    assert confirmed.calls == (invoke("get", key="x"),)
    assert (confirmed.replayed, confirmed.reproduced, confirmed.spent) == (3, 3, 3)


def test_calls_that_prepared_it_are_found_in_the_history() -> None:
    bench = Bench(*TOOLS)
    history = [invoke("put", key="k"), *[invoke("look")] * 9]
    entry = entry_of(bench, [*history, invoke("get", key="k")])
    confirmed = confirm(entry, bench, bench.judge)
    assert confirmed.calls == (*history, invoke("get", key="k"))
    assert confirmed.reproduced == 3
    assert bench.last_of(confirmed.calls).signature == entry.judged.signature


def test_where_the_smallest_calls_fail_the_first_are_tried() -> None:
    bench = Bench(*TOOLS)
    original = (invoke("put", key="kkk"), invoke("get", key="kkk"))
    judged = bench.last_of(original)
    book = DefectIndex()
    book.add(original, judged, 2)
    book.begin_anew()
    book.add((invoke("get", key="k"),), judged, 3)  # the state that this needed is forgotten
    confirmed = confirm(next(iter(book)), bench, bench.judge)
    assert (confirmed.calls, confirmed.reproduced) == (original, 3)


def test_what_never_shows_again_is_kept_and_says_so() -> None:
    bench = Bench((sometimes(fail_at={1}), schema()))
    entry = entry_of(bench, [invoke("moody")])
    confirmed = confirm(entry, bench, bench.judge)
    assert (confirmed.calls, confirmed.reproduced) == ((invoke("moody"),), 0)
    assert confirmed.replayed == 3


def test_what_shows_now_and_then_is_counted() -> None:
    bench = Bench((sometimes(fail_at={1, 2, 4}), schema()))
    confirmed = confirm(entry_of(bench, [invoke("moody")]), bench, bench.judge)
    assert (confirmed.replayed, confirmed.reproduced) == (3, 2)


def test_no_more_calls_are_made_than_allowed() -> None:
    bench = Bench(*TOOLS)
    entry = entry_of(bench, [invoke("put", key="k"), *[invoke("look")] * 60, invoke("get", key="k")])
    before = bench.calls
    confirmed = confirm(entry, bench, bench.judge, most=20)
    assert bench.calls - before == confirmed.spent <= 20
    assert confirmed.reproduced == 0


def sometimes(fail_at: set[int]) -> Planted:
    """A tool that fails at some of its calls, whatever state it starts from."""
    made = 0

    def moody(state: Any) -> str:
        nonlocal made
        made += 1
        if made in fail_at:
            return str([][made])
        return "well"

    return moody


def test_where_too_much_is_forgotten_the_history_of_the_first_is_tried() -> None:
    bench, book = Bench(*TOOLS), DefectIndex(history=4)
    calls = [invoke("put", key="kk"), invoke("put", key="k"), invoke("get", key="kk"), *[invoke("look")] * 6]
    for number, call in enumerate([*calls, invoke("get", key="k")], 1):
        (reaction,) = bench.run([Probe(call)])
        book.add([call], bench.judge([call], [reaction]), number)
    (entry,) = book
    assert entry.calls == (invoke("get", key="k"),)
    confirmed = confirm(entry, bench, bench.judge)
    assert (confirmed.calls, confirmed.reproduced) == (tuple(calls[:3]), 3)
