"""Settling a defect: what is told of it shows it from a fresh start, and time and stops are heeded."""

import math
import time
from collections.abc import Callable
from typing import Any

from misstep.core.tool import Invocation, Probe
from misstep.fuzzing.triage.confirmation import Settled, make_small, settle
from misstep.fuzzing.triage.defect_index import Defect, DefectIndex
from tests.fuzzing.triage.bench import Bench, invoke, schema
from tests.fuzzing.triage.test_shrinking import BOXES, eleven_calls

STRING = {"type": "string"}


class Slow(Bench):
    """Like a server, which has to be started again for a fresh start."""

    starts_quickly = False


def long_name(state: Any, name: str) -> str:
    return name if len(name) < 20 else str([][0])


def leaves_traces(state: dict[str, Any], text: str) -> str:
    """Fails for a long text, and from then on for any."""
    if len(text) > 10:
        state["broken"] = True
    return str([][0]) if state.get("broken") else "fine"


def entry_of(bench: Bench, call: Invocation) -> Defect:
    book = DefectIndex()
    (reaction,) = bench.run([Probe(call)])
    book.add([call], bench.judge([call], [reaction]), 1)
    bench.reset()
    bench.resets = 0
    return next(iter(book))


def never() -> bool:
    return False


def settled_small(
    entry: Defect, bench: Bench, stopped: Callable[[], bool] = never, until: float = math.inf
) -> Settled:
    confirmed = settle(entry, bench, bench.judge, stopped, until)
    return make_small(entry, confirmed, bench, bench.judge, stopped, until)


def test_where_starting_is_dear_there_are_few_fresh_starts() -> None:
    call = invoke("long_name", name="A long name, longer than anybody has it")
    quick, slow = (kind((long_name, schema(["name"], name=STRING))) for kind in (Bench, Slow))
    settled = [settled_small(entry_of(bench, call), bench) for bench in (quick, slow)]
    assert [each.calls for each in settled] == [(invoke("long_name", name="a" * 20),)] * 2
    assert [(each.replayed, each.reproduced) for each in settled] == [(3, 3), (2, 2)]
    assert slow.resets == 3  # two to confirm, one for what came of it
    assert quick.resets > 10


def test_what_only_shows_in_a_used_server_is_not_told() -> None:
    bench = Slow((leaves_traces, schema(["text"], text=STRING)))
    call = invoke("leaves_traces", text="abcdefghijklmnop")
    settled = settled_small(entry_of(bench, call), bench)
    assert settled.calls == (call,)
    assert settled.reproduced == 2


def test_without_time_nothing_is_said_to_have_been_replayed() -> None:
    bench = Bench((long_name, schema(["name"], name=STRING)))
    entry = entry_of(bench, invoke("long_name", name="x" * 30))
    settled = settled_small(entry, bench, until=time.monotonic())
    assert (settled.calls, settled.replayed, settled.reproduced, settled.spent) == (entry.calls, 0, 0, 0)


def test_a_stop_is_heeded_between_two_replays() -> None:
    bench = Slow((long_name, schema(["name"], name=STRING)))
    entry = entry_of(bench, invoke("long_name", name="x" * 30))
    made = bench.calls
    settled = settled_small(entry, bench, lambda: bench.calls >= made + 4)
    assert settled.spent == bench.calls - made == 4
    assert settled.calls == entry.calls  # no smaller ones were seen from a fresh start


def test_a_server_shows_the_small_calls_with_the_ids_of_a_fresh_start() -> None:
    bench = Slow(*BOXES)
    calls = eleven_calls()
    book = DefectIndex()
    for number, (call, reaction) in enumerate(
        zip(calls, bench.run([Probe(each) for each in calls]), strict=True)
    ):
        book.add(calls[: number + 1], bench.judge([call], [reaction]), number)
    entry = next(iter(book))
    settled = settled_small(entry, bench)
    assert [call.tool for call in settled.calls] == ["open_box", "fill", "weigh"]
    assert bench.last_of(settled.calls).signature == entry.judged.signature
