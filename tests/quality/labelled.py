"""Failures whose causes are known: simulated planners with planted faults, and cases on which they failed."""

import asyncio
from collections.abc import Iterator, Mapping

import msgspec

from misstep.core.agent import Assignment
from misstep.core.campaign import Inquiry
from misstep.core.case import Case
from misstep.core.diagnosis import Cause, Diagnosis
from misstep.core.dice import derive_seed
from misstep.core.outcome import Outcome
from misstep.core.transcript import Transcript
from misstep.planning.judging.explanation import check
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import Suite, make_case
from tests.engine.conftest import record


class Planted(msgspec.Struct, frozen=True):
    """A planner with one fault; `guilty` is how the element at fault is called, if there is one."""

    kind: str
    options: Mapping[str, str]
    cause: Cause
    guilty: str = ""

    @property
    def strength(self) -> float:
        return float(self.options.get("strength") or self.options.get("rate") or 1)

    @property
    def topics(self) -> tuple[str, ...]:
        return (self.options["topic"],) if "topic" in self.options else ()


class Labelled(msgspec.Struct, frozen=True):
    """A case on which a planner failed, by its own chance."""

    planted: Planted
    case: Case


STRENGTHS = ("1", "0.8", "0.5")
PHRASES = ("prior to", "precedes", "has to come after", "later than")
FORMS = ("verb", "fronted preposition", "conjunction", "relative verb")
TOPICS = ("baker", "florist")
SHAPES = ("chain", "join", "fork")
RATES = ("0.2", "0.4", "0.6", "0.8")


def planters() -> Iterator[Planted]:
    """A fault of every kind, at every strength."""
    for strength in STRENGTHS:
        for phrase in PHRASES:
            yield Planted("terminal", {"phrase": phrase, "strength": strength}, "terminal", phrase)
        for topic in TOPICS:
            yield Planted("topic", {"topic": topic, "strength": strength}, "topic", topic)
        for form in FORMS:
            yield Planted("structure", {"form": form, "strength": strength}, "structure", form)
        for shape in SHAPES:
            yield Planted("constraint", {"shape": shape, "strength": strength}, "constraint", shape)
    for rate in RATES:
        yield Planted("probability", {"rate": rate}, "probability")
    yield Planted("greedy", {}, "structure", "reading order")
    yield Planted("idle", {}, "constraint")


def failures(planted: Planted, count: int, seed: int) -> Iterator[Labelled]:
    """The first cases of a suite, three to six actions each, on which the planner fails."""
    suite = Suite(derive_seed(seed, str(planted)), 3, 6, topics=planted.topics)
    found = index = 0
    while found < count:
        case = make_case(suite, index)
        index += 1
        if run(planted, case).verdict.verdict == "failed":
            found += 1
            yield Labelled(planted, case)


def run(planted: Planted, case: Case) -> Outcome:
    """Let the planner try a case; its chance comes from the seed of the case."""
    world = record(case)
    agent = simulated_agent(planted.kind, planted.options)
    asyncio.run(agent.run(Assignment(case.query, case.seed), world))
    transcript = Transcript(case.id, world.calls)
    return Outcome(case, transcript, check(case, transcript))


def settle(inquiry: Inquiry[Diagnosis], planted: Planted) -> Diagnosis:
    """Hold an inquiry to its end, with the planner on every case it asks for."""
    cases = next(inquiry)
    while True:
        try:
            cases = inquiry.send([run(planted, case) for case in cases])
        except StopIteration as end:
            assert isinstance(end.value, Diagnosis)
            return end.value
