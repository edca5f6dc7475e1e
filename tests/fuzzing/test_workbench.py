"""What is asked for does not depend on how fast it is carried out."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Probe, Reaction
from misstep.fuzzing.search.corpus import CallSequence
from misstep.fuzzing.search.fuzzer import Fuzzer
from misstep.fuzzing.workbench import Stretch, calls_in_flight

TOOL = Described(
    Tool("echo", "Say it again.", {"type": "object", "properties": {"text": {"type": "string"}}}), "function"
)


AHEAD = calls_in_flight(starts_quickly=True)


class Bench:
    """Takes as many calls ahead as it may, and answers so many at a time."""

    starts_quickly = True
    files = ()

    def __init__(self, at_a_time: int) -> None:
        self._at_a_time = at_a_time
        self.made = list[Invocation]()

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        source, under_way = iter(probes), deque[Probe]()
        while True:
            if len(under_way) <= AHEAD:
                under_way += islice(source, AHEAD)
            if not under_way:
                return
            for _ in range(min(self._at_a_time, len(under_way))):
                call = under_way.popleft().invocation
                self.made.append(call)
                text = str(json.loads(call.arguments).get("text"))
                yield Reaction("returned", text=text, edges=(len(text) % 7, len(text) // 10))


@cache
def calls_of(at_a_time: int, stretches: int) -> list[Invocation]:
    bench, fuzzer = Bench(at_a_time), Fuzzer([TOOL], 3)

    def take(attempt: CallSequence, reactions: Sequence[Reaction]) -> Sequence[Judged]:
        return [Judged("fine") for _ in reactions]

    for _ in range(stretches):
        Stretch(fuzzer, bench, take).run(1024, lambda: False)
    return bench.made


@pytest.mark.full
@pytest.mark.parametrize("at_a_time", [1, 7, AHEAD, 3 * AHEAD])
def test_the_same_calls_are_made_however_they_are_carried_out(at_a_time: int) -> None:
    expected = calls_of(2, 40)
    assert len(expected) > 1500
    assert calls_of(at_a_time, 40) == expected


def test_no_more_calls_are_made_than_allowed() -> None:
    bench, fuzzer = Bench(5), Fuzzer([TOOL], 0)
    made = [
        Stretch(fuzzer, bench, lambda _, reactions: [Judged("fine") for _ in reactions]).run(3, lambda: False)
        for _ in range(20)
    ]
    assert max(made) <= 3


def test_it_ends_when_it_is_over() -> None:
    bench, fuzzer = Bench(5), Fuzzer([TOOL], 0)
    stretch = Stretch(fuzzer, bench, lambda _, reactions: [Judged("fine") for _ in reactions])
    assert stretch.run(1024, lambda: True) == 1
