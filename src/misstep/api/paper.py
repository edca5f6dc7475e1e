"""The experiments of the PDoctor paper as presets, for any agents."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from misstep.api.breakdown import break_down
from misstep.api.capability import measure_capability
from misstep.api.cases import suite_of
from misstep.api.conduct import Work, begin, lasting
from misstep.api.dissection import dissect
from misstep.core.campaign import FixedSuite
from misstep.core.case import Case
from misstep.core.diagnosis import Dissection
from misstep.core.event import Listener
from misstep.core.replication import Effectiveness, Question, Replication
from misstep.core.settings import Settings, check_settings
from misstep.planning.synthesis.suite import make_case
from misstep.store.runs import Store

MINUTES = 60.0
LIKELY = 1000  # cases within the time, for an estimate


def replicate(question: Question, several: Sequence[Settings], *listeners: Listener) -> Replication:
    """Carry out an experiment with each of several agents, one after the other."""
    if question == "rq1":
        return Replication(question, tuple(_detect(settings, listeners) for settings in several))
    measured = tuple(measure_capability(settings, *listeners) for settings in several)
    dissected = tuple(
        dissect(settings, curve.run, (), *listeners)
        for settings, curve in zip(several, measured, strict=True)
    )
    by_topic = tuple(
        break_down(settings, curve.run, "topic") for settings, curve in zip(several, measured, strict=True)
    )
    topics = _blamed_topics(several, dissected)
    return Replication(question, (), measured, dissected, topics, by_topic)


def _detect(settings: Settings, listeners: Sequence[Listener]) -> Effectiveness:
    """Test an agent for a given time."""
    settings = lasting(check_settings(settings))
    suite, clock = suite_of(settings), _Stopwatch()
    limit = settings.budget_time or MINUTES * 60

    def cases() -> Iterator[Case]:
        return clock.watch(make_case(suite, index) for index in count())

    def campaign(_: object) -> FixedSuite:
        return FixedSuite(_until(time.monotonic() + limit, cases()))

    # The time ends the run in good order, so that it is not to be a budget that cuts it short.
    timeless = settings.overlay({"budget_time": None})
    began = time.monotonic()
    summary = begin(timeless, Work(campaign, cases, most=LIKELY), listeners, None)
    return Effectiveness(summary, round(clock.seconds, 3), round(time.monotonic() - began, 3))


def _until(end: float, cases: Iterable[Case]) -> Iterator[Case]:
    for case in cases:
        if time.monotonic() >= end:
            return
        yield case


class _Stopwatch:
    """Adds up how long it takes to make what passes by."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def watch(self, cases: Iterator[Case]) -> Iterator[Case]:
        while True:
            began = time.perf_counter()
            case = next(cases, None)
            self.seconds += time.perf_counter() - began
            if case is None:
                return
            yield case


def _blamed_topics(several: Sequence[Settings], dissected: Sequence[Dissection]) -> dict[str, int]:
    """The topics of the failures whose cause is the topic, the most frequent first."""
    found = Counter[str]()
    for settings, dissection in zip(several, dissected, strict=True):
        with Store(settings.store) as store:
            for failure in dissection.failures:
                if failure.cause == "topic":
                    found[store.find_outcome(dissection.of, failure.case).case.topic] += 1
    return dict(found.most_common())
